"""Which pairs of shapes may touch, in MuJoCo's order.

Explicit pairs may, unless nothing between them could move. Of other shapes two may if the bits of `contype` and
`conaffinity` allow it, their bodies are not excluded, do not move as one, are not both fixed, and are not neighbours
along the tree. In an MJCF file bodies fixed to the world are nobody's neighbours; in other files the shapes of a fixed
body are neighbours of those that a joint joins to it, except for a ground.

Source: MuJoCo documentation, "Computation", section on collision detection; version 4.

Bodies that move as one: between them, and between neighbours along the tree, nothing touches.

A massless body without shapes between two joints is part of the joint: it has no neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.collision.shapes import KINDS
from kinetree.contact_model.shapes import Surface, kind_of, surfaces
from kinetree.contact_model.spec import SoftConstraints
from kinetree.contact_model.touches import TouchSpec, kinds_of
from kinetree.errors import ModelError, listed
from kinetree.model import Model
from kinetree.model.extras import SimulationOptions

__all__ = ["FREE", "Pairs", "about_many", "check_count", "touching_pairs"]

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_GROUNDS = ("plane", "heightfield")
_TOGETHER = 2**18
"""How many pairs of shapes are looked at together."""


class Pairs(NamedTuple):
    """A table of pairs of shapes that may touch."""

    shapes: Sequence[Surface]
    first: Ints
    """The shape of each pair whose kind comes first in `collision.KINDS`, by its place among `shapes`."""
    second: Ints
    number: Ints
    """The number of the file's own pair of the two; -1 where the shapes touch by the rules."""


def touching_pairs(robot: Model, options: SimulationOptions) -> Pairs:
    """All pairs of shapes that may touch: by bodies, then explicit pairs, then by shapes."""
    shapes = surfaces(robot)
    rules = _Rules(robot, shapes, options)
    n = len(shapes)
    named = {shape.geometry.name: k for k, shape in reversed([*enumerate(shapes)])}
    own = [
        (*sorted((named[pair.shape1], named[pair.shape2])), number)
        for number, pair in enumerate(robot.extras.contact_pairs)
        if pair.shape1 in named and pair.shape2 in named
    ]
    i, j, number = np.array(own, np.int64).reshape(-1, 3).T
    codes = i * n + j
    may = rules.can_move(i, j)
    groups = [(i[may], j[may], number[may])]
    count = 0
    for i, j in _that_agree(shapes):
        may = rules.allow(i, j)
        if len(codes):
            may &= ~np.isin(i * n + j, codes)
        groups.append((i[may], j[may], np.full(np.count_nonzero(may), -1)))
        count += len(groups[-1][0])
        if count > MOST_PAIRS:
            raise _too_many(robot, shapes, MOST_PAIRS)
    i, j, number = map(np.concatenate, zip(*groups, strict=True))
    swap = rules.rank[i] > rules.rank[j]
    first, second = np.where(swap, j, i), np.where(swap, i, j)
    body = rules.body
    within = np.where(number < 0, len(robot.extras.contact_pairs) + first * n + second, number)
    order = np.lexsort((within, body[i] * len(robot.bodies) + body[j]))
    return Pairs(shapes, first[order], second[order], number[order])


