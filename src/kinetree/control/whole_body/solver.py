"""The solver of the steps of a whole-body controller: its constant arrays, one step, and many on threads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.codegen.loops.compiled import prepared
from kinetree.compiler.helper_threads import on_threads
from kinetree.compiler.thread_count import at_most, thread_count
from kinetree.control.quadratic.room import work_of_levels
from kinetree.control.whole_body.effort import Effort
from kinetree.control.whole_body.matrices import Layout, matrices
from kinetree.control.whole_body.result import WholeBodyStep
from kinetree.control.whole_body.steps import taken

__all__ = ["Solver"]

Array = NDArray[Any]
_BLOCK = 32
"""Samples whose matrices are computed together; those of a humanoid take 2 MB."""


class _Found(NamedTuple):
    """Results of several samples, in the order of `taken`."""

    solution: Array
    tau: Array
    forces: Array
    unmet: Array
    told: Array

    def arrays(self, piece: slice) -> list[Array]:
        return [x[piece] for x in self]


class Solver:
    """The program of the matrices and the machine code after it."""

    def __init__(self, layout: Layout, levels: list[list[str]], effort: Effort, limit: Array) -> None:
        self._layout = layout
        self.program = matrices(layout, limit)
        self._function = self.program.compile()
        self.weights, starts = _weights_and_starts(layout, levels, effort)
        self._levels = len(starts) - 1
        nv, n = layout.robot.nv, layout.n
        m, R = layout.side_count, layout.row_count
        self._size = (m + R) * (n + 1) + 2 * m + nv
        first = layout.first_rows
        where = {**layout.motions, **{name: layout.rows[name] for name in layout.tasks}}
        self._unmet = {name: slice(rows.start - first, rows.stop - first) for name, rows in where.items()}
        self._motion = slice(nv)
        named = sum(rows.stop - rows.start for rows in self._unmet.values())
        soft = len(layout.limited)
        self._numbers = n, m - soft, soft, self._levels, first, named
        generators, owners, self._forces = _generators(layout)
        self._constants = (self.weights, starts, layout.driven.astype(np.int32), owners, limit, generators)
        self._one = self._results(1)
        self._matrices, self._given = np.zeros((1, self._size)), np.zeros((1, max(layout.given_count, 1)))
        self.rows, self.sides, self.lower, self.upper, *_ = room = self._room()
        self._solve = prepared(
            taken, *self._numbers, self._matrices, self._given, *self._constants, *self._one.arrays(slice(None)), *room
        )

    def _results(self, count: int) -> _Found:
        n, nv, named = self._layout.n, self._layout.robot.nv, self._numbers[-1]
        sizes = (n, nv, len(self._constants[-1]), max(named, 1))
        x, tau, forces, unmet = (np.zeros((count, size)) for size in sizes)
        return _Found(x, tau, forces, unmet, np.zeros((count, 5), np.int32))

    def _room(self) -> list[Array]:
        """The arrays of one thread."""
        n, m, R = self._layout.n, self._layout.side_count, self._layout.row_count
        rows: Array = np.vstack([np.zeros((R, n + 1)), np.eye(n, n + 1)])
        problem: list[Array] = [
            rows,
            np.zeros((m, n + 1)),
            np.zeros(m),
            np.zeros(m),
            np.zeros(n),
            np.zeros(5, np.int32),
        ]
        return [*problem, *work_of_levels(n, m, R + n)]

    def one(self, q: Array, v: Array, values: Array) -> WholeBodyStep:
        """The step of one moment; NaN among the torques where there is no solution."""
        with np.errstate(all="ignore"):  # what is not finite is told by the caller
            self._function(q, v, values, out=self._matrices[0])
        self._given[0] = values
        self._solve()
        return self._step(*(x[0].copy() for x in self._one))

    def many(self, q: Array, v: Array, values: Array, lead: tuple[int, ...], threads: int | None) -> WholeBodyStep:
        """The steps of all rows, whose results get the axes `lead`."""
        count = len(q)
        found = self._results(count)

        def compute(piece: slice) -> None:
            room, block = self._room(), np.zeros((_BLOCK, self._size))
            with at_most(1), np.errstate(all="ignore"):
                for start in range(piece.start, piece.stop, _BLOCK):
                    part = slice(start, min(start + _BLOCK, piece.stop))
                    out = block[: part.stop - start]
                    self._function(q[part], v[part], values[part], out=out)
                    taken(*self._numbers, out, values[part], *self._constants, *found.arrays(part), *room)

        pieces = max(1, min(-(-count // _BLOCK), 4 * thread_count(threads)))
        ends = [count * k // pieces for k in range(pieces + 1)]
        on_threads(compute, [slice(a, b) for a, b in pairwise(ends) if b > a], threads)
        x, tau, forces, unmet, told = (a.reshape(*lead, a.shape[-1]) for a in found.arrays(slice(None)))
        return self._step(x, tau, forces, unmet, told)

    def _step(self, x: Array, tau: Array, forces: Array, unmet: Array, told: Array) -> WholeBodyStep:
        given_up: Any = told[..., 4] == 1
        is_complete: Any = told[..., 0] == self._levels
        programs: Any = told[..., 2]
        if told.ndim == 1:
            given_up, is_complete, programs = bool(given_up), bool(is_complete), int(programs)
        return WholeBodyStep(
            tau, x[..., self._motion], {name: forces[..., where] for name, where in self._forces.items()},
            {name: unmet[..., where] for name, where in self._unmet.items()},
            given_up, is_complete, programs,
        )  # fmt: skip


def _weights_and_starts(layout: Layout, levels: list[list[str]], effort: Effort) -> tuple[Array, Array]:
    """The factor of each row's square, and where each level starts."""
    nv, n, R = layout.robot.nv, layout.n, layout.row_count
    weights = np.ones(R + n)
    for name, where in layout.rows.items():
        weights[where] = layout.tasks[name].weights(layout.robot)
    if layout.torques_count:
        weights[R - len(layout.driven) : R] = effort.torques
    weights[R : R + nv] = effort.accelerations
    for name, where in layout.forces.items():
        weights[R + where.start : R + where.stop] = effort.forces * np.asarray(layout.contacts[name].force_weight)
    starts, at = [0, layout.first_rows], layout.first_rows
    if layout.contacts:
        at += sum(c.motion_size for c in layout.contacts.values())
        starts.append(at)
    for names in levels:
        at += sum(layout.tasks[name].size(layout.robot) for name in names)
        starts.append(at)
    starts[-1 if effort.priority is not None else len(starts) :] = [R + n]
    return weights, np.array(starts, np.int32)


def _generators(layout: Layout) -> tuple[Array, Array, Mapping[str, slice]]:
    """From the numbers of all forces to the forces that are told, whose each number is, and where each force is."""
    blocks = {name: c.axes() if c.is_point else c.generator() for name, c in layout.contacts.items()}
    nv = layout.robot.nv
    generators = np.zeros((sum(len(block) for block in blocks.values()), max(layout.n - nv, 1)))
    owners, where, start = np.zeros(max(layout.n - nv, 1), np.int32), {}, 0
    for k, (name, block) in enumerate(blocks.items()):
        numbers = slice(layout.forces[name].start - nv, layout.forces[name].stop - nv)
        where[name] = slice(start, start + len(block))
        generators[where[name], numbers], owners[numbers] = block, k
        start += len(block)
    return generators, owners, where
