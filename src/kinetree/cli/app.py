"""All commands together, and how errors end them.

`kinetree docs command_line` has the table of exit codes.
"""

from __future__ import annotations

import atexit
import gc
import io
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

import typer

from kinetree.cli import options
from kinetree.cli.bench import bench
from kinetree.cli.cache import cache
from kinetree.cli.check import check
from kinetree.cli.compare import compare
from kinetree.cli.convert import convert
from kinetree.cli.demo import FIRST, demo
from kinetree.cli.docs import docs
from kinetree.cli.doctor import doctor
from kinetree.cli.export import export
from kinetree.cli.identify import identify
from kinetree.cli.info import info, zoo
from kinetree.cli.interruption import Interruption
from kinetree.cli.learning import play, train
from kinetree.cli.output import complain, let_go_of_broken_streams, open_missing_streams, print_json, print_lines
from kinetree.cli.plot import plot
from kinetree.cli.simulate import simulate
from kinetree.cli.sweep import sweep
from kinetree.cli.view import view
from kinetree.errors import (
    ActuationError,
    ConfigurationError,
    DTypeError,
    KinetreeError,
    NameNotFoundError,
    OptionError,
    ShapeError,
    visible,
)
from kinetree.files import reason

__all__ = ["app", "main"]

_USAGE = OptionError, NameNotFoundError, ActuationError, ConfigurationError, ShapeError, DTypeError
"""Errors about arguments of functions: those that commands pass come from options, or from files that options name."""

_UNREAD = 141
"""Exit code when the reader of the output has closed it."""

_OBJECTS = 50_000
"""New objects between two rounds of Python's cyclic garbage collector. A command imports a thousand modules, which are
never garbage; with the usual 700, the collector takes a tenth of the time until it ends."""

app: typer.Typer = typer.Typer(
    name="kinetree",
    help="A compiler for articulated-body dynamics: simulate and show a robot, look into its file (URDF, MJCF, SDF), "
    "check, convert and compare it, write it as C, study it, measure this machine, find functions and pages.",
    epilog="Exit codes, JSON and completion: `kinetree docs command_line`",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def find(words: options.Words, most: options.Most = 8, as_json: options.Json = False) -> None:
    """Find functions and pages of the documentation by words: `kinetree find mass matrix`, `kinetree find mj_fullM`.

    Words also find longer ones, and names of Pinocchio, MuJoCo, Drake, DART and RBDL. Exit codes: 0 found, 1 nothing.
    """
    from kinetree.guide import find as found
    from kinetree.guide import pages_folder

    folder = pages_folder()
    functions, pages = found(" ".join(words), most)
    if not functions and not pages:
        advice = "the pages are not installed" if folder is None else "try one word, or its beginning"
        complain(f"nothing is about {' '.join(words)!r:.200}; {advice}")
        raise typer.Exit(1)
    if as_json:
        rows = [{"name": answer.here, "task": answer.task} for answer in functions]
        print_json({"functions": rows, "pages": [{"place": x.place, "heading": x.heading} for x in pages]})
        return
    print_lines(*(f"{x.here}  {x.task or x.elsewhere.replace('`', '')}".rstrip() for x in functions))
    if functions and pages:
        print_lines("")
    print_lines(
        *(f"{page.place}  {page.heading}" for page in pages),
        f"\nthe pages are in {folder}; `kinetree docs PAGE` opens one",
    )


_EXAMPLES: dict[str, dict[Callable[..., None], str]] = {
    "Motions": {
        demo: "demo", simulate: "simulate ragdoll --film fall.mp4", view: "view arm7 --floating-base",
        plot: "plot ragdoll.npz --what velocities --joints 'knee*'", sweep: "sweep study.toml --out results",
    },
    "Learning": {train: "train quadruped --out runs/trot", play: "play runs/trot --film trot.mp4"},
    "Robots": {
        info: "info robot.urdf --json", check: "check robot.urdf other.xml --strict", zoo: "zoo",
        compare: "compare robot.urdf --with mujoco,pinocchio", convert: "convert robot.urdf robot.xml",
    },
    "Code and parameters": {
        export: "export arm7 --function rnea --dtype float32 --out code",
        identify: "identify log.csv robot.urdf --cutoff 8 --drives",
    },
    "Help and this machine": {
        find: "find mass matrix", docs: "docs simulation", bench: "bench arm7", doctor: "doctor",
    },
}  # fmt: skip
"""An example per command, by the panels of the help."""
for _panel, _commands in _EXAMPLES.items():
    for _command, _example in _commands.items():
        _kind = options.ContactMayStandAlone if _command is simulate else None
        app.command(cls=_kind, rich_help_panel=_panel, epilog=f"Example: `kinetree {_example}`")(_command)
app.add_typer(cache, name="cache", rich_help_panel="Help and this machine")


@app.callback()
def _options(
    context: typer.Context,
    version: options.Version = False,  # noqa: ARG001
    debug: options.Debug = False,  # noqa: ARG001
) -> None:
    """Print a welcome if there is no command. --version has a callback; --debug matters where errors are reported."""
    if context.invoked_subcommand is None:
        print_lines("kinetree compiles a robot file into fast, exact functions of the robot's motion.", FIRST)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    gc.set_threshold(_OBJECTS)
    atexit.register(gc.freeze)  # spares Python's last search for cycles, a tenth of the time of a short command
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows a question mark
    code = _exit_code(arguments)
    let_go_of_broken_streams()
    sys.exit(code)


def _exit_code(arguments: Sequence[str]) -> int:
    interruption, code = Interruption(), 130
    with interruption.watched():
        try:
            code = app(arguments, prog_name="kinetree", standalone_mode=False, obj=interruption)
            sys.stdout.flush()  # here, where a broken pipe is still caught
        except (KeyboardInterrupt, typer.Abort):
            pass
        except BrokenPipeError:
            code = _UNREAD
        except SystemExit as stop:
            # The command-line library exits like this when its own output, such as the help, meets a broken pipe.
            if not isinstance(stop.__context__, BrokenPipeError):
                raise
            code = _UNREAD
        except Exception as error:
            # Ctrl-C also ends the process that reads the output, and a closed terminal accepts none.
            if not interruption.signal or isinstance(error, KinetreeError) or not isinstance(error, OSError):
                return _report(error, "--debug" in arguments)
        interruption.hold()
        if interruption.signal or code == 130:
            complain(interruption.sentence)
            return interruption.code
        return code if isinstance(code, int) else 0


def _report(error: Exception, debug: bool) -> int:
    """Print a readable error and return the exit code."""
    show = getattr(error, "show", None)
    if show is not None:  # a usage error of the command-line library
        if isinstance(message := getattr(error, "message", None), str):
            error.message = visible(message.removeprefix("Value error, "))  # type: ignore[attr-defined]
        with suppress(OSError):
            show()
        return int(getattr(error, "exit_code", 2))
    if debug:
        complain("".join(traceback.format_exception(error)).rstrip())
    if isinstance(error, KinetreeError):
        complain(f"error: {error}")
    elif isinstance(error, OSError):
        complain(f"error: {reason(error)}: {error.filename}" if error.filename else f"error: {reason(error)}")
    elif isinstance(error, MemoryError):
        complain("error: out of memory; try a smaller robot, fewer steps or a shorter duration")
    else:
        complain(
            f"internal error: {type(error).__name__}: {error}. This is a fault of kinetree: please report it together "
            "with the output of the same command with --debug"
        )
    return 2 if isinstance(error, _USAGE) else 1