class _Rules:
    """Which shapes may touch by the rules for their bodies; pairs are in the order of the file."""

    def __init__(self, robot: Model, shapes: Sequence[Surface], options: SimulationOptions) -> None:
        groups = Groups(robot)
        numbers = {name: k for k, name in enumerate(robot.bodies)}
        extras = robot.extras
        unchecked = {one.body for one in extras.unchecked_bodies}
        ids = {WORLD: 0}
        of_bodies: dict[str, tuple[int, int, int]] = {}
        for name in dict.fromkeys(one.body for one in shapes):
            group, above = (ids.setdefault(x, len(ids)) for x in (groups.of(name), groups.above(name)))
            of_bodies[name] = group, above, numbers.get(groups.joined_to_root(name) or "", -1)
        places = [(one.place[0], _rank(one), robot.bodies[one.body].slot, *of_bodies[one.body]) for one in shapes]
        flags = [(shape.is_plain, shape.geometry.shape in _GROUNDS, shape.body in unchecked) for shape in shapes]

        self.body: Ints
        """The place of each shape's body in `robot.bodies`."""
        self.rank: Ints
        """The place of its kind among `collision.KINDS`."""
        table = np.array(places, np.int64).reshape(-1, 6).T
        self.body, self.rank, self._slot, self._group, self._above, self._joined = table
        self._is_plain, self._is_ground, self._is_unchecked = np.array(flags, bool).reshape(-1, 3).T
        self._parents_too = not options.flags.filterparent
        self._bodies = len(numbers)
        pairs = [(pair.body1, pair.body2, pair.checked) for pair in extras.collision_pairs]
        pairs += [(exclusion.body1, exclusion.body2, False) for exclusion in extras.contact_exclusions]
        known = [(numbers[a], numbers[b], is_checked) for a, b, is_checked in pairs if a in numbers and b in numbers]
        codes = np.array([min(a, b) * self._bodies + max(a, b) for a, b, _ in known], np.int64)
        is_checked = np.array([one for _, _, one in known], bool)
        self._checked, self._excluded = codes[is_checked], codes[~is_checked]

    def can_move(self, i: Ints, j: Ints) -> Flags:
        """Whether two bodies can accelerate relative to each other, and their shapes are not both grounds."""
        may: Flags = (self._slot[i] != self._slot[j]) & ~(self._is_ground[i] & self._is_ground[j])
        return may

    def allow(self, i: Ints, j: Ints) -> Flags:
        may: Flags = ~(self._is_unchecked[i] | self._is_unchecked[j])
        if not self._parents_too:
            may &= ~self._are_neighbours(i, j)
        code = self.body[i] * self._bodies + self.body[j]
        if len(self._checked):
            may |= np.isin(code, self._checked)
        if len(self._excluded):
            may &= ~np.isin(code, self._excluded)
        may &= self.can_move(i, j)
        return may

    def _are_neighbours(self, i: Ints, j: Ints) -> Flags:
        is_of_world = self._group[i] == 0, self._group[j] == 0
        along = (self._above[i] == self._group[j]) | (self._above[j] == self._group[i])
        fixed, moving = np.where(is_of_world[0], i, j), np.where(is_of_world[0], j, i)
        at_root = self._is_plain[i] & self._is_plain[j] & ~self._is_ground[fixed]
        at_root &= self._joined[moving] == self.body[fixed]
        neighbours: Flags = np.where(is_of_world[0] | is_of_world[1], at_root, along)
        return neighbours


def _that_agree(shapes: Sequence[Surface]) -> Iterator[tuple[Ints, Ints]]:
    """Pairs in the order of the file whose bits agree, some at a time, each once."""
    by_bits: dict[tuple[int, int], list[int]] = {}
    for k, one in enumerate(shapes):
        by_bits.setdefault((one.contact.contype, one.contact.conaffinity), []).append(k)
    classes = [*by_bits.items()]
    for k, (p, of_p) in enumerate(classes):
        agree = [own for q, own in classes[k:] if p[0] & q[1] or q[0] & p[1]]
        own, others = np.array(of_p, np.int64), np.array([*chain.from_iterable(agree)], np.int64)
        is_own = np.arange(len(others)) < (len(own) if p[0] & p[1] else 0)
        step = _TOGETHER // max(len(others), 1) + 1
        for start in range(0, len(own) if len(others) else 0, step):
            rows = own[start : start + step, None]
            row, column = np.nonzero(~is_own | (rows < others))
            a, b = rows[row, 0], others[column]
            yield np.minimum(a, b), np.maximum(a, b)


def _rank(one: Surface) -> int:
    kind = kind_of(one.geometry)
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


WORLD = ""
"""The group of the world and of all that is fixed to it."""
FREE = 6
"""Degrees of freedom of a joint that joins nothing."""


