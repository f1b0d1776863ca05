"""The configuration manifold, as functions of arrays: derivatives of steps, and rates of coordinates.

`integrate` and `difference` themselves are in `kinetree.functions.kinematics`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.model import Model

__all__ = ["coordinate_rates", "difference_jacobian", "integrate_jacobian"]


def _wrt(*names: str) -> Callable[[Model, Any], Hashable]:
    """The option that says which argument to differentiate by, as its index."""

    def check(_: Model, value: Any) -> int:
        if not isinstance(value, str) or value not in names:
            raise OptionError(f"wrt must be {names[0]!r} or {names[1]!r}, not {value!r:.60}")
        return names.index(value)

    return check


def _coordinate_rates(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    return model.tree.joined(algorithms.coordinate_rates(model.tree, q, v), "rates")


def _integrate_jacobian(model: Form, q: Slots, v: Slots, *, wrt: int) -> list[Scalar]:
    return algorithms.integrate_jacobian(model.tree, q, v, wrt).flat()


def _difference_jacobian(model: Form, q0: Slots, q1: Slots, *, wrt: int) -> list[Scalar]:
    return algorithms.difference_jacobian(model.tree, q0, q1, wrt).flat()


_Q, _V = ("q", "nq"), ("v", "nv")
COORDINATE_RATES = Definition("coordinate_rates", (_Q, _V), ("nq",), _coordinate_rates, takes_parameters=False)
INTEGRATE_JACOBIAN = Definition(
    "integrate_jacobian",
    (_Q, _V),
    ("nv", "nv"),
    _integrate_jacobian,
    {"wrt": _wrt("q", "v")},
    takes_parameters=False,
)
DIFFERENCE_JACOBIAN = Definition(
    "difference_jacobian",
    (("q0", "nq"), ("q1", "nq")),
    ("nv", "nv"),
    _difference_jacobian,
    {"wrt": _wrt("q0", "q1")},
    takes_parameters=False,
)


@defined_plainly_by(COORDINATE_RATES)
def coordinate_rates(
    robot: Model, q: ArrayLike, v: ArrayLike, *, out: Array | None = None, threads: int | None = None
) -> Array:
    """q̇: the rates of change of the entries of q at velocity v.

    For joints whose coordinate is an angle or a length it is v; for a quaternion it is half its product with the
    angular velocity, in the moving body's axes.

    Returns:
        q̇ (…, nq); rad/s, m/s, and 1/s for quaternions. If a quaternion is not of unit length, q̇ preserves its length.

    Source: Featherstone, RBDA (2008), section 4.5.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("quadruped")
    >>> q, v = robot.neutral(), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0] + [0.0] * (robot.nv - 6)
    >>> kt.kinematics.coordinate_rates(robot, q, v)[3:6].tolist()
    [0.0, 0.0, 0.5]
    """
    return run(COORDINATE_RATES, robot, (q, v), out=out, threads=threads)


@defined_by(INTEGRATE_JACOBIAN)
def integrate_jacobian(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    wrt: Literal["q", "v"],
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The derivative of `integrate(robot, q, v)`, from displacements to displacements.

    A displacement δ (nv,) of a configuration q leads to `integrate(robot, q, δ)`. With A the derivative by "q" and B
    that by "v", `integrate` of the displaced q and of v + ε is displaced by A δ + B ε, to first order.

    Args:
        v: velocity (…, nv), taken for unit time.
        wrt: the variable of differentiation, "q" or "v".

    Returns:
        Matrix (…, nv, nv) with one block per joint; the identity for joints with q̇ = v.

    Raises:
        OptionError: wrt is neither.

    Source: Solà, Deray and Atchuthan, "A micro Lie theory for state estimation in robotics", arXiv:1812.01537,
    appendices B and D: the adjoint of the step's inverse by "q", the right Jacobian of the exponential map by "v".

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.integrate_jacobian(robot, [0.5, 0.0], [0.25, 1.0], wrt="v").tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return run(INTEGRATE_JACOBIAN, robot, (q, v), wrt=wrt, out=out, threads=threads)


@defined_by(DIFFERENCE_JACOBIAN)
def difference_jacobian(
    robot: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    *,
    wrt: Literal["q0", "q1"],
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The derivative of `difference(robot, q0, q1)` by a displacement of q0 or of q1.

    A displacement δ (nv,) of a configuration q leads to `integrate(robot, q, δ)`. With A the derivative by "q0" and B
    that by "q1", the `difference` of configurations displaced by δ0 and δ1 changes by A δ0 + B δ1, to first order.

    Args:
        q0: configuration (…, nq).
        q1: configuration (…, nq).
        wrt: the variable of differentiation, "q0" or "q1".

    Returns:
        Matrix (…, nv, nv) with one block per joint; plus or minus the identity for joints with q̇ = v. Between
        orientations half a turn apart `difference` jumps; this is the derivative on one side.

    Raises:
        OptionError: wrt is neither.

    Source: Solà, Deray and Atchuthan, "A micro Lie theory for state estimation in robotics", arXiv:1812.01537,
    appendices B and D: inverses of the left and of the right Jacobian of the exponential map.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.kinematics.difference_jacobian(robot, [0.5, 0.0], [0.75, 1.0], wrt="q0").tolist()
    [[-1.0, 0.0], [0.0, -1.0]]
    """
    return run(DIFFERENCE_JACOBIAN, robot, (q0, q1), wrt=wrt, out=out, threads=threads)
