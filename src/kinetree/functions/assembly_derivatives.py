"""Derivatives of the configuration that `nearest_configuration` finds, which its equations define as a function.

The result q* and multipliers λ satisfy r(q*, λ, q, p) = 0: the displacement Δ of the start q lies in the rows of J,
Jᵀ λ - Δ = 0, and the errors are zero. A displacement δ of the start and a change of parameters δp displace the result
by δ* with

    ∂r/∂q* δ* + ∂r/∂λ δλ = -∂r/∂q δ - ∂r/∂p δp

whatever steps led there. Where rows of J depend on each other λ is not unique, but δ* is: a small -ρ takes the place of
the zeros below the diagonal of the matrix K on the left, and what it changes is removed by repetition.

Source: Griewank and Walther, *Evaluating Derivatives* (2008), section 15.1 (implicit functions); Parikh and Boyd,
"Proximal algorithms" (2014), section 4.1.2 (iterative refinement of singular systems).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array
from kinetree.compiler.differentiation import derived
from kinetree.errors import ConfigurationError, DTypeError, OptionError, ShapeError
from kinetree.functions.assembly import RESIDUAL, nearest_configuration, started, step_options
from kinetree.functions.constraint_options import IN_SINGLE, RULE, row_count
from kinetree.functions.derivative_requests import Named, Request
from kinetree.functions.kinematics import DIFFERENCE
from kinetree.functions.manifold import COORDINATE_RATES
from kinetree.inputs import real_array, refuse_symbols
from kinetree.model import Model, check_robot
from kinetree.model.external_forces import ExternalForces

__all__ = ["Assembled"]

Doubles = NDArray[np.float64]
_OPTIONS = ("constraints", "held_joints", "held_bodies", "on_impossible", "tolerance")
_REPETITIONS = 3


class Assembled(Request):
    """The request for derivatives of a configuration that constraints are met in, by way of those of its equations."""

    def __init__(
        self,
        robot: Model,
        arguments: Sequence[ArrayLike],
        f_ext: ExternalForces | None,
        parameters: Named | None,
        threads: int | None,
        options: Mapping[str, Any],
    ) -> None:
        check_robot(robot)
        if isinstance(arguments, np.ndarray) or not isinstance(arguments, Sequence) or len(arguments) != 1:
            raise DTypeError("nearest_configuration: arguments must be its own, (q,); the constraints are an option")
        given = _checked(options)
        start = started(robot, arguments[0])
        self.q: Array = nearest_configuration(robot, start, parameters=parameters, threads=threads, **given).q
        residual = step_options(given["constraints"], given.get("held_joints", ()), given.get("held_bodies", ()), None)
        single = IN_SINGLE["tolerance"] if self.q.dtype == np.float32 else None
        self._tolerance: Any = RULE["tolerance"](robot, given.get("tolerance", single))
        nothing = np.zeros(row_count(residual["constraints"]), self.q.dtype)
        super().__init__(robot, RESIDUAL, (self.q, nothing, start), f_ext, parameters, threads, residual, fixed=2)
        J = self._of_residual("multipliers")[..., : robot.nv, :].swapaxes(-1, -2)
        length = np.linalg.norm(J, axis=-1)
        self._scale = 1.0 / np.where(length > 0.0, length, 1.0)
        self._J = J * self._scale[..., None]  # rows of length 1
        away = run(DIFFERENCE, robot, (start, self.q), threads=threads).astype(np.float64)
        self.arguments = self.q, (self._scale * self._multipliers(away)).astype(self.q.dtype), start

    def jvp(self, tangents: Named) -> tuple[Array, Array]:
        """The configuration, and the change of its entries along a direction."""
        names = self.along("jvp", tangents)
        _refuse_symbols(*tangents.values())
        found = self.derivative("jvp", names, [*tangents.values()])
        change = self._rates(self.q, self._displacements(found[..., 1, :, None])[..., 0])
        return np.broadcast_to(self.q, change.shape).copy(), change

    def vjp(self, weights: ArrayLike, wrt: str | Sequence[str] | None) -> tuple[Array, dict[str, Array]]:
        """The configuration, and the gradients of a weighted sum of its entries."""
        names, robot = self.wrt(wrt), self.robot
        _refuse_symbols(weights)
        w = real_array("weights", weights, f"(…, {robot.nq})").astype(self.q.dtype)
        if w.shape[-1:] != (robot.nq,):
            raise ShapeError(f"nearest_configuration: weights have shape {w.shape}, but its value has (…, {robot.nq})")
        at_rest = np.zeros(robot.nv, self.q.dtype)
        pulled = run(derived(COORDINATE_RATES, "vjp", ("v",)), robot, (self.q, at_rest, w), threads=self.threads)
        right = np.zeros((*pulled.shape[:-1], self._K.shape[-1]))
        right[..., : robot.nv] = pulled[..., robot.nq :]
        K, inverse = (x.swapaxes(-1, -2) for x in (self._K, self._K_inverse))
        adjoint = _solved(K, inverse, right[..., None])[..., 0]
        adjoint[..., robot.nv :] *= self._scale
        flat = self.derivative("vjp", names, [-adjoint.astype(self.q.dtype)])
        value = np.broadcast_to(self.q, (*flat.shape[:-1], robot.nq)).copy()
        return value, dict(self.apart(names, flat[..., right.shape[-1] :]))

    def hvp(self, *_: Any, **__: Any) -> NoReturn:
        raise OptionError(
            "nearest_configuration has first derivatives only: kt.jvp, kt.vjp and kt.jacobian, not kt.hvp"
        )

    def _matrix(self, name: str) -> Array:
        """The derivative of the configuration's entries by one argument or parameter."""
        found = self.derivative("jacobian", (name,))
        batch = self._K.ndim - 2
        columns = self._displacements(found.reshape((*found.shape[: batch + 1], -1)))
        changes = self._rates(self.q[..., None, :], columns.swapaxes(-1, -2)).swapaxes(-1, -2)
        return changes.reshape((*found.shape[:batch], self.robot.nq, *found.shape[batch + 1 :]))

    def _of_residual(self, name: str) -> Doubles:
        found: Array = self.derivative("jacobian", (name,))
        return found.astype(np.float64)

    def _multipliers(self, away: Doubles) -> Doubles:
        """λ with Jᵀ λ = Δ."""
        gram = self._J @ self._J.swapaxes(-1, -2)
        near = _inverse(gram + self._tolerance * np.eye(gram.shape[-1]))
        return np.asarray(_solved(gram, near, self._J @ away[..., None])[..., 0])

    @cached_property
    def _K(self) -> Doubles:
        """∂r/∂(q*, λ)."""
        nv, rows = self.robot.nv, self._scale.shape[-1]
        by_solution = self._of_residual("solution")
        K = np.zeros((*by_solution.shape[:-2], nv + rows, nv + rows))
        K[..., :nv] = by_solution
        K[..., nv:, :nv] *= self._scale[..., None]
        K[..., :nv, nv:] = self._J.swapaxes(-1, -2)
        return K

    @cached_property
    def _K_inverse(self) -> Doubles:
        nv, rows = self.robot.nv, self._scale.shape[-1]
        return _inverse(self._K - self._tolerance * np.diag(np.r_[np.zeros(nv), np.ones(rows)]))

    def _displacements(self, residual: Array) -> Doubles:
        """The displacements of the result, a column per change of the residual (…, rows, columns)."""
        nv = self.robot.nv
        right = -residual.astype(np.float64)
        right[..., nv:, :] *= self._scale[..., None]
        return _solved(self._K, self._K_inverse, right)[..., :nv, :]

    def _rates(self, q: Array, displacement: Doubles) -> Array:
        """The change of a configuration's entries along a displacement."""
        return run(COORDINATE_RATES, self.robot, (q, displacement.astype(q.dtype)), threads=self.threads)


