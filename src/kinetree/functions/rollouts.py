"""Motions of many steps in one kernel, as a function of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import check_out
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.errors import OptionError, ShapeError, nearest_names
from kinetree.expr import Scalar
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.inputs import real_array
from kinetree.model import Model, check_robot
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force

__all__ = ["integrator_option", "rollout"]

Integrator = Literal["semi_implicit_euler", "rk4"]
_MOST_STEPS = 1_000_000
"""Maximum for a kernel that a user compiles, which holds all its inputs and results in memory, per lane and thread."""


def _step(
    model: Form,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Scalar,
    *,
    integrator: str,
    passive: Sequence[str],
    limits: bool,
    f_ext: Callable[[Slots], Mapping[int, Force]],
) -> tuple[Slots, Slots]:
    method = algorithms.INTEGRATORS[integrator]
    return algorithms.step(model.tree, method, q, v, tau, dt, f_ext, passive, limits)


def integrator_option(_: Model, value: Any) -> Hashable:
    """The name of an integrator."""
    if not isinstance(value, str):
        raise OptionError(f"integrator must be {' or '.join(map(repr, algorithms.INTEGRATORS))}, not {value!r:.60}")
    if value not in algorithms.INTEGRATORS:
        raise OptionError(f"there is no integrator {value!r:.60}: {nearest_names(str(value), algorithms.INTEGRATORS)}")
    return value


def _steps(_: Model, value: Any) -> Hashable:
    try:
        steps = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        steps = 0
    if not 1 <= steps <= _MOST_STEPS:
        raise OptionError(
            f"steps must be a whole number from 1 to {_MOST_STEPS}, such as steps=100, not {value!r:.60}; "
            "kt.rollout itself takes any number"
        )
    return steps


ROLLOUT = Definition(
    "rollout",
    (("q", "nq"), ("v", "nv"), ("tau", "forces")),
    (),
    _step,
    {"integrator": integrator_option, "passive": passive_option, "limits": limits_option, "steps": _steps},
    takes_forces=True,
    divides_by_inertia=True,
    is_step=True,
    regroups=True,
)
_ANY_LENGTH = replace(ROLLOUT, options={name: check for name, check in ROLLOUT.options.items() if name != "steps"})
"""A rollout of one step per row of tau in the call, so that a new number of steps compiles nothing."""


@defined_by(ROLLOUT)
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    integrator: Integrator = "semi_implicit_euler",
    passive: Passive = False,
    limits: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The states that joint forces lead to, step by step, for many motions at once.

    All steps run inside one kernel, with motions side by side in its lanes and on threads. The model has rigid bodies,
    rotors and gravity, as in `aba`, and on request friction, springs and motor limits.

    Args:
        robot: the robot.
        q: initial configuration (…, nq); rad, m, unit quaternions.
        v: initial velocity (…, nv); rad/s, m/s.
        tau: joint forces (…, T, nv), one row per step and constant over it; N·m, N.
        dt: length of a step (…), s.
        f_ext: external wrenches (…, 6) by frame name, `kt.WrenchOn` or `kt.ForceOn`, as for `aba`: the same numbers at
            every step, while those in the world's axes turn as seen from the bodies.
        integrator: "semi_implicit_euler" (order one; a body that spins freely gains speed over many steps, as its
            velocity is in its own axes) or "rk4" (order four, four times the work). Both move on the configuration
            manifold, so that quaternions stay quaternions.
        passive: which passive forces of the joints act besides tau, as for `aba`. Semi-implicit Euler takes friction at
            the new velocity: it brakes without overshooting however stiff it is. With "rk4" a step must resolve
            friction, and with both it must resolve springs; `kt.simulate` divides its steps where it must, a rollout
            does not.
        limits: whether motors are limited in effort and velocity, as for `aba`.
        parameters: values that override some of the robot's parameters, as for `aba`; see docs/parameters.md.
        out: where to put the result, (…, T, nq + nv), of the result's dtype.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        The states after each step, [q, v] (…, T, nq + nv).

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.
        OptionError: there is no such integrator or passive force.

    The kernel runs as many steps as tau has rows, so a different number of steps compiles nothing new.
    `kt.compile(robot, kt.rollout, steps=T)` is a kernel for exactly T steps, at most a million; its arguments are
    q, v, tau and dt, and its results are identical to the bit.

    Source: Celledoni, Marthinsen, Owren, "Commutator-free Lie group methods" (2003), for "rk4".

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> states = kt.rollout(robot, robot.neutral(), np.zeros(2), np.zeros((500, 2)), 0.001)
    >>> states.shape
    (500, 4)
    """
    model = check_robot(robot)
    tau = real_array("tau", tau, f"(…, T, {model.nv})")
    if tau.ndim < 2 or tau.shape[-1] != model.nv:
        raise ShapeError(
            f"rollout: tau has shape {tau.shape}, but {model.name!r} needs (…, T, {model.nv}), one row per step"
        )
    switches = switched_on(model, passive, limits)
    some = tau if tau.shape[-2] else np.zeros((*tau.shape[:-2], 1, model.nv), tau.dtype)  # none: run one, drop it
    into = out if some is tau else None
    states = run(
        _ANY_LENGTH, model, (q, v, some, dt), f_ext=f_ext, parameters=parameters, out=into, threads=threads,
        integrator=integrator, **switches,
    )  # fmt: skip
    if some is tau:
        return states
    if out is None:
        return states[..., :0, :]
    check_out("rollout", out, (*states.shape[:-2], 0, states.shape[-1]), states.dtype)
    return out
