"""The worst disagreement in each quantity, as it is gathered."""

from __future__ import annotations

from kinetree.comparison.result import Quantity

__all__ = ["SCALES", "Tally"]

SCALES = {
    "total mass": "the larger of the two",
    "masses": "the body's mass",
    "centers of mass": "the robot's size",
    "inertias": "the body's inertia about its frame",
    "placements": "the robot's size, or rad",
    "joint axes": "rad, or the robot's size",
    "frames": "the robot's size, or rad",
    "limits": "the limit, or 1",
    "drives": "the larger of the two",
    "mass matrix": "√(M_ii M_jj), entry by entry",
    "bias forces": "the largest h_i / √M_ii, or the largest √M_ii",
    "gravity forces": "the largest h_i / √M_ii, or the largest √M_ii",
}
"""The scales of the errors of each quantity. "drives" are armature, damping, friction and stiffness."""


class Tally:
    """Errors of quantities, as they are found."""

    def __init__(self) -> None:
        self._worst: dict[str, tuple[float, str]] = {}
        self._count: dict[str, int] = {}
        self._problem: dict[str, str] = {}

    def add(self, quantity: str, error: float, where: str) -> None:
        """One more comparison in this quantity; an error that is NaN counts as infinite."""
        error = error if error == error else float("inf")
        self._count[quantity] = self._count.get(quantity, 0) + 1
        if quantity not in self._worst or error > self._worst[quantity][0]:
            self._worst[quantity] = error, where

    def fail(self, quantity: str, problem: str) -> None:
        """A quantity that could not be compared."""
        self._problem[quantity] = problem

    def worst(self, quantity: str) -> tuple[float, str]:
        """(the largest error, where)."""
        return self._worst.get(quantity, (0.0, ""))

    def quantities(self) -> tuple[Quantity, ...]:
        """All compared quantities, and those that could not be."""
        quantities = []
        for name, scale in SCALES.items():
            if name in self._problem:
                quantities.append(Quantity(name, float("nan"), scale, "", 0, self._problem[name]))
            elif name in self._worst:
                error, where = self._worst[name]
                quantities.append(Quantity(name, error, scale, where, self._count[name]))
        return tuple(quantities)
