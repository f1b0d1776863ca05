"""Sentences about a motion that is computed as asked, but hardly meant: through stops, far down, in degrees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.contact_model import SoftConstraints
from kinetree.functions.constraint_options import first_sample
from kinetree.functions.contact_reports import TOO_LONG, first_of, makes_energy, unsolved
from kinetree.functions.energy import kinetic_energy
from kinetree.model import Model
from kinetree.sim.torques import for_all_rows
from kinetree.sim.trajectory import Trajectory

__all__ = ["remarks"]

Array = NDArray[np.float64]
Parameters = Mapping[str, Array]

_INSIDE = 0.01
"""m that shapes may be inside each other at the start."""
_GAINED = 0.1
"""The part of the energies that contacts may have given in excess of that which they took."""
_APART = 1.0
"""m/s at which they push bodies apart that overlap at the start, which is more."""
_DEEP = 10.0
"""m that a base may fall."""
_MOST = 5
"""Stops that have a sentence of their own."""
_FAR = {"rad": 0.5, "m": 0.05}
"""Beyond a limit by more than this, and by more than the limits are apart, a start is far outside."""
_THROUGH = {"rad": 1e-2, "m": 1e-3}
"""Beyond a limit by more than this, and than at the start, a joint has gone through its stop."""
_SOFTLY = 10.0
"""Times that far, and as far as the limits are apart, where contacts hold joints at their limits."""
_UNLIMITED = "position limits are not enforced without contact=True (--contact)"
_TOO_SOFT = (
    'its limit is too soft for this force, or passed within a step: take setting="rigid", less force, an armature for '
    "the inertia of its motor, or smaller steps"
)


class _Limited(NamedTuple):
    """A coordinate that has limits."""

    column: int
    unit: str
    lower: float
    upper: float

    @property
    def far(self) -> float:
        """How far beyond a limit is far outside."""
        apart = self.upper - self.lower
        return max(_FAR[self.unit], apart if math.isfinite(apart) else 0.0)

    def beyond(self, q: Array) -> Array:
        """By how much a coordinate is outside, negative inside."""
        return np.asarray(np.maximum(self.lower - q, q - self.upper))

    def limit(self, value: float) -> str:
        """The limit that is exceeded, in words."""
        name, limit = ("upper", self.upper) if value > self.upper else ("lower", self.lower)
        return f"its {name} limit of {limit:g} {self.unit}"


def remarks(
    robot: Model, motion: Trajectory, gravity: Array, contact: SoftConstraints | None, parameters: Parameters
) -> list[str]:
    """One sentence about each thing that a user will want to know; `gravity`: (…, 3).

    With contacts joints end at their limits, which they exceed by a little then, and at most by all the way between
    them.
    """
    through: list[str] = []
    sentences: list[str] = []
    has_stored = False
    if motion.diverged:
        sentences.append(_diverged(motion))
        motion = _without_diverged(motion)
    for limited in _limited(robot, motion):
        q = motion.q[..., limited.column]
        start = q[..., 0]
        first = limited.beyond(start)
        far = np.asarray(first > limited.far)
        if far.any():
            sentences.append(_far(motion, limited, start, far))
        most = _THROUGH[limited.unit]
        if contact is not None:
            most = max(_SOFTLY * most, limited.upper - limited.lower)
        allowed = np.maximum(first, 0.0) + most
        outside = (limited.beyond(q) > allowed[..., None]) & ~far[..., None]
        if outside.any():
            through.append(_through(motion, limited, q, outside, _UNLIMITED if contact is None else _TOO_SOFT))
    if len(through) > _MOST:
        through[_MOST:] = [f"{len(through) - _MOST} more joints went through their stops"]
    if contact is not None:
        sentence = unsolved(motion.recorded["contact.error"], contact.setting, motion.time)
        sentences += [] if sentence is None else [sentence]
        inside = [*_inside(robot, motion, contact, parameters)]
        sentences += inside
        has_stored = bool(inside)
    return [
        *sentences,
        *_overflows(motion),
        *_energies(robot, motion, None if has_stored else contact, parameters),
        *through,
        *_falls(robot, motion, gravity, has_contacts=contact is not None),
    ]


def _diverged(motion: Trajectory) -> str:
    sample, first = min(motion.diverged.items(), key=lambda item: item[1].time)
    is_finite = all(divergence.cause not in ("state", "torque") for divergence in motion.diverged.values())
    what = "cannot go on" if is_finite else "are no longer finite"
    return (
        f"{len(motion.diverged):,} of {math.prod(motion.shape):,} motions {what} and stay where they "
        f"last were, the first of them {sample}: {first}; all are in motion.diverged"
    )


def _inside(robot: Model, motion: Trajectory, contact: SoftConstraints, parameters: Parameters) -> Iterator[str]:
    """Shapes that are inside each other where the motion began; a piece of a longer one did not begin."""
    from kinetree.functions.above_ground import deepest_overlap, free_bases

    if not motion.time.size or motion.time[0] != 0.0:
        return
    overlap = deepest_overlap(robot, contact, motion.q[..., 0, :], parameters)
    if overlap is not None and overlap.depth > _INSIDE:
        where = f" of sample {overlap.sample}" if overlap.sample else ""
        advice = "begin with another q"
        if free_bases(robot):
            advice += ", such as kt.contact.above_ground(robot, q), which raises what floats out of its ground"
        else:
            advice += ", or put the ground elsewhere (robot.on_ground(height))"
        yield (
            f"at the start{where} {overlap.second} and {overlap.first} are inside each other by {overlap.depth:.3g} m, "
            f"and contacts push them apart; {advice}"
        )


def _overflows(motion: Trajectory) -> Iterator[str]:
    infinite = np.isinf(motion.kinetic) | np.isinf(motion.potential)
    if infinite.any():
        sample, where = first_sample(np.asarray(infinite.any(axis=-1)))
        yield (
            f"the energy{where} is infinite from t = {motion.time[int(np.argmax(infinite[sample]))]:g} s on: states "
            "are finite, but too large for their energy; begin with smaller velocities, or take a step smaller than "
            f"{motion.dt:g} s"
        )


def _energies(
    robot: Model, motion: Trajectory, contact: SoftConstraints | None, parameters: Parameters
) -> Iterator[str]:
    """Energy that is made by steps, or by contacts: if energies are recorded."""
    is_every_step = motion.substeps == 1 and (np.diff(motion.time) < 1.5 * motion.dt).all()
    with np.errstate(all="ignore"):
        if is_every_step and motion.step_counts is None:  # otherwise velocities may turn around between rows
            more: Any = {"parameters": for_all_rows(robot, parameters) or None}
            change = kinetic_energy(robot, motion.q[..., 1:, :], np.diff(motion.v, axis=-2), **more)
            wrong = makes_energy(change, motion.kinetic)
            if wrong.any():
                part = f"{int(wrong.sum()):,} of {wrong.size:,} steps"
                yield f"{part} make energy, from {first_of(wrong, motion.time)} on: {TOO_LONG}"
        if contact is None or not _gives_nothing(contact):
            return
        scale = np.nanmax(motion.kinetic, axis=-1, initial=0.0) + np.ptp(motion.potential, axis=-1)
        mass = sum(body.inertia.mass for body in robot.bodies.values())
        gained = -motion.dissipated > (_GAINED * scale + 0.5 * mass * _APART**2)[..., None]
    if gained.any():
        sample, where = first_sample(np.asarray(gained.any(axis=-1)))
        row, own = int(np.argmax(gained[sample])), motion.dissipated[sample]
        yield (
            f"contacts and limits{where} have made energy since t = {motion.time[row]:g} s: they pushed "
            f"{-np.nanmin(own):.3g} J more into the motion than they took; take a smaller step or accurate rigid "
            "contacts, or begin with shapes and joints that are not beyond each other or their limits"
        )


def _gives_nothing(contact: SoftConstraints) -> bool:
    """Whether only bodies that were pressed together before give energy: no belts, adhesion or equalities."""
    is_moved = any(any(map(any, touch.surface_velocity)) or touch.adhesion for touch in contact.touches)
    return not (is_moved or contact.couplings or contact.connections or contact.loops or contact.tendons)


def _without_diverged(motion: Trajectory) -> Trajectory:
    """The motion, with samples that diverged at rest where they began: nothing more is reported about them."""
    q = motion.q.copy()
    for sample in motion.diverged:
        q[sample] = q[sample][:1]
    return replace(motion, q=q)


def _limited(robot: Model, motion: Trajectory) -> list[_Limited]:
    """The coordinates that are beyond their limits somewhere."""
    lower, upper = robot.lower, robot.upper
    beyond = (motion.q < lower) | (motion.q > upper)
    columns = np.flatnonzero(beyond.any(axis=(*range(beyond.ndim - 1),)))
    units = motion.q_units
    return [_Limited(int(k), units[k], float(lower[k]), float(upper[k])) for k in columns if units[k]]


def _far(motion: Trajectory, limited: _Limited, start: Array, far: NDArray[np.bool_]) -> str:
    sample, where = first_sample(far)
    value, unit = float(start[sample]), limited.unit
    hint = ""
    if unit == "rad" and abs(value) > 2.0 * math.pi:
        hint = f"; angles are in radians: {value:g} degrees are {math.radians(value):.4g} rad"
    return (
        f"{motion.q_names[limited.column]!r} starts at {value:g} {unit}{where}, far beyond {limited.limit(value)}{hint}"
    )


def _through(motion: Trajectory, limited: _Limited, q: Array, outside: NDArray[np.bool_], reason: str) -> str:
    sample, where = first_sample(np.asarray(outside.any(axis=-1)))
    row, own = int(np.argmax(outside[sample])), q[sample]
    value, farthest = float(own[row]), int(np.argmax(limited.beyond(own)))
    return (
        f"{motion.q_names[limited.column]!r}{where} went through its stop at t = {motion.time[row]:g} s: "
        f"{value:.4g} {limited.unit}, beyond {limited.limit(value)}, and as far as {own[farthest]:.4g} {limited.unit} "
        f"at t = {motion.time[farthest]:g} s; {reason}"
    )


def _falls(robot: Model, motion: Trajectory, gravity: Array, *, has_contacts: bool) -> Iterator[str]:
    advice = "there is no ground; put it on one (robot.on_ground(), contact=True; in the terminal --on ground), hold "
    advice += "its feet with constraints, or load it with a fixed base"
    if has_contacts and not robot.floating_base:
        advice = "its support ends there, slopes on, or does not touch it (see kt.contact.contact_pairs(robot))"
    if 6 not in [kind.nv for kind in robot.tree.joint]:
        return
    for joint in robot.joints.values():
        if joint.parent not in ("", robot.root) or joint.kind.nv != 6:
            continue
        columns = (
            [k for k in range(robot.nq)[joint.q_slice] if motion.q_units[k] == "m"] if joint.has_coordinates else []
        )
        strength = np.linalg.norm(gravity, axis=-1)
        if len(columns) != 3 or not np.all(strength > 0.0):
            continue
        axes = np.array([row.components() for row in (joint.placement.E.x, joint.placement.E.y, joint.placement.E.z)])
        down = (axes @ (gravity / strength[..., None])[..., None])[..., 0]
        moved = motion.q[..., columns] - motion.q[..., :1, columns]
        fallen = (moved * down[..., None, :]).sum(axis=-1)
        deep = fallen > _DEEP
        if deep.any():
            sample, where = first_sample(np.asarray(deep.any(axis=-1)))
            row, most = int(np.argmax(deep[sample])), int(np.argmax(fallen[sample]))
            yield (
                f"the base{where}, on {joint.name!r}, has fallen by {fallen[sample][row]:.4g} m at "
                f"t = {motion.time[row]:g} s, and by {fallen[sample][most]:.4g} m at t = {motion.time[most]:g} s: "
                f"{advice}"
            )
