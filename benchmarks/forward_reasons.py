"""Why a number differs from MuJoCo's, where a computation shows it: for the table of mujoco_forward.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from beside_mujoco import Beside
from forward_state import Array, Motion, State, relative
from kinetree.algorithms.convex_dynamics import Block

__all__ = ["decided_by_rounding", "within_rounding"]

_ROUNDINGS = 256 * 2.0**-53
"""As many as may add up in J, J a and a_ref: some 50 for each body on the way to a contact."""


def decided_by_rounding(
    beside: Beside, state: State, ours: Array, theirs: Callable[[Array, Array], Array], same: float
) -> tuple[str, float]:
    """A reason if MuJoCo has kinetree's numbers 1e-12 away: then its own jump there.

    `theirs` takes them from its accelerations and sensors.
    """
    if any(relative(ours, theirs(*found)) <= same for found in beside.around(state)):
        return "rounding decides: 1e-12 away, MuJoCo has kinetree's numbers", 0.0
    return "", 0.0


def within_rounding(motion: Motion, state: State) -> tuple[str, float]:
    """A reason if forces of rows differ by no more than J a - a_ref do, times the weight of the rows.

    The accelerations a are the same to `SAME` where this is asked; the rest is rounding.
    """
    rows = [_Rows(block, motion.qdd) for block in motion.blocks]
    apart = np.abs(motion.qdd - state.qdd)
    uncertain = {id(block): one.uncertainty(apart) for block, one in zip(motion.blocks, rows, strict=True)}
    joints = sum((np.abs(one.J).T @ uncertain[id(one.block)] for one in rows), np.zeros(len(motion.qdd)))
    wrenches: dict[tuple[int, int], float] = {}
    for contact in motion.contacts:
        key = (min(contact.bodies), max(contact.bodies))
        arm = 1.0 + float(np.linalg.norm(contact.point.position.components()))
        wrenches[key] = wrenches.get(key, 0.0) + arm * uncertain[id(contact.block)].sum()
    ours, none = motion.wrenches, np.zeros(6)
    off = {key: np.abs(ours.get(key, none) - state.wrenches.get(key, none)).max() for key in {*ours, *state.wrenches}}
    if np.abs(motion.constraint - state.constraint).max() > joints.max():
        return "", 0.0
    if any(error > wrenches.get(key, 0.0) for key, error in off.items()):
        return "", 0.0
    hardest = max(float(np.abs(one.weight).max()) for one in rows)
    return "forces of rows as hard as {:.0e} kg differ as rounding of J q̈ does", hardest


class _Rows:
    """A block of rows at an acceleration."""

    def __init__(self, block: Block, a: Array) -> None:
        self.block = block
        self.J = np.array(block.J, dtype=float)
        self.reference = np.array(block.reference, dtype=float)
        self._size = np.abs(self.J) @ np.abs(a) + np.abs(self.reference)
        x = self.J @ a - self.reference
        pressed = np.array([x[0] - _ROUNDINGS * self._size[0], *x[1:]])
        self.weight = np.maximum(np.abs(self._weight(x)), np.abs(self._weight(pressed)))
        """The larger one of here and where the first row pushes, if rounding decides whether it does."""

    def _weight(self, x: Array) -> Array:
        lower = self.block.cost.at(x.tolist()).weight
        found = np.zeros((len(lower), len(lower)))
        for k, row in enumerate(lower):
            found[k, : len(row)] = found[: len(row), k] = np.array(row, dtype=float)
        return found

    def uncertainty(self, apart: Array) -> Array:
        """How far rounding of J a - a_ref may move the forces, and accelerations that differ by so much."""
        found: Array = np.abs(self.weight) @ (_ROUNDINGS * self._size + np.abs(self.J) @ apart)
        return found
