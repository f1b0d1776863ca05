"""xacro files, macros that make URDF or SRDF, expanded by the package xacro.

xacro is a language: its expressions are evaluated by Python, without its built-in functions but not in a sandbox, and a
file may include others from anywhere on this disk and read environment variables. So a file is only expanded if it is
asked for, by `xacro=True` or arguments, and only files that are trusted should be. It is expanded in a process of its
own, whose time and memory are limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from kinetree.errors import MissingPackageError, ModelError, OptionError
from kinetree.io.document import MAX_BYTES, read_bytes, shown
from kinetree.own_process import OwnProcessError, called_apart
from kinetree.problems import problem

__all__ = ["contents", "expand", "readable", "xacro_arguments"]

_SECONDS = 60
_MEMORY = 2**30
"""Bytes that an expansion may take."""
_MOST_SAID = 10_000
"""Characters that are kept of xacro's output and error messages."""


def xacro_arguments(arguments: object, is_asked: bool = False) -> dict[str, str] | None:
    """The arguments as text; None if nobody asked for an expansion. Raises `OptionError` if they are not by name."""
    if arguments is None:
        return {} if is_asked else None
    if not isinstance(arguments, Mapping) or not all(isinstance(name, str) for name in arguments):
        raise OptionError(f'xacro_args must be values by name, such as {{"prefix": "left_"}}, not {arguments!r:.60}')
    for name, value in arguments.items():
        if not isinstance(value, str | bool | int | float):
            raise OptionError(f"xacro_args: {name!r} must be a string, a number, True or False, not {value!r:.60}")
    # xacro knows the words true and false.
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in arguments.items()}


def contents(path: Path, arguments: Mapping[str, str] | None) -> bytes:
    """The contents of a file; with arguments, even none, those of the file that it makes as a xacro file.

    Raises `ModelError` for a file whose name ends with .xacro if nobody asked for its expansion.
    """
    if arguments is not None:
        return _expanded(path, arguments)
    data = read_bytes(path)
    if path.suffix.lower() == ".xacro":
        sentence = (
            "this is a xacro file, a program that can run any code in your name when it is expanded; if you trust it "
            "and the files that it includes, load it with xacro=True, or --xacro on the command line"
        )
        error = problem(path, sentence, "unexpanded-macro")
        raise ModelError(str(error), problems=[error])
    return data


def _expanded(path: Path, arguments: Mapping[str, str]) -> bytes:
    """The expansion of a xacro file. Raises `ModelError`, with xacro's own message, for any error in it."""
    if not _is_installed():
        raise MissingPackageError(
            f"{path}: this is a xacro file, which the package xacro expands: pip install 'kinetree[xacro]'"
        )
    read_bytes(path)  # describes the fault if it is not a file
    try:
        failure, text = called_apart(
            f"{__name__}:expand", str(path), dict(arguments), MAX_BYTES, seconds=_SECONDS, memory=_MEMORY,
            most=MAX_BYTES,
        )  # fmt: skip
    except OwnProcessError as error:
        raise _error(path, f"its expansion failed: {error}") from None
    if failure:
        raise _error(path, str(failure)[:_MOST_SAID])
    if len(text) > MAX_BYTES:
        sentence = f"it expands to more than {MAX_BYTES // 2**20} MiB, the limit for a robot file"
        found = problem(path, sentence, "too-large")
        raise ModelError(str(found), problems=[found])
    return text


def expand(path: str, arguments: dict[str, str], most: int) -> tuple[str, bytes]:
    """The error message, or ""; and the text that a xacro file makes, cut off after `most` bytes and one.

    It is called apart.
    """
    import xacro

    printed = StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            text = xacro.process_file(path, mappings=arguments).toprettyxml(indent="  ", encoding="utf-8")
    except RecursionError:
        return "macros are nested too deep; does one use itself?", b""
    except Exception as error:  # whatever an expression raises
        files, macros, cause = xacro.filestack or [], xacro.macrostack or [], getattr(error, "exc", None) or error
        if isinstance(cause, MemoryError):
            raise cause from None
        names = [macro.body.getAttribute("name") for macro in macros]
        place = _place(path, files[-1] if files else None, names)
        return f"{place}{_message(error, cause)}{_printed(printed.getvalue()[:_MOST_SAID])}", b""
    return "", text[: most + 1]


def _is_installed() -> bool:
    try:
        return find_spec("xacro") is not None
    except ValueError:
        return False


@contextmanager
def readable(path: Path, arguments: Mapping[str, str] | None) -> Iterator[Path]:
    """The file that other libraries can read: for a xacro file, its expansion, while the context lasts."""
    if arguments is None:
        contents(path, None)
        yield path
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="kinetree-") as folder:
        file = Path(folder) / path.name
        file.write_bytes(contents(path, arguments))
        yield file


def _error(path: Path, message: str) -> ModelError:
    error = problem(path, f"xacro: {message}", "bad-macro")
    return ModelError(str(error), problems=[error])


def _message(error: Exception, cause: Exception) -> str:
    """The error in one line."""
    if isinstance(cause, OSError) and cause.filename:  # xacro says this twice
        return f"the file {shown(str(cause.filename), 200)!r} cannot be read: {cause.strerror}"
    message = " ".join(str(error)[:_MOST_SAID].split())
    return shown(message, 400) if message else type(error).__name__


def _place(path: str, inner: str | None, macros: Sequence[str]) -> str:
    """The included file and the macros in which the error is; nothing about the file itself, which is named already."""
    parts = [] if inner is None or Path(inner) == Path(path) else [f"in the included file {shown(inner, 200)!r}: "]
    return "".join([*parts, *(f"in the macro {shown(name)!r}: " for name in dict.fromkeys(reversed(macros)))])


def _printed(output: str) -> str:
    """The messages that xacro printed, in one line, without the places that it lists."""
    lines = (" ".join(line.split()) for line in output.splitlines())
    messages = "; ".join(line for line in lines if line and not line.startswith(_PLACES))
    return f" ({shown(messages, 300)})" if messages else ""


_PLACES = ("when instantiating macro:", "instantiated from:", "in file:", "when processing file:", "included from:")
