"""The equations of motion in Jacobian form, as functions of arrays: a second way to the same results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.compiler.forms.regrouped import regrouped
from kinetree.expr import Scalar
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.functions.dynamics import ABA
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force
from kinetree.tree import UnrolledTree

__all__ = ["EulerLagrangeMatrices", "euler_lagrange", "euler_lagrange_matrices"]


class EulerLagrangeMatrices(NamedTuple):
    """M and C of M(q) q̈ + C(q, q̇) q̇ = τ + generalised forces."""

    M: Array
    """The mass matrix (…, nv, nv)."""
    C: Array
    """The Coriolis matrix (…, nv, nv)."""


def _euler_lagrange(
    model: Form, q: Slots, v: Slots, tau: Slots, *, passive: Sequence[str], limits: bool, f_ext: dict[int, Force]
) -> list[Scalar]:
    acting = algorithms.driven(model.tree, q, v, tau, passive, limits)
    return model.tree.joined(algorithms.euler_lagrange(model.tree, q, v, acting, f_ext), "nv")


def _matrices(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    M, C = algorithms.euler_lagrange_matrices(model.tree, q, v)
    return model.tree.stacked_matrices(M, C)


def _matrices_by_recursion(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    """M and C, computed from composite bodies."""
    # This C depends on the inertia of each body as it is; M does not.
    M = algorithms.crba(regrouped(model.tree), q)
    C = algorithms.coriolis_matrix_of_links(model.tree, q, v)
    return model.tree.stacked_matrices(M, C)


def _effort(tree: UnrolledTree) -> float:
    """Cost estimate: every pair of joints on the path of every link meets."""
    bodies, columns = [0] * tree.size, [0] * tree.size
    for i, p in tree.outward:
        bodies[i], columns[i] = bodies[p] + 1, columns[p] + tree.joint[i].nv
    return sum(46.0 * n + 11.2 * n * n for n in columns) * max(bodies)


_Q, _V, _TAU = ("q", "nq"), ("v", "nv"), ("tau", "forces")
# No loop over bodies meets every pair of joints on the path of every body: large robots use another algorithm.
EULER_LAGRANGE = Definition(
    "euler_lagrange", (_Q, _V, _TAU), ("nv",), _euler_lagrange, {"passive": passive_option, "limits": limits_option},
    takes_forces=True, divides_by_inertia=True,
    strategy=Strategy(loops=False, when_large=replace(ABA, name="euler_lagrange"), effort=_effort),
)  # fmt: skip
_BY_RECURSION = Definition(
    "euler_lagrange_matrices",
    (_Q, _V),
    (2, "nv", "nv"),
    _matrices_by_recursion,
    strategy=Strategy(always_loops=True),
)
EULER_LAGRANGE_MATRICES = Definition(
    "euler_lagrange_matrices", (_Q, _V), (2, "nv", "nv"), _matrices,
    strategy=Strategy(loops=False, when_large=_BY_RECURSION, effort=_effort),
)  # fmt: skip


@defined_by(EULER_LAGRANGE, in_units=True)
def euler_lagrange(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    limits: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """Forward dynamics by the Jacobian form of the equations of motion and a dense solution, equal to `aba`.

    It shares nothing with the recursive algorithms except the Jacobians of links, and costs far more: it is for tests
    and for teaching. Its cost grows with the cube of a chain's length, so it is compiled for robots of up to about
    twenty degrees of freedom (chains of up to 13 joints, ANYmal on its floating base). Larger robots, and derivatives
    that would be as long, use the articulated-body algorithm of `aba`, which gives the same accelerations.

    Args:
        f_ext: external wrenches by frame name: [f; n] (…, 6) in the frame's own axes and about its origin; N, N·m. With
            `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn` in place of the name: wrenches in other axes, and forces at
            points.
        parameters: values that override some of the robot's parameters, such as
            {"gravity": (…, 3), "body.NAME.mass": (…)}; see `kinetree docs parameters`. A mass of zero gives NaN: such a
            body has no centre of mass.
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Accelerations (…, nv); rad/s², m/s².

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError, SingularModelError: as for `aba`.

    Source: Liu and Jain, "A Quick Tutorial on Multibody Dynamics" (2012), eq. 59.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> state = [0.3, 0.1], [0.0, 1.0], [2.0, 0.5]
    >>> bool(abs(kt.dynamics.euler_lagrange(robot, *state) - kt.aba(robot, *state)).max() < 1e-12)
    True
    """
    options = switched_on(robot, passive, limits)
    given = {"f_ext": f_ext, "parameters": parameters, "out": out, "threads": threads}
    result: Array = run(EULER_LAGRANGE, robot, (q, v, tau), **given, **options)  # type: ignore[arg-type]
    return result


@defined_by(EULER_LAGRANGE_MATRICES)
def euler_lagrange_matrices(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> EulerLagrangeMatrices:
    """The mass matrix M = Σ JᵀM_cJ and the Coriolis matrix C = Σ Jᵀ(M_cJ̇ + [ω̃]M_cJ), link by link.

    M is that of `crba`. C v is `coriolis_forces`, and Ṁ - 2 C is skew-symmetric, although other matrices have both
    properties too. For robots too large for `euler_lagrange`, the same two matrices come from composite bodies, in
    loops.

    Args:
        parameters: values that override some of the robot's parameters, such as
            {"body.NAME.mass": (…)}; see `kinetree docs parameters`. A mass of zero gives NaN, as in `euler_lagrange`.
        out: where to put the result: (…, 2, nv, nv), M and then C.

    Returns:
        A named tuple (M, C) of two arrays (…, nv, nv); kg·m² and N·m·s between angles, kg and N·s/m between
        displacements. Both include rotors.

    Source: Liu and Jain, "A Quick Tutorial on Multibody Dynamics" (2012), eq. 59.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> M, C = kt.dynamics.euler_lagrange_matrices(robot, [0.3, 0.1], [0.0, 1.0])
    >>> bool(abs(C @ [0.0, 1.0] - kt.dynamics.coriolis_forces(robot, [0.3, 0.1], [0.0, 1.0])).max() < 1e-12)
    True
    """
    both = run(EULER_LAGRANGE_MATRICES, robot, (q, v), parameters=parameters, out=out, threads=threads)
    return EulerLagrangeMatrices(both[..., 0, :, :], both[..., 1, :, :])
