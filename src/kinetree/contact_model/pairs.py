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
from itertools import combinations, combinations_with_replacement, product

from kinetree.collision.shapes import KINDS
from kinetree.contact_model.mixing import Touch, mixed, of_pair
from kinetree.contact_model.shapes import Surface, kind_of, surfaces
from kinetree.contact_model.spec import TouchSpec
from kinetree.errors import ModelError, listed
from kinetree.model import Model
from kinetree.model.extras import SimulationOptions
from kinetree.records import record

__all__ = ["FREE", "TouchingPair", "about_many", "touching_pairs"]

_GROUNDS = ("plane", "heightfield")


@record(frozen=True, slots=True)
class TouchingPair:
    """Two shapes that may touch, in the order of their kinds."""

    first: Surface
    second: Surface
    touch: Touch
    pair: str | None = None
    """The name by which the file's own pair of these two is called."""


def touching_pairs(robot: Model, options: SimulationOptions) -> list[TouchingPair]:
    """All of them: by bodies, then explicit pairs, then by shapes."""
    shapes = surfaces(robot)
    rules = _Rules(robot, options)
    named: dict[str, Surface] = {}
    for shape in shapes:
        named.setdefault(shape.geometry.name, shape)
    pairs: list[tuple[tuple[int, ...], TouchingPair]] = []
    pairs_of_file = set()
    for number, pair in enumerate(robot.extras.contact_pairs):
        if pair.shape1 not in named or pair.shape2 not in named:
            continue
        a, b = sorted((named[pair.shape1], named[pair.shape2]), key=lambda shape: shape.place[0])
        pairs_of_file.add(frozenset((a.place, b.place)))
        if rules.can_move(a, b) and not _are_grounds(a, b):
            name = pair.name or f"pair[{number}]"
            pairs.append(((a.place[0], b.place[0], 0, number), _in_order(a, b, of_pair(pair, options), name)))
    for a, b in _candidates(shapes, rules):
        if len(pairs) == MOST_PAIRS:
            raise too_many(robot, shapes)
        if frozenset((a.place, b.place)) not in pairs_of_file:
            one = _in_order(a, b, mixed(a.contact, b.contact, options))
            pairs.append(((a.place[0], b.place[0], 1, *one.first.place, *one.second.place), one))
    return [one for _, one in sorted(pairs, key=lambda entry: entry[0])]


class _Rules:
    """Which shapes may touch by the rules for their bodies."""

    def __init__(self, robot: Model, options: SimulationOptions) -> None:
        self._robot = robot
        self._groups = Groups(robot)
        self._parents_too = not options.flags.filterparent
        extras = robot.extras
        self._excluded = {frozenset((one.body1, one.body2)) for one in extras.contact_exclusions}
        self._excluded |= {frozenset((one.body1, one.body2)) for one in extras.collision_pairs if not one.checked}
        self._checked = {frozenset((one.body1, one.body2)) for one in extras.collision_pairs if one.checked}
        self._unchecked = {one.body for one in extras.unchecked_bodies}

    def can_move(self, a: Surface, b: Surface) -> bool:
        """Whether the two bodies can accelerate relative to each other."""
        return self.slot(a) != self.slot(b)

    def slot(self, one: Surface) -> int:
        """The slot of the moving body that has the shape."""
        return self._robot.bodies[one.body].slot

    def allow(self, a: Surface, b: Surface) -> bool:
        bodies = frozenset((a.body, b.body))
        if not self.can_move(a, b) or bodies in self._excluded:
            return False
        if bodies in self._checked:
            return True
        return not (bodies & self._unchecked) and (self._parents_too or not self._are_neighbours(a, b))

    def _are_neighbours(self, a: Surface, b: Surface) -> bool:
        groups = self._groups
        if WORLD not in (groups.of(a.body), groups.of(b.body)):
            return groups.above(a.body) == groups.of(b.body) or groups.above(b.body) == groups.of(a.body)
        if not (a.is_plain and b.is_plain):
            return False
        fixed, moving = (a, b) if groups.of(a.body) == WORLD else (b, a)
        return fixed.geometry.shape not in _GROUNDS and groups.joined_to_root(moving.body) == fixed.body