def _refuse_symbols(*given: ArrayLike) -> None:
    refuse_symbols(
        "nearest_configuration: a direction or weight of its derivative",
        "multiply by kt.jacobian(robot, kt.constraints.nearest_configuration, (q,), wrt=…), which is an array of "
        "numbers where q is, or call it outside",
        *given,
    )


def _inverse(matrix: Doubles) -> Doubles:
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        raise ConfigurationError(
            "nearest_configuration has no derivative here: the nearest configuration is not unique"
        ) from None


def _solved(matrix: Doubles, nearly_inverse: Doubles, right: Doubles) -> Doubles:
    """The solutions for columns of a system whose matrix may be singular, from the inverse of a regular one near it."""
    x = nearly_inverse @ right
    for _ in range(_REPETITIONS):
        x = x + nearly_inverse @ (right - matrix @ x)
    return np.asarray(x)


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are given; those that have no derivative are refused."""
    if unknown := set(options) - set(_OPTIONS):
        raise OptionError(f"nearest_configuration has no option {sorted(unknown)[0]!r}; it has: {', '.join(_OPTIONS)}")
    given = {"constraints": None, **options}
    if given.get("on_impossible", "error") == "least_squares":
        raise OptionError(
            "nearest_configuration has derivatives only where the constraints are met: where they are not, its result "
            "with on_impossible='least_squares' need not change smoothly; pass on_impossible='error'"
        )
    return given
