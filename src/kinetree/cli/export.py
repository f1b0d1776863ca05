"""`kinetree export`: one of kinetree's functions on a robot, as C99."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import typer

from kinetree.cli import options
from kinetree.cli.output import print_lines
from kinetree.cli.robots import Loading, load_robot, takes_loading_options
from kinetree.cli.values import parse_options

__all__ = ["export"]


@takes_loading_options()
def export(
    model: options.Model,
    function: options.Function = "aba",
    given: options.Settings = None,
    f_ext: options.ForceFrames = None,
    parameters: options.Parameters = None,
    derivative: options.Derivative = None,
    by: options.By = None,
    dtype: options.Dtype = "float64",
    name: options.CodeName = None,
    unroll: options.Unroll = None,
    interface: options.Interface = "plain",
    derivatives: options.Derivatives = None,
    out: options.CodeFolder = Path(),
    *,
    loading: Loading,
) -> None:
    """Write a function of a robot's motion as C99: NAME.c, NAME.h, and NAME_test.c, a program that tests them.

    The C code has no dependencies but the mathematical functions of the C library, no allocation and no state.
    """
    from kinetree.errors import OptionError
    from kinetree.interop.c import to_c

    chosen, settings = _function(function), _settings(given or [])
    robot = load_robot(model, loading)
    try:
        made = to_c(
            robot, chosen, f_ext=f_ext or (), parameters=parameters or (), unroll=unroll, dtype=dtype, name=name,
            derivative=derivative or None, by=by or None, interface=interface, derivatives=derivatives, **settings,
        )  # fmt: skip
    except OptionError as error:
        raise typer.BadParameter(str(error).removeprefix("kt.interop.to_c: ")) from None
    print_lines(*map(str, made.save(out)), repr(made).strip("<>"))


def _function(name: str) -> Callable[..., Any]:
    """One of kinetree's functions by name; wrong usage for other names."""
    import kinetree
    from kinetree.errors import nearest_names
    from kinetree.guide import public_names

    places = public_names()
    if name in places and hasattr(function := attrgetter(places[name])(kinetree), "definition"):
        return cast(Callable[..., Any], function)
    names = [name for name, place in places.items() if hasattr(attrgetter(place)(kinetree), "definition")]
    raise typer.BadParameter(
        f"kinetree has no function {name!r} of a robot's motion: {nearest_names(name, names)}", param_hint="--function"
    )


def _settings(items: list[str]) -> dict[str, Any]:
    """Options by name."""
    from kinetree.interop.c import to_c

    values = parse_options("--option", items)
    for name in values:
        if name in inspect.signature(to_c).parameters:
            raise typer.BadParameter(f"{name} is given by an option of its own; see --help", param_hint="--option")
    return values
