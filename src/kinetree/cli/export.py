"""`kinetree export`: one of kinetree's functions on a robot, as C99."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from kinetree.cli.options import optional
from kinetree.cli.output import output_console
from kinetree.cli.robots import Loading, load_robot, takes_loading_options

__all__ = ["export"]


@takes_loading_options()
def export(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A robot file, or a robot of the zoo.")],
    function: Annotated[
        str, typer.Option("--function", "-f", metavar="NAME", help="One of kinetree's functions: aba, rnea, crba, …")
    ] = "aba",
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the files go; made if it is missing.")
    ] = Path(),
    dtype: Annotated[
        str, typer.Option("--dtype", help="float64, which is double in C, or float32, which is float.")
    ] = "float64",
    name: Annotated[
        str | None,
        optional("--name", help="Of the C function and its files; by default MODEL_FUNCTION."),
    ] = None,
    options: Annotated[
        list[str] | None,
        optional(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the function, such as frame=tool or steps=100; may be repeated.",
        ),
    ] = None,
    f_ext: Annotated[
        list[str] | None,
        optional(
            "--f-ext",
            metavar="FRAME",
            help="A frame on which an external force acts; it becomes an argument. May be repeated.",
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        optional(
            "--parameter",
            metavar="NAME",
            help="A parameter of the robot that becomes an argument, such as body.hand.mass; may be repeated.",
        ),
    ] = None,
    unroll: Annotated[
        bool | None,
        optional(
            "--unroll/--loops",
            help="Write every body's arithmetic out, or loop over bodies; by default the size decides.",
        ),
    ] = None,
    derivative: Annotated[
        list[str] | None,
        optional(
            "--derivative",
            metavar="MODE",
            help="forward (tangents) or reverse (cotangents); reverse and then forward for second derivatives.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        optional("--by", metavar="NAME", help="An argument that it is by; may be repeated."),
    ] = None,
    interface: Annotated[
        str, typer.Option("--interface", help="plain, or casadi for functions that casadi.external loads.")
    ] = "plain",
    derivatives: Annotated[
        int | None,
        optional("--derivatives", help="How often CasADi can differentiate: 0, 1 or 2."),
    ] = None,
    *,
    loading: Loading,
) -> None:
    """Write a function of a robot's motion as C99: NAME.c, NAME.h, and NAME_test.c, a program that tests them.

    The C code has no dependencies but the mathematical functions of the C library, no allocation and no state.
    """
    from kinetree.errors import OptionError
    from kinetree.interop.c import to_c

    chosen, given = _function(function), _options(options or [])
    robot = load_robot(model, loading)
    try:
        made = to_c(
            chosen,
            robot,
            f_ext=f_ext or (),
            parameters=parameters or (),
            unroll=unroll,
            dtype=dtype,
            name=name,
            derivative=derivative or None,
            by=by or None,
            interface=interface,
            derivatives=derivatives,
            **given,
        )
    except OptionError as error:
        raise typer.BadParameter(str(error).removeprefix("kt.to_c: ")) from None
    console = output_console()
    for path in made.save(out):
        console.print(str(path), markup=False, soft_wrap=True)
    console.print(repr(made).strip("<>"), markup=False, soft_wrap=True)


def _function(name: str) -> Callable[..., Any]:
    """One of kinetree's functions by name; wrong usage for other names."""
    import kinetree
    from kinetree.errors import nearest_names

    known: dict[str, Any] = {one: getattr(kinetree, one) for one in kinetree.__all__}
    functions: dict[str, Callable[..., Any]] = {one: x for one, x in known.items() if hasattr(x, "definition")}
    if name not in functions:
        raise typer.BadParameter(
            f"kinetree has no function {name!r} of a robot's motion: {nearest_names(name, list(functions))}",
            param_hint="--function",
        )
    return functions[name]


def _options(given: list[str]) -> dict[str, Any]:
    """Options by name: numbers, true, false and lists as JSON has them, all else as text."""
    from kinetree.interop.c import to_c

    found: dict[str, Any] = {}
    for text in given:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name.isidentifier():
            raise typer.BadParameter(f"{text!r} is not an option of the form name=value", param_hint="--option")
        if name in inspect.signature(to_c).parameters:
            raise typer.BadParameter(f"{name} is given by an option of its own; see --help", param_hint="--option")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found
