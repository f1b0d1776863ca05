"""The constants of a robot, prepared for loops over its bodies: renumbered, by kind, component by component."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from kinetree.joints import JointKind
from kinetree.spatial import LDLT, Motion
from kinetree.tree.rolled.tables import Columns
from kinetree.tree.unrolled import UnrolledTree

__all__ = ["Case", "Source"]

Case = tuple[frozenset[int], frozenset[int]]
"""The kinds of a body's joint and of its parent's."""


class Source:
    """Bodies are numbered in the order of `tree.outward`: each parent before its children, the root 0.

    A loop treats bodies of one kind alike. The slots in `distinguished` have kinds of their own: their joint kind is
    the same as others', but an algorithm can distinguish the two.
    """

    def __init__(self, tree: UnrolledTree, distinguished: frozenset[int] = frozenset()) -> None:
        self.tree = tree
        self._distinguished = distinguished
        order = [0, *(i for i, _ in tree.outward)]
        self.number: dict[int, int] = {slot: n for n, slot in enumerate(order)}
        """A slot's number here."""
        self._order = order
        self.size: int = len(order)
        self.parent: list[int] = [0] + [self.number[tree.parent[i]] for i in order[1:]]
        kinds: dict[tuple[JointKind, bool], int] = {}
        own_kind = [kinds.setdefault((tree.joint[i], i in distinguished), len(kinds) + 1) for i in order[1:]]
        self.kind_of: list[int] = [0, *own_kind]  # the root is a kind of its own
        self.kinds: list[JointKind] = [tree.joint[0], *(joint for joint, _ in kinds)]
        self.distinguished: frozenset[int] = frozenset(self.number[slot] for slot in distinguished)
        self.gravity: Motion = tree.gravity
        self._changed: dict[Callable[[UnrolledTree], UnrolledTree], Source] = {}

        own = [(frozenset((k,)), frozenset((self.kind_of[p],))) for k, p in zip(self.kind_of, self.parent, strict=True)]
        self.pair_of: list[Case] = own
        """Kinds of each body and of its parent."""
        self._pairs = list(dict.fromkeys(own[1:]))
        parents = {kind: frozenset(q for k, ps in self._pairs for q in ps if kind in k) for kind in set(self.kind_of)}
        self.cases: list[Case] = [(frozenset((k,)), parents[k]) for k in range(1, len(self.kinds))]
        """The kinds, each with the kinds of its parents."""
        self.case_of: list[int] = [max(k - 1, 0) for k in self.kind_of]

    @cached_property
    def X_T(self) -> Columns:
        return Columns([self.tree.X_T[i] for i in self._order])

    @cached_property
    def I(self) -> Columns:  # noqa: E743
        return Columns([self.tree.I[i] for i in self._order])

    @cached_property
    def armature(self) -> Columns:
        return Columns([self.tree.armature[i] for i in self._order])

    @cached_property
    def rotor(self) -> Columns:
        return Columns([self.tree.rotor[i] for i in self._order])

    @cached_property
    def drive(self) -> Columns:
        return Columns([self.tree.drive[i] for i in self._order])

    @cached_property
    def limits(self) -> Columns:
        return Columns([self.tree.limits[i] for i in self._order])

    @cached_property
    def light(self) -> frozenset[int]:
        """The kinds whose bodies cannot be accelerated without others on top of them: alone they have D = Sᵀ I S = 0.

        Their inertia is looked up even where it is one constant: otherwise an algorithm would divide by that zero
        before a trace has found out that it does not stay constant.
        """
        heavy: set[int] = set()
        for slot, kind in zip(self._order[1:], self.kind_of[1:], strict=True):
            if kind not in heavy and not self._is_light(slot):
                heavy.add(kind)
        return frozenset(range(1, len(self.kinds))) - heavy

    def _is_light(self, slot: int) -> bool:
        joint = self.tree.joint[slot]
        S = joint.calc(joint.neutral(), [0.0] * joint.nv).S
        try:
            LDLT(S.inertia(S.carried_by(self.tree.I[slot]), self.tree.armature[slot]))
        except ZeroDivisionError:
            return True
        return False

    @cached_property
    def places(self) -> tuple[list[int], list[int]]:
        """Position of each body in depth-first order, and the end there of the bodies it carries."""
        size = [1] * self.size
        for i in range(self.size - 1, 0, -1):
            size[self.parent[i]] += size[i]
        place, free = [0] * self.size, [1] * self.size
        for i in range(1, self.size):
            place[i] = free[self.parent[i]]
            free[self.parent[i]] += size[i]
            free[i] = place[i] + 1
        return place, [at + n for at, n in zip(place, size, strict=True)]

    def kinds_behind(self, kinds: frozenset[int]) -> frozenset[int]:
        """The kinds of the bodies carried by bodies of some kinds."""
        result: set[int] = set()
        behind = [False] * self.size
        for i, p in enumerate(self.parent[1:], 1):
            behind[i] = behind[p] or self.kind_of[p] in kinds
            if behind[i]:
                result.add(self.kind_of[i])
        return frozenset(result)

    def pairs_above(self, kinds: frozenset[int]) -> list[Case]:
        """The possible kinds of body and parent between one of these kinds and the root, nearest first."""
        pairs: list[Case] = []
        reached = set(kinds)
        while new := [pair for pair in self._pairs if pair not in pairs and pair[0] <= reached]:
            pairs += new
            reached.update(*(parent for _, parent in new))
        return pairs

    def path(self, i: int, end: int = 0) -> list[int]:
        """The bodies from i toward the root, up to but excluding `end`."""
        path: list[int] = []
        while i != end:
            path.append(i)
            i = self.parent[i]
        return path

    def starts(self, space: str) -> Sequence[int]:
        """Where each body's piece of q ("nq"), q̇ ("rates"), v ("nv") or of a row of forces ("forces") begins."""
        return self._starts["nq" if space in ("nq", "rates") else "nv"]

    def total(self, space: str) -> int:
        """Number of coordinates or degrees of freedom of the joints."""
        return sum(kind.nq if space in ("nq", "rates") else kind.nv for kind in self.tree.joint)

    @cached_property
    def _starts(self) -> dict[str, list[int]]:
        starts = {}
        for space in ("nq", "nv"):
            by_slot, start = [], 0
            for kind in self.tree.joint:
                by_slot.append(start)
                start += getattr(kind, space)
            starts[space] = [by_slot[i] for i in self._order]
        return starts

    def changed(self, change: Callable[[UnrolledTree], UnrolledTree]) -> Source:
        """The source of the changed tree; made once."""
        if change not in self._changed:
            source = self._changed[change] = Source(change(self.tree), self._distinguished)
            if source.tree.X_T is self.tree.X_T:
                source.X_T = self.X_T
            if source.tree.armature is self.tree.armature:
                source.armature = self.armature
        return self._changed[change]
