"""xacro files, macros that make URDF or SRDF, expanded by the package xacro.

xacro is a language: its expressions are evaluated by Python, without its built-in functions but not in a sandbox, and a
file may include others from anywhere on this disk and read environment variables. So a file is only expanded if its
name ends with .xacro, or if arguments for it are given, and only files that are trusted should be.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kinetree.errors import MissingPackageError, ModelError, OptionError
from kinetree.io.document import MAX_BYTES, read_bytes, shown
from kinetree.problems import problem

__all__ = ["expanded", "is_xacro", "readable", "xacro_arguments"]

_one_at_a_time = threading.Lock()
"""The package keeps what it works on in its module."""


def is_xacro(path: Path) -> bool:
    """Whether the name of a file says that it is one."""
    return path.suffix.lower() == ".xacro"


def xacro_arguments(given: object) -> dict[str, str] | None:
    """The arguments as text. Raises `OptionError` unless they are values by name."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise OptionError(f'xacro_args must be values by name, such as {{"prefix": "left_"}}, not {given!r:.60}')
    for name, value in given.items():
        if not isinstance(value, str | bool | int | float):
            raise OptionError(f"xacro_args: {name!r} must be a string, a number, True or False, not {value!r:.60}")
    # xacro knows the words true and false.
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}


def expanded(path: Path, arguments: Mapping[str, str]) -> bytes:
    """The contents of the file that a xacro file makes.

    Raises `ModelError`, with xacro's own message, for anything that goes wrong in it.
    """
    try:
        import xacro
    except ImportError:
        raise MissingPackageError(
            f"{path}: this is a xacro file, which the package xacro expands: pip install 'kinetree[xacro]'"
        ) from None
    read_bytes(path)  # says what is wrong if it is no file
    said = io.StringIO()
    try:
        with _one_at_a_time, contextlib.redirect_stderr(said):
            document = xacro.process_file(str(path), mappings=dict(arguments))
        text: bytes = document.toprettyxml(indent="  ", encoding="utf-8")
    except RecursionError:
        raise _error(path, "macros are nested too deep; does one use itself?") from None
    except Exception as error:  # whatever an expression raises
        raise _error(
            path, f"{_place(path, xacro.filestack or [], xacro.macrostack or [])}{_told(error)}{_said(said.getvalue())}"
        ) from None
    if len(text) > MAX_BYTES:
        sentence = f"it expands to more than {MAX_BYTES // 2**20} MiB, the limit for a robot file"
        found = problem(path, sentence, "too-large")
        raise ModelError(str(found), problems=[found])
    return text


@contextmanager
def readable(path: Path, arguments: Mapping[str, str] | None) -> Iterator[Path]:
    """The file that other libraries can read: for a xacro file, one with what it makes, while the context lasts."""
    if arguments is None and not is_xacro(path):
        yield path
        return
    from tempfile import TemporaryDirectory  # most processes need none

    with TemporaryDirectory(prefix="kinetree-") as folder:
        file = Path(folder) / path.name
        file.write_bytes(expanded(path, arguments or {}))
        yield file


def _error(path: Path, message: str) -> ModelError:
    found = problem(path, f"xacro: {message}", "bad-macro")
    return ModelError(str(found), problems=[found])


def _told(error: Exception) -> str:
    """The error in one line."""
    cause = getattr(error, "exc", None)
    if isinstance(cause, OSError) and cause.filename:  # xacro says this twice
        return f"the file {shown(str(cause.filename), 200)!r} cannot be read: {cause.strerror}"
    message = " ".join(str(error).split())
    return shown(message, 400) if message else type(error).__name__


def _place(path: Path, files: Sequence[str | None], macros: Sequence[Any]) -> str:
    """The included file and the macros in which the error is; nothing about the file itself, which is named already."""
    inner = files[-1] if files else None
    parts = [] if inner is None or Path(inner) == path else [f"in the included file {shown(inner, 200)!r}: "]
    names = [shown(macro.body.getAttribute("name")) for macro in macros]
    return "".join([*parts, *(f"in the macro {name!r}: " for name in dict.fromkeys(reversed(names)))])


def _said(said: str) -> str:
    """What xacro printed besides, in one line, without the places that it tells."""
    lines = (" ".join(line.split()) for line in said.splitlines())
    told = "; ".join(line for line in lines if line and not line.startswith(_PLACES))
    return f" ({shown(told, 300)})" if told else ""


_PLACES = ("when instantiating macro:", "instantiated from:", "in file:", "when processing file:", "included from:")
