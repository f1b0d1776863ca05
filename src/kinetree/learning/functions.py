"""The functions of a task: each takes what it names among its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kinetree.errors import NameNotFoundError, OptionError, listed, nearest_names
from kinetree.records import record

__all__ = ["TaskFunction", "by_name"]


@record(frozen=True, slots=True, eq=False)
class TaskFunction:
    """A function of a task, and the names of its arguments."""

    role: str
    """Its name in the environment: "reward"."""
    function: Callable[..., Any]
    takes: tuple[str, ...]

    @classmethod
    def of(cls, role: str, function: Any, known: Iterable[str]) -> TaskFunction:
        """A user's function, if there is everything that it takes."""
        if not callable(function):
            raise OptionError(f"{role} is a function, not {function!r:.60}")
        known, takes = [*known], []
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise OptionError(f"{role}: its parameters are names of what it takes; {parameter} is none")
            if name in known:
                takes.append(name)
            elif parameter.default is parameter.empty:
                raise NameNotFoundError(
                    f"{role} takes {name!r:.60}, which is nothing that it can have: {nearest_names(name, known)} It "
                    f"may take {listed(known, most=20)}; a state of the task's own is declared in memory=, and "
                    "numbers that change between calls in settings="
                )
        return cls(role, function, tuple(takes))

    def __call__(self, given: Mapping[str, Any]) -> Any:
        return self.function(**{name: given[name] for name in self.takes})


def by_name(role: str, returned: Any, known: Iterable[str], needed: str = "") -> dict[str, Any]:
    """The results of a function by name, if all of them have a place; without a dict, one under the name `needed`."""
    if returned is None and not needed:
        return {}
    if not isinstance(returned, dict):
        if not needed:
            raise OptionError(f"{role} returns a dict of arrays by name, not {type(returned).__name__}")
        return {needed: returned}
    known = [*known]
    for name in returned:
        if name not in known:
            raise NameNotFoundError(
                f"{role} returned {name!r:.60}, which has no place: {nearest_names(str(name), known)} A state of the "
                "task's own is declared in memory="
            )
    return dict(returned)
