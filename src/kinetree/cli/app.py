"""The commands together, and what becomes of an error.

Exit codes: 0 done, 1 the robot or its motion cannot be, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from kinetree.cli.bench import bench
from kinetree.cli.cache import cache
from kinetree.cli.info import info
from kinetree.cli.output import needs_a_command
from kinetree.cli.simulate import simulate
from kinetree.errors import KinetreeError

__all__ = ["app", "main"]

app = typer.Typer(
    name="kinetree",
    help="A compiler for articulated-body dynamics: simulate a robot, look into its file, measure this machine.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.command()(simulate)
app.command()(info)
app.command()(bench)
app.add_typer(cache, name="cache")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kinetree {version('kinetree')}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001
) -> None:
    """Acted upon elsewhere: --version by its callback, --debug where errors are reported."""
    needs_a_command(context)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows a question mark
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        code = app(arguments, prog_name="kinetree", standalone_mode=False)
        sys.stdout.flush()  # here, where a broken pipe is still caught
        if code == 130:
            typer.echo("interrupted", err=True)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        # Whoever read the output has seen enough. The interpreter must not try to flush it again on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        return _report(error, "--debug" in arguments)


def _report(error: Exception, debug: bool) -> int:
    """Print an error for people and return the exit code."""
    show = getattr(error, "show", None)
    if show is not None:  # a usage error of the command-line library
        show()
        return int(getattr(error, "exit_code", 2))
    if debug:
        traceback.print_exception(error)
    if isinstance(error, KinetreeError):
        typer.echo(f"error: {error}", err=True)
    elif isinstance(error, OSError):
        typer.echo(
            f"error: {error.strerror or error}: {error.filename}" if error.filename else f"error: {error}", err=True
        )
    elif isinstance(error, MemoryError):
        typer.echo("error: out of memory; try a smaller robot, fewer steps or a shorter duration", err=True)
    else:
        typer.echo(
            f"internal error: {type(error).__name__}: {error}. This is a fault of kinetree: please report it together "
            "with the output of the same command with --debug",
            err=True,
        )
    return 1