class Groups:
    """Groups of bodies that move as one, by the name of one of their bodies."""

    def __init__(self, robot: Model) -> None:
        self._robot = robot
        self._above = {joint.slot: joint for joint in robot.joints.values()}
        self._shaped = {body.slot for body in robot.bodies.values() if body.geometry}
        self._carrier = {spec.child: spec.parent for spec in robot.parts.joints}
        self._moved = {one.body for one in robot.extras.bodies if one.mocap}
        self._of: dict[str, str] = {}

    def of(self, body: str) -> str:
        """The group of a body; bodies that are moved from outside have their own, in which nothing accelerates."""
        if body not in self._of:
            self._of[body] = self._group(body)
        return self._of[body]

    def above(self, body: str) -> str:
        """The group that carries the group of a body."""
        slot = self._robot.bodies[body].slot
        if slot == 0:
            return WORLD
        parent = self._above[slot].parent
        while parent and (slot := self._robot.bodies[parent].slot) and self._is_between(slot):
            parent = self._above[slot].parent
        return self.of(parent) if parent else WORLD

    def joined_to_root(self, body: str) -> str | None:
        """The body fixed to the root that a joint, not a free one, joins to the group of this one; None if none is."""
        slot = self._robot.bodies[body].slot
        free = False
        parent: str | None = body
        while parent and slot:
            joint = self._above[slot]
            free |= joint.kind.nv == FREE
            parent = joint.parent
            slot = self._robot.bodies[parent].slot if parent else 0
            if slot and not self._is_between(slot):
                return None
        return None if free else parent

    def _group(self, body: str) -> str:
        slot = self._robot.bodies[body].slot
        if slot:
            return self._above[slot].child
        name = body
        while name and name not in self._moved:
            name = self._carrier.get(name, "")
        return name

    def _is_between(self, slot: int) -> bool:
        return slot not in self._shaped and self._robot.tree.I[slot].mass == 0.0


MANY_PAIRS = 300
"""More are warned of: robots rarely need them, and every step looks at all of them."""
MOST_COMPILED, MOST_IN_LOOPS = 10_000, 100_000
"""More are not compiled: no program of them would be, in a reasonable time, one by one or in its loops."""
MOST_PAIRS = 1_000_000
"""More are rejected: their table alone would fill memory."""
_CHOICES = (
    "robot.without_self_contact() keeps those with the ground, robot.with_contacts(bodies) those of some bodies, such "
    "as the feet; an SRDF file leaves out bodies that never meet, <exclude>, contype and conaffinity of an MJCF file "
    "do so, too (`kinetree docs collision#many-pairs`)"
)


def about_many(robot: Model, touches: Sequence[TouchSpec]) -> str:
    """A sentence about a robot with many pairs; empty for one with few."""
    if len(touches) <= MANY_PAIRS:
        return ""
    counts = listed((f"{count} {kind}" for kind, count in kinds_of(touches).most_common()), most=8)
    return (
        f"{robot.name!r} has {len(touches):,} pairs of shapes that may touch ({counts}); every step looks at all of "
        f"them, and rigid contacts take long to compile. Choose those that matter: {_CHOICES}"
    )


def check_count(robot: Model, touches: Sequence[TouchSpec], of: SoftConstraints | None = None) -> None:
    """Raise if there are more pairs than programs can have, those `of` soft constraints perhaps in loops."""
    if len(touches) > MOST_COMPILED:
        most = MOST_COMPILED if of is None or not of.are_looped else MOST_IN_LOOPS
        if len(touches) > most:
            raise _too_many(robot, surfaces(robot), most)


def _too_many(robot: Model, shapes: Sequence[Surface], most: int) -> ModelError:
    kinds = Counter(kind_of(shape.geometry) for shape in shapes)
    counts = listed((f"{count:,} {kind}" for kind, count in kinds.most_common()), most=8)
    return ModelError(
        f"{robot.name!r} has more than {most:,} pairs of shapes that may touch, the limit; its shapes are "
        f"{counts}. Choose those that matter: {_CHOICES}"
    )
