"""Motions of many steps inside one kernel, as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.arguments import check_robot, real_array
from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Scalar
from kinetree.function import Array, Definition, Slots, defined_by, run
from kinetree.model import Model, regrouped
from kinetree.spatial import Force

__all__ = ["rollout"]

Integrator = Literal["semi_implicit_euler", "rk4"]
_STEPS: dict[str, Callable[..., tuple[Slots, Slots]]] = {
    "semi_implicit_euler": algorithms.semi_implicit_euler,
    "rk4": algorithms.rk4,
}
_PIECE = 64
"""Steps in one kernel: longer motions run it again, so that a new length compiles nothing."""


def _step(
    model: Model, q: Slots, v: Slots, tau: Slots, dt: Scalar, *, integrator: str, f_ext: Mapping[int, Force]
) -> tuple[Slots, Slots]:
    return _STEPS[integrator](regrouped(model.tree), q, v, tau, dt, f_ext)


def _integrator(_: Model, value: Any) -> Hashable:
    if not isinstance(value, str) or value not in _STEPS:
        raise OptionError(f"integrator must be {' or '.join(map(repr, _STEPS))}, not {value!r}")
    return value


def _steps(_: Model, value: Any) -> Hashable:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise OptionError(f"steps must be a whole number of at least 1, not {value!r}")
    return value


ROLLOUT = Definition(
    "rollout",
    (("q", "nq"), ("v", "nv"), ("tau", "nv")),
    (),
    _step,
    {"integrator": _integrator, "steps": _steps},
    takes_forces=True,
    divides_by_inertia=True,
    is_step=True,
)


@defined_by(ROLLOUT)
def rollout(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    f_ext: Mapping[str, ArrayLike] | None = None,
    *,
    integrator: Integrator = "semi_implicit_euler",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The states that joint forces lead to, step after step, many motions at once.

    All steps run inside a kernel, and motions side by side in its lanes and on threads. Rigid bodies, rotor inertias
    and gravity, as in `aba`; joint damping, friction and limits are not part of it (see `kt.simulate`).

    Args:
        robot: the robot.
        q: initial configuration (…, nq); rad, m, unit quaternions.
        v: initial velocity (…, nv); rad/s, m/s.
        tau: joint forces, a row a step and held over it (…, T, nv); N·m, N.
        dt: length of a step (…), s.
        f_ext: external wrenches by frame name, the same at every step: [f; n] (…, 6) in the frame's own axes; N, N·m.
        integrator: "semi_implicit_euler" (order one) or "rk4" (order four, four times the work; on the configuration
            manifold, so that quaternions stay quaternions).
        parameters: other numbers for some of the robot's parameters, as for `aba`; see docs/parameters.md.
        out: where to put the result, (…, T, nq + nv), of the result's dtype.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        The states after each step, [q, v] (…, T, nq + nv).

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.
        OptionError: there is no such integrator.

    `kt.compile(robot, kt.rollout, steps=T)` has all T steps in one kernel; its arguments are q, v, tau and dt.

    Source: Celledoni, Marthinsen, Owren, "Commutator-free Lie group methods" (2003), for "rk4".

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> states = kt.rollout(robot, robot.neutral(), np.zeros(2), np.zeros((500, 2)), 0.001)
    >>> states.shape
    (500, 4)
    """
    model = check_robot(robot)
    tau = real_array("tau", tau, f"(…, T, {model.nv})")
    n, total = model.nq + model.nv, tau.shape[-2] if tau.ndim > 1 else 0
    if tau.ndim < 2 or tau.shape[-1] != model.nv:
        raise ShapeError(
            f"rollout: tau has shape {tau.shape}, but {model.name!r} needs (…, T, {model.nv}), a row a step"
        )
    if isinstance(out, np.ndarray) and out.shape[-2:] != (total, n):
        raise ShapeError(f"rollout: out has shape {out.shape}, but the result has (…, {total}, {n})")
    pieces: list[Array] = []
    start = 0
    while start < total:
        steps = _PIECE if total - start >= _PIECE else 1
        part = slice(start, start + steps)
        piece = run(
            ROLLOUT,
            model,
            (q, v, tau[..., part, :], dt),
            f_ext=f_ext,
            parameters=parameters,
            out=out[..., part, :] if isinstance(out, np.ndarray) else out,
            threads=threads,
            integrator=integrator,
            steps=steps,
        )
        pieces.append(piece)
        q, v = piece[..., -1, : model.nq], piece[..., -1, model.nq :]
        start += steps
    if out is not None:
        return out
    return np.concatenate(pieces, axis=-2) if pieces else np.zeros((*tau.shape[:-2], 0, n))
