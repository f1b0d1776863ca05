"""A tree whose bodies are looped over: the algorithms' loops become loops of the program.

It has the same interface for an algorithm as a `Tree`. `for i, p in tree.outward` runs once per kind of joint, in a
case of a switch inside a loop; `i` and `p` are the current bodies of the loop, and index memory and tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from itertools import pairwise
from typing import Any

from kinetree import expr
from kinetree.expr import Grid, Index, Memory, Range, Recorder, Scalar, Shared, Walk
from kinetree.joints import JointKind
from kinetree.spatial import Motion
from kinetree.tree.clusters import Cluster
from kinetree.tree.coordinate_map import CoordinateMap
from kinetree.tree.elimination import Elimination, chains, elimination, row_parents
from kinetree.tree.rolled.memory import Bodies, Knowledge, QuantityMemory, Slot
from kinetree.tree.rolled.results import JointBlocks, JointColumns, JointDiagonal, JointRows, JointSquare, JointSquares
from kinetree.tree.rolled.shared import SharedMemory
from kinetree.tree.rolled.source import Case, Source
from kinetree.tree.rolled.sparse import BlocksInChains, SparseMatrix
from kinetree.tree.rolled.tables import Columns, QuantityTable
from kinetree.tree.sparse_matrix import BlockLayout
from kinetree.tree.topology import Topology

__all__ = ["RolledTree"]


class RolledTree:
    """The `Tree` of a robot in a trace with memory; bodies are numbered so that parents come first."""

    def __init__(self, source: Source, recorder: Recorder, knowledge: Knowledge) -> None:
        self._source = source
        self._recorder = recorder
        self._knowledge = knowledge
        self._bodies = Bodies(source.kind_of, source.parent)
        self.X_T = QuantityTable(recorder, self._bodies, source.X_T)
        self.I = QuantityTable(recorder, self._bodies, source.I, varying=source.light)
        self.armature: QuantityTable = QuantityTable(recorder, self._bodies, source.armature)
        self.rotor: QuantityTable = QuantityTable(recorder, self._bodies, source.rotor)
        self.drive: QuantityTable = QuantityTable(recorder, self._bodies, source.drive)
        self.limits: QuantityTable = QuantityTable(recorder, self._bodies, source.limits)
        self.coordinates: CoordinateMap | None = source.tree.coordinates
        self.clusters: tuple[Cluster, ...] = ()
        self._shared = SharedMemory(recorder, self.coordinates) if self.coordinates is not None else None
        self.joint: _Kinds = _Kinds(self._bodies, source.kinds)
        self.gravity: Motion = source.gravity
        self.recorder: Recorder = recorder
        self._layout: BlockLayout | None = None

    is_one_system = True
    carrier = 0
    """The root: where bodies are looped over, none is known individually."""

    @property
    def outward(self) -> Iterator[Any]:
        return self.outward_from(1)

    @property
    def inward(self) -> Iterator[Any]:
        return self._all(Range(Index(self._source.size - 1), Index(0), -1))

    def meeting(self, i: int, j: int) -> int:
        above = {*self._source.path(j), 0}
        return next((k for k in self._source.path(i) if k in above), 0)

    def toward_root(self, i: int | Slot, end: int = 0) -> Iterator[tuple[Slot, Slot]]:
        """From the current body of a loop it is always all the way to the root."""
        if isinstance(i, int):
            return self._along(self._source.path(i, end), i)
        if i.kinds == {0}:
            return iter(())
        parents = self._recorder.table(self._source.parent)
        pairs = [pair for pair in self._source.pairs_above(i.kinds) if i.way is None or pair in i.way]
        return self._rounds(Walk(i.index, parents), self._cases(pairs), pairs, i.way)

    def toward_tip(self, start: int, i: int) -> Iterator[tuple[Slot, Slot]]:
        return self._along(self._source.path(i, start)[::-1], i)

    def behind(self, j: Slot) -> Iterator[tuple[Slot, Slot]]:
        """One loop for bodies of all kinds, which it does not distinguish."""
        source, recorder = self._source, self._recorder
        place, end = source.places
        kinds = source.kinds_behind(j.kinds)
        if not kinds:
            return
        order = sorted(range(source.size), key=place.__getitem__)
        first = recorder.look_up([at + 1 for at in place], j.index, 1)

        def once() -> Iterator[tuple[Slot, Slot]]:
            with recorder.loop(Range(first, recorder.look_up(end, j.index, 1))) as n:
                i = recorder.look_up(order, n, 1)
                p = recorder.look_up([source.parent[i] for i in order], n, 1)
                self._bodies.distinct.add(frozenset((i, p)))
                yield Slot(i, kinds), Slot(p, j.kinds | kinds)

        yield from self._knowledge.until_foreseen(recorder, once)

    def _along(self, path: Sequence[int], tip: int) -> Iterator[tuple[Slot, Slot]]:
        """A loop over bodies that are known individually, in this order: some of those that carry `tip`, and `tip`."""
        if not path:
            return iter(())
        following = [0] * self._source.size
        for here, there in pairwise(path):
            following[here] = there
        pairs = list(dict.fromkeys(self._source.pair_of[i] for i in path))
        way = frozenset(self._source.pair_of[i] for i in self._source.path(tip))
        return self._rounds(Walk(Index(path[0]), self._recorder.table(following)), self._cases(pairs), pairs, way)

    def _cases(self, pairs: Sequence[Case]) -> list[int]:
        """For each body, the index of the pair of its kind and its parent's."""
        return [pairs.index(pair) if pair in pairs else 0 for pair in self._source.pair_of]

    def outward_from(self, first: int) -> Iterator[tuple[Slot, Slot]]:
        """The bodies numbered from `first` on."""
        return self._all(Range(Index(first), Index(self._source.size)))

    def _all(self, over: Range) -> Iterator[tuple[Slot, Slot]]:
        if over.start == over.stop:
            return iter(())
        return self._rounds(over, self._source.case_of, self._source.cases)

    def _rounds(
        self,
        over: Range | Walk,
        case_of: Sequence[int],
        cases: Sequence[Case],
        way: frozenset[Case] | None = None,
    ) -> Iterator[tuple[Slot, Slot]]:
        """Run the body of a loop once per case: the kinds of the body, and those of its parent."""
        return self._knowledge.until_foreseen(self._recorder, lambda: self._once(over, case_of, cases, way))

    def _once(
        self, over: Range | Walk, case_of: Sequence[int], cases: Sequence[Case], way: frozenset[Case] | None
    ) -> Iterator[tuple[Slot, Slot]]:
        recorder = self._recorder
        with recorder.loop(over) as i:
            p = recorder.look_up(self._source.parent, i, 1)
            self._bodies.distinct.add(frozenset((i, p)))
            self._bodies.distinct.add(frozenset((i, Index(0))))
            if len(cases) == 1:
                yield Slot(i, cases[0][0], way=way), Slot(p, cases[0][1], i, way)
                return
            with recorder.switch(recorder.look_up(case_of, i, 1)) as case:
                for own, parents in cases:
                    with case():
                        yield Slot(i, own, way=way), Slot(p, parents, i, way)

    def slots(self, kind: type[Any], count: int | None = None) -> Any:  # noqa: ARG002
        return self._memories(count)

    def scalars(self, count: int | None = None) -> Any:
        return self._memories(count)

    def pieces(self, count: int | None = None) -> Any:
        return self._memories(count)

    def _memories(self, count: int | None) -> Any:
        made = [QuantityMemory(self._recorder, self._bodies, self._knowledge) for _ in range(count or 1)]
        return made[0] if count is None else made

    @property
    def topology(self) -> Topology:
        return self._source.tree

    @property
    def alone(self) -> _Some:
        """Slots that a definition distinguishes (`Definition.distinguished`)."""
        slots: _Some = self.some({self._source.number[slot] for slot in self.topology.alone})
        return slots

    def of_slot(self, values: Sequence[int], i: int | Slot) -> Index:
        return self._bodies.look_up(self._recorder, [values[slot] for slot in self._source.number], i)

    def in_chains(self, coupled: Sequence[Collection[int]]) -> RolledTree:
        rows = chains(self.topology)
        other = copy(self)
        other._layout = BlockLayout(rows, row_parents(rows, coupled))
        return other

    def blocks(self) -> _Blocks | BlocksInChains:
        if self._layout is not None:
            first, place = self.topology.v_starts, self._layout.rows.place
            parts = [self._layout.part(place[first[i]] if first[i] < first[i + 1] else 0) for i in self._source.number]
            return BlocksInChains(self._recorder, self._bodies, self._layout, parts)
        return _Blocks(self, self._recorder, self._bodies, self._source, self._shared)

    def square(self) -> JointSquare:
        return JointSquare(self._recorder, self._bodies, self._source, self._shared)

    def squares(self, count: int) -> JointSquares:
        return JointSquares(self._recorder, self._bodies, self._source, self._shared, count)

    def diagonal(self) -> JointDiagonal:
        return JointDiagonal(self._recorder, self._bodies, self._source, self._shared)

    def columns(self, rows: int, *, apart: bool = False) -> JointColumns:
        return JointColumns(self._recorder, self._bodies, self._source, self._shared, rows, apart=apart)

    def rows(self, columns: int) -> JointRows:
        return JointRows(self._recorder, self._bodies, self._source, self._shared, columns)

    def grid(self, rows: int, columns: int, /, *, clear: bool = True, is_scratch: bool = False) -> Grid:
        return Grid(rows, columns, self._recorder, clear=clear, is_scratch=is_scratch)

    def shared(self, function: Shared, numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        return expr.call_shared(self._recorder, function, numbers)

    def elimination(self, *, as_numbered: bool) -> Elimination:
        return elimination(self._source.tree, as_numbered=as_numbered)

    def in_slots(self, pieces: Any) -> Any:
        return pieces

    def at_rest(self) -> _Rest:
        return _Rest(self)

    def pieces_in(self, memory: Memory, space: str, first: Index | int = 0) -> _Pieces:
        """A q ("nq") or v ("nv") in memory from `first` on, one piece per joint."""
        if self._shared is not None:
            memory, first = self._shared.spread(memory, space, first), 0
        return _Pieces(self, memory, space, first)

    def split(self, numbers: Sequence[Scalar] | Memory, space: str) -> _Pieces:
        """One flat v ("nv") or q ("nq") as one piece per joint."""
        if isinstance(numbers, Memory):
            return self.pieces_in(numbers, space)
        memory = self._recorder.array(f"split_{space}", len(numbers))
        for k, x in enumerate(numbers):
            memory[k] = x
        return self.pieces_in(memory, space)

    def joined(self, pieces: Any, space: str) -> None:
        """Write pieces into the result."""
        (output,) = self._recorder.outputs
        self.write(pieces, space, (output, 0))

    def numbers(self, pieces: Any, space: str) -> Memory:
        """Pieces as one flat v ("nv") or row of forces ("forces")."""
        memory = self._recorder.array("numbers", self._source.total(space) if self._shared is None else self._shared.nv)
        self.write(pieces, space, (memory, 0))
        return memory

    def write(self, pieces: Any, space: str, *places: tuple[Memory, Index | int]) -> None:
        """Write pieces into memory, as one q, v or row of forces at each of the places."""
        if self._shared is not None:
            joints = self._recorder.array("joints", self._source.total(space))
            self._write_joints(pieces, space, (joints, 0))
            self._shared.gather(joints, space, *places)
            return
        self._write_joints(pieces, space, *places)

    def _write_joints(self, pieces: Any, space: str, *places: tuple[Memory, Index | int]) -> None:
        for i, _ in self.outward:
            start = self.start(space, i)
            for k, x in enumerate(pieces[i]):
                for memory, first in places:
                    memory[start + first + k] = x

    def of_some(self, values: Mapping[int, Any], zero: Any) -> Any:
        """Values that only a few bodies have."""
        if not values:
            return {}
        memory = self._memories(None)
        memory[0] = zero
        for i, _ in self.outward:
            memory[i] = zero
        for slot, value in values.items():
            memory[slot] = value
        return _Everywhere(memory)

    def some(self, slots: Collection[int]) -> Any:
        """Slots that the definition distinguishes (`Definition.distinguished`)."""
        if frozenset(slots) != self._source.distinguished:
            raise ValueError(f"{sorted(slots)} are not the slots whose bodies are distinguished")
        return _Some(self._bodies, slots)

    def stacked(self, *rows: tuple[Any, str]) -> None:
        """Write pieces into the result, one row after the other."""
        (output,) = self._recorder.outputs
        first = 0
        for pieces, space in rows:
            self.write(pieces, space, (output, first))
            first += self._source.total(space) if self._shared is None else self._shared.width(space)

    def stacked_matrices(self, *matrices: JointBlocks | JointSquare) -> None:
        """Write them into the result, one after the other."""
        (output,) = self._recorder.outputs
        size = output.size // len(matrices)
        for n, matrix in enumerate(matrices):
            whole = matrix.whole()
            for k in whole.rounds(0, size):
                output[k + n * size] = whole[k]

    def start(self, space: str, i: int | Slot) -> Index:
        """Where a joint's piece of q or v begins."""
        return self._bodies.look_up(self._recorder, self._source.starts(space), i)

    def table(self, columns: Columns) -> QuantityTable:
        """Other constants of the bodies, in the order of their numbers."""
        return QuantityTable(self._recorder, self._bodies, columns)

    def with_armature(self, armature: Any) -> RolledTree:
        """The tree with other armatures, given in memory."""
        changed = copy(self)
        changed.armature = armature
        return changed

    def with_gravity(self, gravity: Motion) -> RolledTree:
        """The tree with another acceleration of free fall."""
        changed = copy(self)
        changed.gravity = gravity
        return changed

    def rebuilt(self, change: Any) -> RolledTree:
        """The tree with some of its constants changed."""
        return RolledTree(self._source.changed(change), self._recorder, self._knowledge)


class _Blocks(JointBlocks):
    """Blocks with methods to solve the equations of motion: the counterpart of a `Tree`'s blocks for lists."""

    def __init__(self, tree: RolledTree, recorder: Recorder, *rest: Any) -> None:
        super().__init__(recorder, *rest)
        self._tree = tree

    def sparse(self, *, as_numbered: bool = False) -> SparseMatrix:
        """The same matrix, to be factored with the sparsity of the tree."""
        order = self._tree.elimination(as_numbered=as_numbered)
        return SparseMatrix(self._tree.write, self._tree.pieces_in, self._recorder, self.whole(), order)


class _Kinds:
    """The kinds of joint, as `tree.joint[i]`."""

    def __init__(self, bodies: Bodies, kinds: Sequence[JointKind]) -> None:
        self._bodies = bodies
        self._kinds = kinds

    def __getitem__(self, i: int | Slot) -> JointKind:
        (kind,) = self._bodies.slot(i).kinds
        return self._kinds[kind]


class _Some:
    """Bodies with kinds of their own, as a set of slots."""

    def __init__(self, bodies: Bodies, slots: Collection[int]) -> None:
        self._bodies = bodies
        self._kinds = frozenset(bodies.kind_of[slot] for slot in slots)

    def __contains__(self, i: int | Slot) -> bool:
        kinds = self._bodies.slot(i).kinds
        if kinds & self._kinds and not kinds <= self._kinds:
            raise ValueError("the loop is over bodies of which some are among these and some are not")
        return kinds <= self._kinds


class _Rest:
    """A v of zeros."""

    def __init__(self, tree: RolledTree) -> None:
        self._tree = tree

    def __getitem__(self, i: int | Slot) -> list[float]:
        return [0.0] * self._tree.joint[i].nv


class _Pieces:
    """A flat array of q or v, one piece per joint."""

    def __init__(self, tree: RolledTree, memory: Memory, space: str, first: Index | int) -> None:
        self._tree = tree
        self._memory = memory
        self._space = space
        self._first = first

    def __getitem__(self, i: int | Slot | slice) -> Any:
        if isinstance(i, slice):
            return self  # [1:], as with a list of pieces: the root's piece is never read
        start = self._tree.start(self._space, i) + self._first
        return [self._memory[start + k] for k in range(_width(self._tree.joint[i], self._space))]


def _width(kind: JointKind, space: str) -> int:
    return kind.nq if space == "nq" else kind.nv


class _Everywhere:
    """A memory with the interface of a dict that contains every body."""

    def __init__(self, memory: QuantityMemory) -> None:
        self._memory = memory

    def __contains__(self, i: object) -> bool:
        return True

    def __getitem__(self, i: int | Slot) -> Any:
        return self._memory[i]

    def get(self, i: int | Slot, default: object) -> Any:  # noqa: ARG002
        return self._memory[i]
