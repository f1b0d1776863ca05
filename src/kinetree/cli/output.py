"""Output of the commands: consoles, warnings as readable lines, and streams that are closed, full or unread.

All of it passes through `visible`, since names, sentences and paths may come from files: through a hook of the
consoles, `complain` for errors, and `print_json`.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook
from rich.segment import Segment

from kinetree.errors import ModelWarning, visible
from kinetree.files import reason

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "complain", "error_console", "let_go_of_broken_streams", "needs_a_command", "new_table", "open_missing_streams",
    "output_console", "print_json", "print_lines", "print_note", "print_warning", "warnings_as_lines",
]  # fmt: skip


_WIDE = 200


def needs_a_command(context: typer.Context) -> None:
    """If a group is called without a command, print its help and exit with the code for wrong usage.

    With the option `no_args_is_help` the exit code would depend on the version of the command-line library.
    """
    if context.invoked_subcommand is None:
        if text := context.get_help():  # a rich help text has been printed already
            typer.echo(text)
        raise typer.Exit(2)


class _Shown:
    """Something printed, with its control characters written out, except those that Rich adds for colours."""

    def __init__(self, printed: RenderableType) -> None:
        self._printed = printed

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._printed, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


class _Showing(RenderHook):
    """Makes all that a console prints visible."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Shown(renderable) for renderable in renderables]


class _Console(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        try:
            super().print(*objects, **options)
        except BrokenPipeError:
            raise
        except OSError as error:
            if sys.platform == "win32" and error.errno == errno.EINVAL:  # as its C library reports it
                raise BrokenPipeError from error
            raise OSError(error.errno, f"standard output cannot be written: {reason(error)}") from error

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


class _ErrorConsole(Console):
    """Output other than the results; if it cannot be written, the work goes on."""

    def print(self, *objects: Any, **options: Any) -> None:
        try:
            super().print(*objects, **options)
        except OSError:
            _divert(sys.stderr)

    def on_broken_pipe(self) -> None:
        _divert(sys.stderr)


def output_console() -> Console:
    """Standard output; unless a terminal sets the width, tables may be as wide as they need."""
    return _showing(_Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE))


def error_console() -> Console:
    """Standard error."""
    return _showing(_ErrorConsole(stderr=True, highlight=False))


def _showing(console: Console) -> Console:
    console.push_render_hook(_Showing())
    return console


def print_lines(*parts: str | Text | Table) -> None:
    """Print texts and tables on standard output, each on lines of its own, without markup and whole however long."""
    console = output_console()
    for part in parts:
        console.print(part, markup=False, soft_wrap=True)


def new_table(title: str, headings: Sequence[str], left: Collection[str] = ()) -> Table:
    """A table without rows; the first column is aligned to the left, and so are those named in `left`."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for k, heading in enumerate(headings):
        table.add_column(Text(heading), justify="left" if not k or heading in left else "right", overflow="fold")
    return table


def print_note(text: str) -> None:
    """Print a line about an action, on standard error."""
    error_console().print(f"note: {text}", markup=False, soft_wrap=True)


def print_warning(text: str) -> None:
    """Print a yellow line on standard error."""
    error_console().print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)


def print_json(content: object) -> None:
    """Print JSON on standard output; characters that are not printable are written as numbers."""
    text = json.dumps(_as_json(content), indent=2, ensure_ascii=False, allow_nan=False)
    typer.echo(re.sub(r"[^\n]", lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text))


def _as_json(x: Any) -> Any:
    """Arrays become lists, records objects, paths text, and numbers that are not finite null."""
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    if isinstance(x, Mapping):
        return {str(name): _as_json(one) for name, one in x.items()}
    if is_dataclass(x):
        return {one.name: _as_json(getattr(x, one.name)) for one in fields(x)}
    if hasattr(x, "tolist"):
        return _as_json(x.tolist())
    return [*map(_as_json, x)] if isinstance(x, list | tuple) else x if isinstance(x, int | None) else str(x)


def complain(text: str) -> None:
    """Print a line on standard error, if it can be written."""
    try:
        typer.echo(visible(text), err=True)
    except OSError:
        _divert(sys.stderr)


def open_missing_streams() -> None:
    """Redirect a stream that was closed before the process began (`>&-`) to nowhere.

    Otherwise the next file opened would get the stream's number, and with it everything printed to that number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def let_go_of_broken_streams() -> None:
    """Drop text that standard output and error do not accept: the interpreter would retry on exit, and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _divert(stream)


def _divert(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


@contextmanager
def warnings_as_lines(is_shown: Callable[[str], bool] = lambda _: False) -> Iterator[None]:
    """Print the `ModelWarning`s raised inside as yellow lines, once each; other warnings pass unchanged.

    Those for which `is_shown` is true at the end are printed elsewhere.
    """
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModelWarning)
            yield
    finally:
        for message in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, ModelWarning)):
            if not is_shown(message):
                print_warning(message)
        for w in caught:
            if not issubclass(w.category, ModelWarning):
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno, source=w.source)
