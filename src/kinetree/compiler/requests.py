"""The options of a call: defaults from the public function's signature, and values checked for one robot."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any

from kinetree.compiler.definition import Definition
from kinetree.errors import OptionError
from kinetree.model import Model

__all__ = ["default_options", "resolved_options"]


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
