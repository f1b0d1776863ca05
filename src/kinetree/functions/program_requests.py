"""Requests for derivatives of programs: a program, the arguments of a call, and the names of arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.definition import Mode
from kinetree.compiler.requests import function_and_options
from kinetree.compiler.source import Source
from kinetree.compiler.tracing import current_trace, is_symbolic
from kinetree.errors import DTypeError, NameNotFoundError, OptionError
from kinetree.functions.assembly import nearest_configuration
from kinetree.functions.assembly_derivatives import Assembled
from kinetree.functions.derivative_requests import Named, Request, Requested
from kinetree.model.checks.parts import hint
from kinetree.model.external_forces import ExternalForces
from kinetree.programs import Program
from kinetree.programs.labels import reshaped
from kinetree.programs.program import dtype_of
from kinetree.programs.results import Results

__all__ = ["ProgramRequest", "also_of_programs", "requested"]


def also_of_programs(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: a program takes the place of a robot and one of its functions."""

    @functools.wraps(function)
    def either(*given: Any, **named: Any) -> Any:
        if given and (isinstance(given[0], Program) or _is_python(given[0])):
            given = (None, *given)
        return function(*given, **named)

    return either


def _is_python(x: object) -> bool:
    """Whether this is a function that is not kinetree's."""
    return callable(x) and not str(getattr(x, "__module__", "")).startswith("kinetree.")


def requested(
    robot: Any,
    function: Any,
    arguments: Any,
    f_ext: ExternalForces | None,
    parameters: Named | None,
    threads: int | None,
    options: Mapping[str, Any],
) -> Requested:
    """The request for derivatives of a function of a robot, or of a program, which has no robot before it."""
    function, options = function_and_options(function, options)
    if isinstance(function, Program):
        if robot is not None:
            raise DTypeError(
                f"the program {function.name!r} knows its robots: give it without one, as in "
                f"kt.jacobian({function.name}, ({', '.join(function.arguments)}), wrt=…)"
            )
        more = {"f_ext": f_ext, "parameters": parameters, **options}
        return ProgramRequest(function, arguments, threads, {name: x for name, x in more.items() if x is not None})
    if robot is None and _is_python(function):
        name = getattr(function, "__name__", "a Python function")
        raise DTypeError(
            f"{name} is not a program yet: make it one with @kt.program(q=…, …), which names the shape of each argument"
        )
    for implicit, made in _IMPLICIT:
        if function is implicit:
            return made(robot, arguments, f_ext, parameters, threads, options)
    return Request(robot, function, arguments, f_ext, parameters, threads, options)


_IMPLICIT = ((nearest_configuration, Assembled),)
"""Functions that are defined by equations which their results satisfy, and the requests for their derivatives."""


class ProgramRequest(Requested):
    """A program and the arguments of a call."""

    def __init__(self, program: Program, arguments: Any, threads: int | None, refused: Mapping[str, Any]) -> None:
        """`refused`: the given arguments that are for functions of a robot only."""
        if refused:
            raise OptionError(f"{program.name} is a program, which has no {next(iter(refused))}=: leave it out")
        if isinstance(arguments, np.ndarray) or not isinstance(arguments, Sequence | Mapping):
            what = "one array" if isinstance(arguments, np.ndarray) else type(arguments).__name__
            raise DTypeError(
                f"{program.name}: arguments must be a tuple of its own ({', '.join(program.arguments)}), not {what}"
            )
        own, named = ((), arguments) if isinstance(arguments, Mapping) else (arguments, {})
        self.program, self.name, self.names, self.threads = program, program.name, list(program.arguments), threads
        self._arguments = program.bound(own, named)
        self.known: list[str] = [name for name, argument in program.arguments.items() if argument.dtype is float]
        self._counted: list[Any] = []
        self._count(self._arguments)

    def _count(self, arrays: Sequence[Any]) -> None:
        """Let arrays count for the dtype of the call: that of the trace in progress, if one of them is symbolic."""
        self._counted += arrays
        self._dtype = current_trace().dtype.name if is_symbolic(self._counted) else dtype_of(self.name, self._counted)

    @cached_property
    def source(self) -> Source:
        return self.program.compiled(self._dtype).source

    @property
    def arrays(self) -> Sequence[Any]:
        return self._arguments

    @property
    def _results(self) -> Results:
        return self.program.traced(self._dtype).results

    def not_known(self, name: object) -> NoReturn:
        argument = self.program.arguments.get(name) if isinstance(name, str) else None
        if argument is not None:
            kind = "whole numbers" if argument.dtype is int else "booleans"
            raise OptionError(
                f"{self.name} cannot be differentiated by {name!r}, which holds {kind}"
                f"{self._listed('; its arguments of real numbers are ')}"
            )
        raise NameNotFoundError(
            f"{self.name} cannot be differentiated by {name!r:.60}: {hint(str(name), self.known)}"
            f"{self._listed(' (its arguments of real numbers are ', ')')}"
        )

    def _listed(self, before: str, after: str = "") -> str:
        return f"{before}{', '.join(self.known)}{after}" if self.known else ""

    def weights(self, weights: Any) -> Any:
        flat, given = self._results.joined(weights, "weights")
        self._count(given)
        return flat

    def derivative(
        self, mode: Mode, wrt: tuple[str, ...], more: Sequence[ArrayLike] = (), along: tuple[str, ...] = ()
    ) -> Any:
        directions = more[mode in ("vjp", "hvp") :]
        if directions:
            self._count(directions)
        compiled = self.program.compiled(self._dtype, mode, wrt, along)
        arrays = [*self.program.numbers(self._arguments), *more]
        return compiled.call(*arrays) if self.threads is None else compiled(*arrays, threads=self.threads)

    def value(self, whole: Any) -> Any:
        return self._results.apart(self.labelled(whole, self.output))

    def changes(self, whole: Any) -> Any:
        return self._results.changes(self.labelled(whole, self.output))

    def matrices(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The Jacobians by arguments, all from one compiled function."""
        jacobians = self.derivative("jacobian", names)
        shape = self.output
        directions = [self.direction_shape(name) for name in names]
        if len(names) == 1:
            parts = [jacobians]
        elif len(set(directions)) == 1:
            axes = (slice(None),) * (len(shape) + len(directions[0]))
            parts = [jacobians[(..., k, *axes)] for k in range(len(names))]
        else:
            parts, start = [], 0
            for direction in directions:
                core = (*shape, *direction)
                end = start + math.prod(core)
                parts.append(reshaped(jacobians[..., start:end], (*jacobians.shape[:-1], *core)))
                start = end
        pairs = zip(names, parts, directions, strict=True)
        return {name: self._results.changes(part, len(direction)) for name, part, direction in pairs}
