"""The options of a call: defaults from the public function's signature, and values checked for one robot."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache, partial
from typing import Any

from kinetree.compiler.definition import Definition
from kinetree.errors import DTypeError, OptionError
from kinetree.model import Model

__all__ = ["default_options", "definition_of", "function_and_options", "resolved_options"]


def function_and_options(function: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A function and its options; some may come with it, as in
    `functools.partial(kt.kinematics.difference_jacobian, wrt="q0")`.

    This is how an option is given to a function if another of that name is taken, as `kt.jacobian` takes `wrt`.
    """
    given = dict(options)
    while isinstance(function, partial) and not function.args:
        function, given = function.func, {**function.keywords, **given}
    return function, given


def definition_of(robot: object, function: object) -> Definition:
    """The definition of a public function, which was given after a robot.

    Raises `DTypeError` if the two were exchanged, and `OptionError` for anything else that has no definition.
    """
    definition = getattr(function, "definition", None)
    if isinstance(definition, Definition):
        return definition
    exchanged = getattr(robot, "definition", None)
    if isinstance(exchanged, Definition):
        raise DTypeError(f"the robot comes first and then the function: (robot, kt.{exchanged.name}, …)")
    if callable(getattr(function, "compile", None)):
        raise OptionError(
            f"{function!r:.80} is a program, not one of kinetree's functions; compile it by its compile()"
        )
    given = f"robot {function.name!r}" if isinstance(function, Model) else " ".join(f"{function!r:.80}".split())
    raise OptionError(f"{given} is not one of kinetree's functions; pass kt.aba, kt.rnea, …")


@lru_cache(maxsize=256)
def default_options(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The default values of a public function's options, for those that have one."""
    options: Mapping[str, Any] = function.definition.options  # type: ignore[attr-defined]
    named = inspect.signature(function).parameters
    return {
        name: named[name].default
        for name in options
        if name in named and named[name].default is not inspect.Parameter.empty
    }


def resolved_options(definition: Definition, model: Model, options: Mapping[str, Any]) -> dict[str, Hashable]:
    """Each option of a definition, checked and resolved for a robot. Raises `OptionError` for one it does not have."""
    if unknown := set(options) - set(definition.options):
        known = ", ".join(definition.options) or "none"
        raise OptionError(f"{definition.name} has no option {sorted(unknown)[0]!r}; it has: {known}")
    return {name: check(model, options.get(name)) for name, check in definition.options.items()}
