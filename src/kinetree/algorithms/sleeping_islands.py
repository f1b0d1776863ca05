"""Sleeping islands: bodies at rest that are left out of a step until something disturbs them.

An island is a set of kinematic trees that touch each other, directly or through others of them. When all its trees have
been slow for some time, and nothing but contacts and gravity acts on them, it sleeps: its velocity is zero, and its
configuration stays as it is. It wakes at the beginning of the step in which a tree that is awake touches one of its
own, or a force acts there, and takes part in that step as if it had been awake.

The state of a tree is one number: for how many seconds it has been slow, or the negative number of its island if it
sleeps, which is that of one of its trees. Shapes that are fixed in the world, number 0, wake nothing and join nothing.

A time, instead of MuJoCo's ten steps: short steps must not let bodies sleep where they turn around in the air.

Source: MuJoCo documentation, "Simulation", section on sleeping islands; version 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from kinetree.expr import (
    Grid,
    Scalar,
    absolute,
    equal,
    less,
    less_equal,
    maximum,
    minimum,
    repeat,
    select,
    unless,
)
from kinetree.records import record
from kinetree.spatial import Force
from kinetree.tree import Tree
from kinetree.tree.elimination import WIDTH, chains

__all__ = ["KinematicTrees", "Sleep"]

_SLOW_TIME = 0.02
"""Seconds for which a tree that may sleep has been slow: ten of MuJoCo's usual steps. A body that falls has 0.2 m/s."""
_ROUNDING = 1.0 - 1e-9

Slots = Sequence[Sequence[Scalar]]
Met = Callable[[Any, Any, Scalar], Scalar]
"""met(m, n, touch): whether that of two trees changed something, where 1.0 says that they touch."""


class Touching(Protocol):
    """The pairs of shapes that touch."""

    def fold_trees(self, step: Met) -> Scalar:
        """The largest of what `step` gives for the trees of each pair."""


@record(frozen=True, slots=True)
class KinematicTrees:
    """The bodies that one joint to the world carries, numbered from 1; the world is number 0."""

    of_slot: Sequence[int]
    may_sleep: Sequence[float]
    """By number, 1.0 where nothing but contacts, gravity and forces from outside acts on a tree."""
    lengths: Sequence[float]
    """How fast the fastest point of a shape is per unit rate of each degree of freedom, in the order of v."""
    tolerance: float
    """The speed below which a tree is slow, m/s."""


