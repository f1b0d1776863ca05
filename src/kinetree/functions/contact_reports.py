"""Reports of steps that cannot be trusted: contacts that were not solved, and energy out of nothing.

Each step's convex problem is solved by a fixed number of iterations at most (`algorithms/convex_dynamics.py`), which
nearly always end before with an error below 1e-10. Steps where they do not are never hidden.

A step that is too long for a stiff force turns velocities around again and again: ½ Δvᵀ M Δv is then as large as the
kinetic energy in every step, and this does not fall. An impact does so once, and motion that is damped within a step
loses its energy.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.definition import Array
from kinetree.contact_model import Rigid, Setting
from kinetree.errors import SimulationWarning
from kinetree.functions.energy import kinetic_energy
from kinetree.model import Model

__all__ = [
    "MOST_ERROR",
    "TOO_LONG",
    "EvaluatedRollout",
    "ReportedRollout",
    "first_of",
    "flagged",
    "makes_energy",
    "unsolved",
    "warn_of_unsolved",
]

MOST_ERROR = {"float64": 1e-8, "float32": 1e-3}
"""The largest error of a step that counts as solved, relative to its accelerations."""
ADVICE = "smaller steps help, a lower impratio, or less friction (`kinetree docs contact`)"
ACCURATE_ADVICE = "smaller steps help, or less friction (`kinetree docs contact`)"
MOST_RESIDUAL = 1e-6
"""The same for accurate rigid contacts, m/s."""
MOST_OF_ONE_ROUND = 1.0
"""The same for other rigid contacts, m/s: the speed at which they push overlapping bodies apart."""
ROUNDS_ADVICE = (
    'contact=kt.contact.soft_constraints(robot, setting="rigid", accurate=True) solves them (`kinetree docs contact`)'
)
_CHANGE = 0.5
"""A step changes velocities too much if the kinetic energy of the change is more than this part of the energy there."""
_KEPT = 0.5
"""The part of the kinetic energy that is left after so many steps where they do not damp."""
_AT_REST = 1e-10
"""The part of the most kinetic energy so far at which a motion rests: only errors of rounding turn around."""
_IN_A_ROW = 8
"""So many such steps, one after the other, are neither an impact nor a swing that steps resolve: at up to 1.5 rad per
step, some of these have velocities that hardly change."""


class ReportedRollout(NamedTuple):
    """The result of `kt.rollout` with `report=True`."""

    states: Array
    """The states after each step, [q, v] (…, T, nq + nv)."""
    contact_error: Array
    """A bound on the relative error of each step's accelerations (…, T), of its worst stage; of rigid contacts the
    residual in m/s."""
    flagged: NDArray[np.bool_]
    """Steps (…, T) that were not solved, or that make energy: their states are not to be trusted."""


class EvaluatedRollout(NamedTuple):
    """The result of `kt.rollout` with `report="evaluated"`."""

    states: Array
    """The states after each step, [q, v] (…, T, nq + nv), and the activations of actuators."""
    q: Array
    """The configuration at which each step evaluated forces last (…, T, nq)."""
    v: Array
    """The velocity there (…, T, nv)."""
    qdd: Array
    """The acceleration at which contacts and limits pushed there (…, T, nv)."""


def most_error(error: Array, setting: Setting) -> float:
    """The largest error of a step that counts as solved. One round of rigid contacts is not meant to solve them."""
    if not isinstance(setting, Rigid):
        return MOST_ERROR[error.dtype.name]
    return max(MOST_RESIDUAL, setting.tolerance) if setting.accurate else MOST_OF_ONE_ROUND


def advice(setting: Setting) -> str:
    """Advice for contacts that were not solved."""
    if not isinstance(setting, Rigid):
        return ADVICE
    return ACCURATE_ADVICE if setting.accurate else ROUNDS_ADVICE


def makes_energy(change: Array, kinetic: Array) -> NDArray[np.bool_]:
    """Steps (…, T) that are too long for the forces, several in a row over which energy does not fall.

    `change`: ½ Δvᵀ M Δv (…, T); `kinetic`: energies at all rows (…, T + 1).

    >>> import numpy as np
    >>> impact, turning = [0, 2, 0, 0, 0, 0, 0, 0, 0], [4, 4, 4, 4, 4, 4, 4, 4, 4]
    >>> makes_energy(np.array([impact, turning]), np.ones((2, 10))).all(axis=-1)
    array([False,  True])
    >>> makes_energy(np.array([*impact, *turning]), np.array([1e12, *impact, *turning])).any()  # at rest
    np.False_
    """
    n = _IN_A_ROW
    with np.errstate(invalid="ignore"):
        there = np.maximum(kinetic[..., :-1], kinetic[..., 1:])
        wrong = (change > _CHANGE * there) & (there > _AT_REST * np.fmax.accumulate(kinetic, axis=-1)[..., 1:])
        flags = np.zeros_like(wrong)
        for k in range(wrong.shape[-1] - n + 1):
            lasts = kinetic[..., k + n] > _KEPT * kinetic[..., k]
            flags[..., k : k + n] |= (wrong[..., k : k + n].all(axis=-1) & lasts)[..., None]
    return flags


def first_of(flagged: NDArray[np.bool_], times: Array | None = None) -> str:
    """Where the first of some steps (…, T) is, in words."""
    sample = tuple(int(k) for k in np.argwhere(flagged.any(axis=-1))[0]) if flagged.ndim > 1 else ()
    step = int(np.argmax(flagged[sample]))
    return (f"step {step}" if times is None else f"t = {times[step]:g} s") + (f" of sample {sample}" if sample else "")


TOO_LONG = (
    "velocities turn around in every step, so the step is too long for a stiff controller, servo or spring, and its "
    'energy is not real; take integrator="discrete" with servos as actuators (robot.with_servos, ctrl=), smaller gains '
    "or a smaller step"
)


def unsolved(error: Array, setting: Setting = None, times: Array | None = None) -> str | None:
    """A sentence about the steps (…, T) whose contacts were not solved, and advice; None if all of them were.

    With `times` (T,), those of the rows of a trajectory; each row has the largest error of the steps from it on.

    >>> import numpy as np
    >>> unsolved(np.array([1e-12, 3e-5])).partition(";")[0]
    'the contacts of 1 of 2 steps are not solved to 1e-08: the worst is step 1, with a relative error of 3e-05'
    >>> unsolved(np.array([1e-12, np.nan])) is None
    True
    """
    full = np.isposinf(error)
    if full.any():
        return (
            f"more pairs of shapes touch at once than there is room for, in {np.count_nonzero(full):,} of "
            f"{error.size:,} {'steps' if times is None else 'rows'}, from {first_of(full, times)} on, so that some of "
            "them do not push: give more, as contact=kt.contact.soft_constraints(robot, capacity=20_000)"
        )
    most, what = most_error(error, setting), "a relative error of {:.1g}"
    if isinstance(setting, Rigid):
        what = "a residual of {:.1g} m/s"
    with np.errstate(invalid="ignore"):
        count = int((error > most).sum())
    if not count:
        return None
    *sample, step = (int(k) for k in np.unravel_index(np.nanargmax(error), error.shape))
    where = f"step {step}" if times is None else f"at t = {times[step]:g} s"
    where += f" of sample {sample}" if sample else ""
    rows = "steps" if times is None else "rows"
    return (
        f"the contacts of {count:,} of {error.size:,} {rows} are not solved to {most:g}: the worst is {where}, with "
        + what.format(error.max(where=~np.isnan(error), initial=0.0))
        + f"; {advice(setting)}"
    )


def warn_of_unsolved(function: str, error: Array, stacklevel: int, setting: Setting = None) -> None:
    """Warn of steps whose contacts were not solved, if there are such."""
    if (message := unsolved(error, setting)) is not None:
        warnings.warn(f"{function}: {message}", SimulationWarning, stacklevel=stacklevel + 1)


def flagged(
    function: str,
    robot: Model,
    setting: Setting,
    start: tuple[ArrayLike, ArrayLike],
    states: Array,
    error: Array,
    parameters: Mapping[str, ArrayLike] | None,
    stacklevel: int,
    divided: bool | NDArray[np.bool_] = False,
) -> NDArray[np.bool_]:
    """The steps (…, T) to these states (…, T, nq + nv) that were not solved or make energy; a warning names the latter.

    `start`: q (…, nq) and v (…, nv) before the first one. `divided`: the motions (…) some steps of which were divided,
    where velocities may turn around between rows.
    """
    if not states.shape[-2]:
        return np.zeros(error.shape, bool)
    parts = zip(start, np.split(states[..., : robot.nq + robot.nv], (robot.nq,), axis=-1), strict=True)
    q, v = (
        np.concatenate((np.broadcast_to(np.asarray(x)[..., None, :], (*y.shape[:-2], 1, y.shape[-1])), y), axis=-2)
        for x, y in parts
    )
    given = {
        name: np.expand_dims(np.asarray(x), np.ndim(x) - robot.parameter(name).ndim)
        for name, x in (parameters or {}).items()
        if not name.endswith("[:]")
    } or None
    with np.errstate(all="ignore"):
        kinetic = kinetic_energy(robot, q, v, parameters=given)
        change = np.asarray(kinetic_energy(robot, q[..., 1:, :], np.diff(v, axis=-2), parameters=given))
        wrong = makes_energy(change, kinetic) & ~np.asarray(divided)[..., None]
        flags: NDArray[np.bool_] = wrong | (error > most_error(error, setting))
    if wrong.any():
        where = first_of(wrong)
        message = f"{function}: {int(wrong.sum()):,} of {wrong.size:,} steps make energy, from {where} on: {TOO_LONG}"
        warnings.warn(message, SimulationWarning, stacklevel=stacklevel + 1)
    return flags
