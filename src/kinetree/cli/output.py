"""What the commands print with: a console, and warnings as lines for people."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console
from rich.text import Text

from kinetree.errors import ModelWarning

__all__ = ["error_console", "needs_a_command", "output_console", "warnings_as_lines"]


_WIDE = 200


def needs_a_command(context: typer.Context) -> None:
    """Where a group of commands is called without one: its help, and the exit code of a wrong usage.

    The option `no_args_is_help` would leave the exit code to the version of the command-line library.
    """
    if context.invoked_subcommand is None:
        if text := context.get_help():  # printed already, if it is a rich one
            typer.echo(text)
        raise typer.Exit(2)


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def output_console() -> Console:
    """Standard output; where no terminal sets a width, tables may be as wide as they like."""
    return _Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)


def error_console() -> Console:
    """Standard error."""
    return _Console(stderr=True, highlight=False)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print the `ModelWarning`s raised inside, a yellow line each, once each; other warnings pass unchanged."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ModelWarning)
            yield
    finally:
        console = error_console()
        for message in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, ModelWarning)):
            console.print(Text(f"warning: {message}", style="yellow"), soft_wrap=True)
        for w in caught:
            if not issubclass(w.category, ModelWarning):
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno, source=w.source)
