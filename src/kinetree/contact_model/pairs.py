"""Which pairs of shapes may touch, in MuJoCo's order.

Explicit pairs may, unless nothing between them could move. Of other shapes two may if the bits of `contype` and
`conaffinity` allow it, their bodies are not excluded, do not move as one, are not both fixed, and are not neighbours
along the tree. In an MJCF file bodies fixed to the world are nobody's neighbours; in other files the shapes of a fixed
body are neighbours of those that a joint joins to it, except for a ground.

Source: MuJoCo documentation, "Computation", section on collision detection; version 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, product

from kinetree.collision.shapes import KINDS
from kinetree.contact_model.groups import WORLD, Groups
from kinetree.contact_model.many_pairs import MOST_PAIRS, too_many
from kinetree.contact_model.mixing import Touch, mixed, of_pair
from kinetree.contact_model.shapes import Surface, kind_of, surfaces
from kinetree.model import Model
from kinetree.model.extras import SimulationOptions
from kinetree.records import record

__all__ = ["TouchingPair", "touching_pairs"]

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
