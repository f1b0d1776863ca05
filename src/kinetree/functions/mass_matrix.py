"""The mass matrix's inverse, factors and solutions, and the Coriolis matrix, as functions of arrays.

They run on the tree with regrouped inertias: the same results with fewer operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.expr import Scalar
from kinetree.model import Model

__all__ = [
    "MassMatrixFactors",
    "coriolis_matrix",
    "mass_matrix_factors",
    "mass_matrix_inverse",
    "mass_matrix_solve",
]


class MassMatrixFactors(NamedTuple):
    """The factors of the mass matrix, M = Lᵀ D L."""

    L: Array
    """Unit lower triangular (…, nv, nv)."""
    D: Array
    """The diagonal (…, nv)."""


def _inverse(model: Form, q: Slots) -> list[Scalar]:
    inverse: list[Scalar] = algorithms.mass_matrix_inverse(model.tree, q).flat()
    return inverse


def _factors(model: Form, q: Slots) -> list[Scalar]:
    M: Any = algorithms.crba(model.tree, q).sparse(as_numbered=True)
    algorithms.ltdl(M)
    factors: list[Scalar] = M.factors()
    return factors


def _solve(model: Form, q: Slots, force: Slots) -> list[Scalar]:
    M: Any = algorithms.crba(model.tree, q).sparse()
    x = M.vector(force)
    algorithms.ltdl(M)
    algorithms.ltdl_solve(M, x)
    return model.tree.joined(M.pieces(x), "nv")


def _coriolis(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    return algorithms.coriolis_matrix(model.tree, q, v).flat()


_Q, _V = ("q", "nq"), ("v", "nv")
MASS_MATRIX_INVERSE = Definition(
    "mass_matrix_inverse", (_Q,), ("nv", "nv"), _inverse, divides_by_inertia=True, regroups=True,
    strategy=Strategy(has_two_ways=True),
)  # fmt: skip
MASS_MATRIX_FACTORS = Definition(
    "mass_matrix_factors", (_Q,), lambda model, _: (model.nv + 1, model.nv), _factors, divides_by_inertia=True,
    regroups=True,
)  # fmt: skip
MASS_MATRIX_SOLVE = Definition(
    "mass_matrix_solve", (_Q, ("force", "forces")), ("nv",), _solve, divides_by_inertia=True, regroups=True
)
CORIOLIS_MATRIX = Definition("coriolis_matrix", (_Q, _V), ("nv", "nv"), _coriolis, regroups=True)


@defined_plainly_by(MASS_MATRIX_INVERSE)
def mass_matrix_inverse(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The inverse of the mass matrix, full and symmetric.

    It is computed by articulated bodies or from the sparse factors of the mass matrix, whichever takes fewer
    operations. If only its product with one vector is needed, `mass_matrix_solve` and `aba` take far fewer.

    Args:
        parameters: values that override some of the robot's parameters, as for `aba`; see `kinetree docs parameters`.
        out: where to put the result, (…, nv, nv), of the result's dtype.

    Returns:
        M⁻¹ (…, nv, nv): the acceleration of each degree of freedom due to a unit force on each; 1/(kg·m²) between
        angles, 1/kg between displacements.

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.

    Source: Featherstone, RBDA (2008), section 6.5; compared with Carpentier, "Analytical inverse of the joint space
    inertia matrix" (2018), in `kinetree docs algorithms/mass_matrix`.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> bool(np.allclose(kt.mass_matrix_inverse(robot, [0.3, 0.1]) @ kt.crba(robot, [0.3, 0.1]), np.eye(2)))
    True
    """
    return run(MASS_MATRIX_INVERSE, robot, (q,), parameters=parameters, out=out, threads=threads)


@defined_by(MASS_MATRIX_FACTORS)
def mass_matrix_factors(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> MassMatrixFactors:
    """The factors of the mass matrix, M = Lᵀ D L.

    L is unit lower triangular, and L[k, i] is zero wherever degree of freedom i is not on the path from k to the root.
    (Where parents come after their children in v, or joints share coordinates, more entries are filled.)

    Args:
        parameters: values that override some of the robot's parameters, as for `aba`; see `kinetree docs parameters`.
        out: where to put the result, (…, nv + 1, nv), of the result's dtype: the rows of L, then D.

    Returns:
        L (…, nv, nv) and D (…, nv), both views of one array (…, nv + 1, nv), the result of
        `kt.compile(robot, kt.dynamics.mass_matrix_factors)`. D[k] is the inertia felt at degree of freedom k while
        those after it in v are free to move.

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.

    Source: Featherstone, RBDA (2008), Table 6.3.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> L, D = kt.dynamics.mass_matrix_factors(robot, [0.3, 0.1])
    >>> bool(np.allclose(L.T @ np.diag(D) @ L, kt.crba(robot, [0.3, 0.1])))
    True
    """
    stacked = run(MASS_MATRIX_FACTORS, robot, (q,), parameters=parameters, out=out, threads=threads)
    return MassMatrixFactors(stacked[..., :-1, :], stacked[..., -1, :])


@defined_plainly_by(MASS_MATRIX_SOLVE)
def mass_matrix_solve(
    robot: Model,
    q: ArrayLike,
    force: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """M⁻¹ times a vector: the accelerations due to joint forces alone, from rest and without gravity.

    It uses the sparse factors of the mass matrix, not its inverse.

    Args:
        force: joint forces (…, nv), or any other vector; N·m, N.
        parameters: values that override some of the robot's parameters, as for `aba`; see `kinetree docs parameters`.
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        M⁻¹ force (…, nv); rad/s², m/s².

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.

    Source: Featherstone, RBDA (2008), Tables 6.3 and 6.5.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v = [0.3, 0.1], [0.5, -1.0]
    >>> force = [2.0, 0.5] - kt.bias_forces(robot, q, v)
    >>> bool(np.allclose(kt.dynamics.mass_matrix_solve(robot, q, force), kt.aba(robot, q, v, [2.0, 0.5])))
    True
    """
    return run(MASS_MATRIX_SOLVE, robot, (q, force), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(CORIOLIS_MATRIX)
def coriolis_matrix(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The matrix C(q, v) whose product with v is the Coriolis and centrifugal force, with Ṁ - 2 C skew-symmetric.

    Many matrices have that product; where v is the derivative of q, this is the one from the Christoffel symbols of M.
    For other joints (quaternions, free bodies) it is the same sum over bodies.

    Args:
        v: velocity (…, nv); rad/s, m/s. C is linear in it.
        parameters: values that override some of the robot's parameters, as for `aba`; see `kinetree docs parameters`.
        out: where to put the result, (…, nv, nv), of the result's dtype.

    Returns:
        C (…, nv, nv) of M q̈ + C v + g = τ; kg·m²/s between angles.

    Source: Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for
    rigid-body systems", J. Comput. Nonlinear Dyn. 16 (2021), algorithm 1.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> q, v = [0.3, 0.1], [0.5, -1.0]
    >>> C = kt.dynamics.coriolis_matrix(robot, q, v)
    >>> bool(np.allclose(C @ v + kt.gravity_forces(robot, q), kt.bias_forces(robot, q, v)))
    True
    """
    return run(CORIOLIS_MATRIX, robot, (q, v), parameters=parameters, out=out, threads=threads)
