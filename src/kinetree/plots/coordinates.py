"""Panels of the joints' motion: positions, velocities, accelerations and torques."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kinetree.errors import OptionError
from kinetree.plots.choice import Choice, matches
from kinetree.plots.series import Array, Line, Panel, Seen
from kinetree.sim.trajectory import Trajectory

__all__ = ["coordinate_panels", "degree_panels", "turned"]

_FLOOR = 1e-3
"""rad, m."""
_LABELS = {"rad": "joint angle, rad", "m": "joint position, m", "": "coordinate"}
_DEGREES = {
    "velocities": ("velocity", {"rad": "rad/s", "m": "m/s"}),
    "accelerations": ("acceleration", {"rad": "rad/s²", "m": "m/s²"}),
    "torques": ("torque", {"rad": "N·m", "m": "N"}),
}
_PARTS = {"wx": "rad", "wy": "rad", "wz": "rad", "vx": "m", "vy": "m", "vz": "m"}
"""Quantities of a joint's degrees of freedom, by the part in their name."""


def coordinate_panels(motion: Trajectory, seen: Seen, choice: Choice) -> Iterator[Panel]:
    """Positions, by their unit; a position next to a quaternion is that of a floating base."""
    q = seen.of(motion.q)
    for label, own in _by_unit(motion):
        shown = [k for k in own if is_chosen(choice, motion.q_joints[k], motion.q_names[k])]
        if shown:
            lines = [Line(motion.q_names[k], q[..., k]) for k in shown]
            yield Panel(label, lines, _FLOOR)
    turns = [
        Line(name, turned(q[..., k : k + 4]), attitudes=q[..., k : k + 4])
        for name, k in motion.quaternions
        if is_chosen(choice, motion.q_joints[k], name)
    ]
    if turns:
        yield Panel("turned since\nthe start, rad", turns, _FLOOR)


def degree_panels(motion: Trajectory, seen: Seen, choice: Choice, word: str) -> Iterator[Panel]:
    """Velocities, accelerations or torques, those of hinges and those of sliders apart.

    Raises OptionError if they were not recorded.
    """
    noun, units = _DEGREES[word]
    x = {"velocities": motion.v, "accelerations": motion.qdd, "torques": motion.tau}[word]
    if word == "accelerations" and np.isnan(x).all():
        raise OptionError('plot: the accelerations were not recorded; simulate with record=["accelerations"]')
    values = seen.of(x)
    of_coordinate = dict(zip(motion.q_names, motion.q_units, strict=True))
    by_unit: dict[str, list[int]] = {"rad": [], "m": [], "": []}
    for k, name in enumerate(motion.v_names):
        joint, _, part = name.rpartition(".")
        if is_chosen(choice, name if name in motion.q_joints else joint, name):
            by_unit[of_coordinate[name] if name in of_coordinate else _PARTS.get(part, "")].append(k)
    for unit, columns in by_unit.items():
        if columns:
            label = f"{'force' if (word, unit) == ('torques', 'm') else noun}, {units[unit]}" if unit else noun
            yield Panel(label, [Line(motion.v_names[k], values[..., k]) for k in columns], 1e-3, word)


def is_chosen(choice: Choice, joint: str, name: str) -> bool:
    """Whether a coordinate of a joint is asked for."""
    return choice.joints is None or any(matches(joint, one) or matches(name, one) for one in choice.joints)


def turned(q: Array, start: Array | None = None) -> Array:
    """Angle between quaternions (…, K, 4) and the first of each, or others (…, K, 4)."""
    unit = q / np.linalg.norm(q, axis=-1, keepdims=True)
    other = unit[..., :1, :] if start is None else start / np.linalg.norm(start, axis=-1, keepdims=True)
    apart, along = np.linalg.norm(unit - other, axis=-1), np.linalg.norm(unit + other, axis=-1)
    angle: Array = 4.0 * np.arctan2(np.minimum(apart, along), np.maximum(apart, along))
    return angle


def _by_unit(motion: Trajectory) -> Sequence[tuple[str, list[int]]]:
    """(label, columns of q) of each panel."""
    quaternions = {k + part for _, k in motion.quaternions for part in range(4)}
    floating = {motion.q_joints[k] for k in quaternions}
    base: list[int] = []
    by_unit: dict[str, list[int]] = {"rad": [], "m": [], "": []}
    for k, (joint, unit) in enumerate(zip(motion.q_joints, motion.q_units, strict=True)):
        if k not in quaternions:
            (base if joint in floating and unit == "m" else by_unit[unit]).append(k)
    panels = [("base position, m", base)] if base else []
    return panels + [(_LABELS[unit], columns) for unit, columns in by_unit.items() if columns]
