"""Derivatives of forward and inverse dynamics by their own recursions, as functions of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.differentiation import derived
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.drives import Passive, passive_option, switched_on
from kinetree.functions.dynamics import ABA, RNEA
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force
from kinetree.tree import UnrolledTree

__all__ = ["AbaDerivatives", "RneaDerivatives", "aba_derivatives", "rnea_derivatives"]


class AbaDerivatives(NamedTuple):
    """Derivatives of q̈: three matrices (…, nv, nv), one row per acceleration."""

    by_q: Array
    """One column per displacement of q: `integrate(robot, q, δ)`."""
    by_v: Array
    by_tau: Array
    """The inverse of the mass matrix."""


class RneaDerivatives(NamedTuple):
    """Derivatives of τ: three matrices (…, nv, nv), one row per joint force."""

    by_q: Array
    """One column per displacement of q: `integrate(robot, q, δ)`."""
    by_v: Array
    by_qdd: Array
    """The mass matrix."""


def _aba_derivatives(
    model: Form, q: Slots, v: Slots, tau: Slots, *, passive: Sequence[str], f_ext: dict[int, Force]
) -> Sequence[Scalar] | None:
    return algorithms.aba_derivatives(model.tree, q, v, tau, f_ext, passive)


def _rnea_derivatives(
    model: Form, q: Slots, v: Slots, qdd: Slots, *, passive: Sequence[str], f_ext: dict[int, Force]
) -> Sequence[Scalar]:
    d = algorithms.rnea_derivatives(model.tree, q, v, qdd, f_ext)
    by_q, by_v = algorithms.passive_derivatives(model.tree, q, v, passive)
    return [*(d.by_q - by_q).flat(), *(d.by_v - by_v).flat(), *d.H.flat()]


def _effort(tree: UnrolledTree) -> float:
    """Cost estimate: each degree of freedom meets all bodies between it and the root; solving costs less."""
    bodies, operations = [0] * tree.size, 0.0
    for i, p in tree.outward:
        bodies[i] = bodies[p] + 1
        operations += tree.joint[i].nv * (108.0 + 56.5 * bodies[i])
    return operations * max(bodies)


_Q, _V, _TAU, _QDD = ("q", "nq"), ("v", "nv"), ("tau", "forces"), ("qdd", "nv")
_PASSIVE = {"passive": passive_option}
_THREE = (3, "nv", "nv")
_ABA, _RNEA = (replace(of, strategy=replace(of.strategy, always_loops=True)) for of in (ABA, RNEA))
ABA_DERIVATIVES = Definition(
    "aba_derivatives",
    (_Q, _V, _TAU),
    _THREE,
    _aba_derivatives,
    _PASSIVE,
    takes_forces=True,
    divides_by_inertia=True,
    regroups=True,
    strategy=Strategy(
        is_dense=True,
        loops=False,
        effort=_effort,
        when_large=derived(_ABA, "jacobian", ("q", "v", "tau")),
        when_forces_turn=derived(ABA, "jacobian", ("q", "v", "tau")),
    ),
)
RNEA_DERIVATIVES = Definition(
    "rnea_derivatives",
    (_Q, _V, _QDD),
    _THREE,
    _rnea_derivatives,
    _PASSIVE,
    takes_forces=True,
    regroups=True,
    strategy=Strategy(
        loops=False,
        effort=_effort,
        when_large=derived(_RNEA, "jacobian", ("q", "v", "qdd")),
        when_forces_turn=derived(RNEA, "jacobian", ("q", "v", "qdd")),
    ),
)


@defined_by(ABA_DERIVATIVES, in_units=True)
def aba_derivatives(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> AbaDerivatives:
    """The derivatives of `aba` with respect to q (by displacements), v and τ, exact and all at once.

    A displacement δ (nv,) of q leads to `integrate(robot, q, δ)`; for joints with q̇ = v it is added. For derivatives
    of other functions, by other arguments and along single directions, see `kt.jacobian`, `kt.jvp` and `kt.vjp`.

    Args:
        f_ext: external wrenches by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, as for `aba`; constant
            in the axes in which they are given.
        passive: which passive forces of the joints act, as for `aba`.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put the three matrices, stacked: (…, 3, nv, nv), of the result's dtype.

    Returns:
        `by_q`, `by_v` and `by_tau`, each (…, nv, nv): views of one array.

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError, SingularModelError: as for `aba`.

    Source: Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS (2018), eq. 3,
    applied to the derivatives of `rnea_derivatives`.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> d = kt.dynamics.aba_derivatives(robot, [0.3, 0.1], [0.0, 1.0], [2.0, 0.5])
    >>> bool(abs(d.by_tau @ kt.crba(robot, [0.3, 0.1]) - [[1, 0], [0, 1]]).max() < 1e-12)
    True
    """
    options = switched_on(robot, passive)
    return AbaDerivatives(
        *_three(
            run(
                ABA_DERIVATIVES, robot, (q, v, tau), f_ext=f_ext, parameters=parameters, out=out, threads=threads,
                **options,
            )
        )
    )  # fmt: skip


@defined_by(RNEA_DERIVATIVES, in_units=True)
def rnea_derivatives(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    passive: Passive = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> RneaDerivatives:
    """The derivatives of `rnea` with respect to q (by displacements), v and q̈, exact and all at once.

    A displacement δ (nv,) of q leads to `integrate(robot, q, δ)`; for joints with q̇ = v it is added. For derivatives
    of other functions, by other arguments and along single directions, see `kt.jacobian`, `kt.jvp` and `kt.vjp`.

    Args:
        f_ext: external wrenches by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, as for `aba`; constant
            in the axes in which they are given.
        passive: which passive forces of the joints act, as for `rnea`.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put the three matrices, stacked: (…, 3, nv, nv), of the result's dtype.

    Returns:
        `by_q`, `by_v` and `by_qdd`, each (…, nv, nv): views of one array.

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: Singh, Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector
    algebra", IEEE RA-L 7 (2022), for joints of any kind.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> d = kt.dynamics.rnea_derivatives(robot, [0.3, 0.1], [0.0, 1.0], [2.0, 0.5])
    >>> bool(abs(d.by_qdd - kt.crba(robot, [0.3, 0.1])).max() < 1e-12)
    True
    """
    options = switched_on(robot, passive)
    return RneaDerivatives(
        *_three(
            run(
                RNEA_DERIVATIVES, robot, (q, v, qdd), f_ext=f_ext, parameters=parameters, out=out, threads=threads,
                **options,
            )
        )
    )  # fmt: skip


def _three(matrices: Array) -> Iterable[Array]:
    if matrices.ndim == 3:  # one sample
        return matrices
    return matrices[..., 0, :, :], matrices[..., 1, :, :], matrices[..., 2, :, :]