def _candidates(shapes: list[Surface], rules: _Rules) -> Iterator[tuple[Surface, Surface]]:
    """Pairs in the order of the file, each once: by bits first, so that shapes that cannot touch are skipped."""
    allowed: dict[tuple[str, str], bool] = {}
    for a, b in _that_agree(shapes, rules):
        bodies = a.body, b.body
        if a.is_plain and b.is_plain:
            is_allowed = rules.allow(a, b)  # here it depends on the shapes
        else:
            if bodies not in allowed:
                allowed[bodies] = rules.allow(a, b)
            is_allowed = allowed[bodies]
        if is_allowed:
            yield a, b


def _that_agree(shapes: list[Surface], rules: _Rules) -> Iterator[tuple[Surface, Surface]]:
    """Pairs of shapes whose bits agree, on bodies that can move relative to each other."""
    by_bits: dict[tuple[int, int], dict[int, list[Surface]]] = {}
    for one in shapes:
        bits = one.contact.contype, one.contact.conaffinity
        by_bits.setdefault(bits, {}).setdefault(rules.slot(one), []).append(one)
    for p, q in combinations_with_replacement(by_bits, 2):
        if not (p[0] & q[1] or q[0] & p[1]):
            continue
        sets = product(by_bits[p].items(), by_bits[q].items()) if p != q else combinations(by_bits[p].items(), 2)
        for (i, of_p), (j, of_q) in sets:
            if i == j:
                continue
            for one, other in product(of_p, of_q):
                if not _are_grounds(one, other):
                    yield (one, other) if one.place < other.place else (other, one)


def _are_grounds(a: Surface, b: Surface) -> bool:
    """Whether two such shapes do not touch in any simulator."""
    return a.geometry.shape in _GROUNDS and b.geometry.shape in _GROUNDS


def _in_order(a: Surface, b: Surface, touch: Touch, pair: str | None = None) -> TouchingPair:
    first, second = (b, a) if _rank(a) > _rank(b) else (a, b)
    return TouchingPair(first, second, touch, pair)


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
"""More are warned of: robots rarely need them, and their programs are large."""
MOST_PAIRS = 10_000
"""More are rejected: no program of them would be compiled in a reasonable time."""
_CHOICES = (
    "robot.without_self_contact() keeps those with the ground, robot.with_contacts(bodies) those of some bodies, such "
    "as the feet; an SRDF file leaves out bodies that never meet, <exclude>, contype and conaffinity of an MJCF file "
    "do so, too (docs/collision.md)"
)


def about_many(robot: Model, touches: Sequence[TouchSpec]) -> str:
    """A sentence about a robot with many pairs; empty for one with few."""
    if len(touches) <= MANY_PAIRS:
        return ""
    kinds = Counter(f"{touch.first.shape.kind} and {touch.second.shape.kind}" for touch in touches)
    counts = listed((f"{count} {kind}" for kind, count in kinds.most_common()), most=8)
    return (
        f"{robot.name!r} has {len(touches):,} pairs of shapes that may touch ({counts}); their program takes long to "
        f"compile and to run. Choose those that matter: {_CHOICES}"
    )


def too_many(robot: Model, shapes: Sequence[Surface]) -> ModelError:
    kinds = Counter(kind_of(one.geometry) for one in shapes)
    counts = listed((f"{count:,} {kind}" for kind, count in kinds.most_common()), most=8)
    return ModelError(
        f"{robot.name!r} has more than {MOST_PAIRS:,} pairs of shapes that may touch, the limit; its shapes are "
        f"{counts}. Choose those that matter: {_CHOICES}"
    )