class Sleep:
    """Which trees sleep in a step."""

    def __init__(self, tree: Tree, trees: KinematicTrees, state: Slots) -> None:
        """`state`: by slots, the number of each tree once per degree of freedom."""
        self._tree, self._trees = tree, trees
        self._touching: Touching | None = None
        self._end = len(trees.may_sleep)
        topology = tree.topology
        starts, place = topology.v_starts, chains(topology).place
        self._of_row = [0] * (1 + max(place) // WIDTH)
        for i, _ in topology.outward:
            for k in range(starts[i], starts[i + 1]):
                self._of_row[place[k] // WIDTH] = trees.of_slot[i]
        self._asleep, self._island, self._slow_for, self._disturbed, self._held = (self._grid() for _ in range(5))
        for n in self._asleep.rounds(0, self._end):
            self._disturbed[n, 0] = self._held[n, 0] = 0.0
        self._asleep[0, 0], self._island[0, 0], self._slow_for[0, 0] = 1.0, 0.0, 0.0
        for i, _ in tree.outward:
            n, (x, *_) = tree.of_slot(trees.of_slot, i), state[i]
            self._asleep[n, 0], self._island[n, 0] = less(x, 0.0), maximum(-x, 0.0)
            self._slow_for[n, 0] = maximum(x, 0.0)

    def _grid(self) -> Grid:
        return self._tree.grid(self._end, 1, clear=False, is_scratch=True)

    def at(self, i: Any) -> Scalar:
        """1.0 where the body of a slot sleeps."""
        return self._asleep[self._tree.of_slot(self._trees.of_slot, i), 0]

    def in_row(self, k: Any) -> Scalar:
        """1.0 where the degrees of freedom of a row of `chains` sleep."""
        return self._asleep[self._asleep.looked_up(self._of_row, k, 1), 0]

    def both(self, m: Any, n: Any) -> Scalar:
        """1.0 where neither of two trees moves."""
        return self._asleep[m, 0] * self._asleep[n, 0]

    def numbers(self, slots: Sequence[int]) -> list[int]:
        """The trees of slots."""
        return [self._trees.of_slot[slot] for slot in slots]

    def still(self, x: Any) -> Any:
        """The pieces of a row of rates or joint forces, zero where bodies sleep."""
        pieces = self._tree.pieces()
        for i, _ in self._tree.outward:
            asleep = self.at(i)
            pieces[i] = [select(asleep, 0.0, x_k) for x_k in x[i]]
        return pieces

    def disturb(self, v: Slots, tau: Slots, f_ext: Mapping[int, Force] | None) -> None:
        """Wake the islands that joint forces or external forces act on, or that move."""
        for i, _ in self._tree.outward:
            n = self._tree.of_slot(self._trees.of_slot, i)
            acting = [*tau[i]]
            if f_ext and i in f_ext:
                acting += [x for part in (f_ext[i].angular, f_ext[i].linear) for x in part.components()]
            self._held[n, 0] = maximum(self._held[n, 0], _is_any(acting))
            self._disturbed[n, 0] = maximum(self._disturbed[n, 0], _is_any([*acting, *v[i]]))
        self._wake()

    def search(self, find: Callable[[], Scalar], touching: Touching) -> Scalar:
        """`find()`, which finds pairs that touch, again and again until none of them wakes an island."""
        self._touching = touching

        def meet(m: Any, n: Any, touch: Scalar) -> Scalar:
            for k in (m, n):
                self._disturbed[k, 0] = maximum(self._disturbed[k, 0], touch)
            return touch

        def step(_: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
            pairs = find()
            touching.fold_trees(meet)
            return [pairs, 0.0], 1.0 - self._wake()

        pairs, _ = repeat(self._end, [0.0, self._asleep[0, 0]], step)
        return pairs

    def _wake(self) -> Scalar:
        """Wake the islands of trees that are disturbed; 1.0 where there are some."""

        def of_tree(n: Any, found: Sequence[Scalar]) -> Sequence[Scalar]:
            wakes = self._disturbed[n, 0] * self._asleep[n, 0]
            return unless(1.0 - wakes, found, partial(all_of, n, wakes))

        def all_of(n: Any, wakes: Scalar, found: Sequence[Scalar]) -> Sequence[Scalar]:
            island = self._island[n, 0]
            for k in self._asleep.rounds(1, self._end):
                self._asleep[k, 0] = self._asleep[k, 0] * (1.0 - wakes * equal(self._island[k, 0], island))
            return [maximum(found[0], wakes)]

        (found,) = self._asleep.fold(1, self._end, [0.0], of_tree)
        return found

    def after(self, q: Slots, q_next: Slots, v_next: Slots, dt: Scalar) -> tuple[Any, Any, Any]:
        """The state after a step of dt, given what it would be if nothing slept: q, v and the numbers of the trees."""
        tree, trees, of_slot = self._tree, self._trees, self._trees.of_slot
        speed, restless, island = (self._grid() for _ in range(3))
        for n in speed.rounds(0, self._end):
            speed[n, 0] = 0.0
        for i, _ in tree.outward:
            n, first = tree.of_slot(of_slot, i), tree.of_slot(tree.topology.v_starts, i)
            for k, x in enumerate(v_next[i]):
                speed[n, 0] = maximum(speed[n, 0], absolute(x) * speed.constant(trees.lengths, first + k))

        def rest(n: Any, found: Sequence[Scalar]) -> Sequence[Scalar]:
            is_slow = less(speed[n, 0], trees.tolerance) * (1.0 - self._held[n, 0])
            may, awake = speed.constant(trees.may_sleep, n), 1.0 - self._asleep[n, 0]
            slow_for = minimum(self._slow_for[n, 0] + dt, _SLOW_TIME)
            self._slow_for[n, 0] = slow_for = select(is_slow * may * awake, slow_for, 0.0)
            ready = less_equal(_SLOW_TIME * _ROUNDING, slow_for)
            restless[n, 0], island[n, 0] = awake * (1.0 - ready), speed.constant(numbers, n)
            return [maximum(found[0], ready)]

        numbers, moves = [*map(float, range(self._end))], [0.0, *[1.0] * (self._end - 1)]
        restless[0, 0], island[0, 0] = 0.0, float(self._end)
        (is_any,) = speed.fold(1, self._end, [0.0], rest)

        def meet(m: Any, n: Any, touch: Scalar) -> Scalar:
            both = touch * speed.constant(moves, m) * speed.constant(moves, n)
            most, least = maximum(restless[m, 0], restless[n, 0]), minimum(island[m, 0], island[n, 0])
            changes: Scalar = 0.0
            for k in (m, n):
                changes = maximum(changes, maximum(less(restless[k, 0], most), less(least, island[k, 0])))
                restless[k, 0], island[k, 0] = select(both, most, restless[k, 0]), select(both, least, island[k, 0])
            return both * changes

        touching = self._touching
        if touching is not None:

            def sweep(_: Sequence[Scalar]) -> tuple[Sequence[Scalar], Scalar]:
                return [0.0], 1.0 - touching.fold_trees(meet)

            unless(1.0 - is_any, [self._asleep[0, 0]], lambda state: repeat(self._end, state, sweep))
        q_end, v_end, state = tree.pieces(3)
        for i, _ in tree.outward:
            n = tree.of_slot(of_slot, i)
            asleep = self._asleep[n, 0]
            rests = maximum(asleep, 1.0 - restless[n, 0])
            q_end[i] = [select(asleep, a, b) for a, b in zip(q[i], q_next[i], strict=True)]
            v_end[i] = [select(rests, 0.0, x) for x in v_next[i]]
            number = select(asleep, -self._island[n, 0], select(rests, -island[n, 0], self._slow_for[n, 0]))
            state[i] = [number] * len(v_next[i])
        return q_end, v_end, state


def _is_any(numbers: Sequence[Scalar]) -> Scalar:
    """1.0 where one of the numbers is not zero."""
    largest: Scalar = 0.0
    for x in numbers:
        largest = maximum(largest, absolute(x))
    is_any: Scalar = less(0.0, largest)
    return is_any
