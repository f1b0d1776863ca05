"""The quadratic models of all knots of several problems: the input of iLQR's backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.compiled import CompiledFunction
from kinetree.control.optimal.costates import costates
from kinetree.control.optimal.phase import Phase
from kinetree.control.optimal.problem import OptimalControl
from kinetree.control.optimal.quadratic_model import hessian_program, knot_program, terminal_program
from kinetree.programs import Program

__all__ = ["Models", "compiled_each"]

Array = NDArray[np.float64]


class Models:
    """The compiled models of a problem: with Hessians of Gauss and Newton, and with exact ones if they are asked for.

    Rows of all knots (b, T, …) and of the last ones (b, …) are as `backward_pass` takes them.
    """

    def __init__(self, problem: OptimalControl) -> None:
        self._problem, self._times = problem, problem.times
        self._knots = compiled_each(problem.phases, lambda phase: knot_program(problem, phase), of_any_length=True)
        self._last = terminal_program(problem, is_exact=False).compiled("float64")

    def gauss_newton(self, q: Array, v: Array, u: Array, given: Array) -> tuple[Array, Array]:
        """The models at motions of several problems."""
        return self._evaluated(self._knots, self._arrays(q, v, u, given)), self._at_end(self._last, q, v, given)

    def exact(self, knots: Array, q: Array, v: Array, u: Array, given: Array) -> tuple[Array, Array]:
        """The models with exact Hessians, from those of Gauss and Newton: Hessians of the Lagrangian."""
        T, n, m = self._problem.steps, 2 * v.shape[-1], u.shape[-1]
        hessians, terminal = self._exact_functions
        last, weights = self._at_end(terminal, q, v, given), np.empty((len(q), T, n))
        costates(knots, last, weights, T, n, m)
        bent = self._evaluated(hessians, (*self._arrays(q, v, u, given), weights))
        return np.concatenate([knots[..., : -bent.shape[-1]], bent], axis=-1), last

    @cached_property
    def _exact_functions(self) -> tuple[list[CompiledFunction], CompiledFunction]:
        problem = self._problem
        hessians = compiled_each(problem.phases, lambda phase: hessian_program(problem, phase), of_any_length=True)
        return hessians, terminal_program(problem, is_exact=True).compiled("float64")

    def _arrays(self, q: Array, v: Array, u: Array, given: Array) -> tuple[Array, ...]:
        t = np.broadcast_to(self._times[:-1], u.shape[:2])
        return q[:, :-1], v[:, :-1], u, t, given[:, :-1], q[:, 1:], v[:, 1:]

    def _at_end(self, function: CompiledFunction, q: Array, v: Array, given: Array) -> Array:
        ends = q[:, -1], v[:, -1], self._times[-1], given[:, -1]
        return np.ascontiguousarray(function.call(*map(np.ascontiguousarray, ends)))

    def _evaluated(self, functions: list[CompiledFunction], arrays: tuple[Array, ...]) -> Array:
        """The rows (b, T, …) of each phase's function, of arrays (b, T, …)."""
        b, parts, start = len(arrays[0]), [], 0
        for function, phase in zip(functions, self._problem.phases, strict=True):
            own = [np.ascontiguousarray(x[:, start : start + phase.steps]) for x in arrays]
            rows = function.call(*(x.reshape((b * phase.steps, *x.shape[2:])) for x in own))
            parts.append(rows.reshape((b, phase.steps, -1)))
            start += phase.steps
        return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1))


def compiled_each(
    phases: Sequence[Phase], make: Callable[[Phase], Program], *, of_any_length: bool = False
) -> list[CompiledFunction]:
    """The compiled programs of phases; those that are alike share theirs, as in `Phase.likeness`."""
    keys = [phase.likeness(of_any_length=of_any_length) for phase in phases]
    functions = {key: make(phase) for key, phase in dict(zip(keys, phases, strict=True)).items()}
    return [functions[key].compiled("float64") for key in keys]
