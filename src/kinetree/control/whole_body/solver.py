"""Steps of whole-body control: from the matrices of each to its torques, in machine code, one or many on threads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.codegen.loops.compiled import compiled, prepared
from kinetree.codegen.loops.kinds import Floats, Indices
from kinetree.compiler.helper_threads import on_threads
from kinetree.compiler.thread_count import at_most, thread_count
from kinetree.control.quadratic.priorities import in_order
from kinetree.control.quadratic.workspace import Levels, Workspace
from kinetree.control.whole_body.effort import Effort
from kinetree.control.whole_body.matrices import Layout, matrices
from kinetree.control.whole_body.result import WholeBodyStep
from kinetree.programs.program import Program

__all__ = ["Solver"]

Array = NDArray[Any]
_NO_NUMBER = float("nan")
_BLOCK = 32
"""Samples whose matrices are computed together; those of a humanoid take 2 MB."""


class Constants(NamedTuple):
    """Values that are the same in all steps."""

    first: int
    named: int
    """The number of the first row that `unmet` has, and how many it has."""
    driven: Indices
    """The degrees of freedom that have a motor."""
    owners: Indices
    """(n − nv,), the contact of each number of a force."""
    limit: Floats
    """(nv,), of torques."""
    generators: Floats
    """(…, n − nv), from these numbers to the forces of contacts."""


class Steps(NamedTuple):
    """Results, with the samples as first axis."""

    solution: Floats
    """(N, n)."""
    tau: Floats
    """(N, nv)."""
    forces: Floats
    """(N, …), the forces of all contacts."""
    unmet: Floats
    """(N, …), A x − b of the rows that are named."""
    outcome: Indices
    """(N, 5), as of `Workspace`."""

    def part(self, piece: slice) -> Steps:
        return Steps._make(x[piece] for x in self)


@compiled
def taken(matrices: Floats, given: Floats, robot: Constants, levels: Levels, steps: Steps, w: Workspace) -> None:
    """The problems whose matrices the program of `matrices.py` has computed, with the samples as first axis.

    Args:
        matrices: (N, …), the program's result.
        given: (N, …), its argument, which begins with the switches of the contacts.
        robot: constants.
        levels: whose rows, sides and bounds are written; the last n rows are those of the effort.
        steps: results.
        w: to work in.
    """
    n, m, nv = levels.n, levels.hard + levels.soft, len(robot.limit)
    equations, first = len(levels.rows) - n, robot.first
    for k in range(len(matrices)):
        at = 0
        for i in range(m):
            for j in range(n + 1):
                levels.sides[i, j] = matrices[k, at + j]
            at += n + 1
        for i in range(m):
            levels.lower[i], levels.upper[i] = matrices[k, at + i], matrices[k, at + m + i]
        bias = at + 2 * m
        at = bias + nv
        for i in range(equations):
            for j in range(n + 1):
                levels.rows[i, j] = matrices[k, at + j]
            at += n + 1
        w.solution[0] = _NO_NUMBER
        in_order(levels, w)
        for j in range(n - nv):
            if given[k, int(robot.owners[j])] == 0.0:  # a contact that is off: exactly, not up to rounding
                w.solution[nv + j] = 0.0
        for j in range(n):
            steps.solution[k, j] = w.solution[j]
        for i in range(nv):
            steps.tau[k, i] = 0.0
        for i in range(len(robot.driven)):
            joint = int(robot.driven[i])
            total = matrices[k, bias + joint]
            for j in range(n):
                total += levels.sides[i, j] * w.solution[j]
            steps.tau[k, joint] = min(max(total, -robot.limit[joint]), robot.limit[joint])
        for i in range(len(robot.generators)):
            total = 0.0
            for j in range(n - nv):
                total += robot.generators[i, j] * w.solution[nv + j]
            steps.forces[k, i] = total
        for i in range(robot.named):
            total = -levels.rows[first + i, n]
            for j in range(n):
                total += levels.rows[first + i, j] * w.solution[j]
            steps.unmet[k, i] = total
        for i in range(5):
            steps.outcome[k, i] = int(w.outcome[i])


class Solver:
    """The program of the matrices and the machine code after it."""

    def __init__(self, layout: Layout, levels: list[list[str]], effort: Effort, limit: Array) -> None:
        self._layout = layout
        self.program: Program = matrices(layout, limit)
        self._function = self.program.compile()
        weights, starts = _weights_and_starts(layout, levels, effort)
        n, m, R, soft = layout.n, layout.side_count, layout.row_count, layout.soft_count
        self.levels: Levels = Levels(
            n, m - soft, soft, np.vstack([np.zeros((R, n + 1)), np.eye(n, n + 1)]), weights, starts,
            np.zeros((m, n + 1)), np.zeros(m), np.zeros(m),
        )  # fmt: skip
        self._size = (m + R) * (n + 1) + 2 * m + layout.robot.nv
        first = layout.first_rows
        where = {**layout.motions, **{name: layout.rows[name] for name in layout.tasks}}
        self._unmet = {name: slice(rows.start - first, rows.stop - first) for name, rows in where.items()}
        self._motion = slice(layout.robot.nv)
        named = sum(rows.stop - rows.start for rows in self._unmet.values())
        generators, owners, self._forces = _generators(layout)
        self._constants = Constants(first, named, layout.driven.astype(np.int32), owners, limit, generators)
        self._one = self._results(1)
        self._matrices, self._given = np.zeros((1, self._size)), np.zeros((1, max(layout.given_count, 1)))
        self._solve = prepared(
            taken, self._matrices, self._given, self._constants, self.levels, self._one, self._workspace()
        )

    def _results(self, count: int) -> Steps:
        sizes = (self._layout.n, self._layout.robot.nv, len(self._constants.generators), max(self._constants.named, 1))
        return Steps._make([*(np.zeros((count, size)) for size in sizes), np.zeros((count, 5), np.int32)])

    def _workspace(self) -> Workspace:
        return Workspace.of(self._layout.n, self._layout.side_count, len(self.levels.rows))

    def one(self, q: Array, v: Array, values: Array) -> WholeBodyStep:
        """The step of one moment; NaN among the torques where no solution exists."""
        with np.errstate(all="ignore"):  # the caller reports numbers that are not finite
            self._function(q, v, values, out=self._matrices[0])
        self._given[0] = values
        self._solve()
        return self._step(*(x[0].copy() for x in self._one))

    def many(self, q: Array, v: Array, values: Array, lead: tuple[int, ...], threads: int | None) -> WholeBodyStep:
        """The steps of all rows, whose results get the axes `lead`."""
        count = len(q)
        results = self._results(count)

        def compute(piece: slice) -> None:
            own = {name: getattr(self.levels, name).copy() for name in ("rows", "sides", "lower", "upper")}
            levels, workspace, block = self.levels._replace(**own), self._workspace(), np.zeros((_BLOCK, self._size))
            with at_most(1), np.errstate(all="ignore"):
                for start in range(piece.start, piece.stop, _BLOCK):
                    part = slice(start, min(start + _BLOCK, piece.stop))
                    out = block[: part.stop - start]
                    self._function(q[part], v[part], values[part], out=out)
                    taken(out, values[part], self._constants, levels, results.part(part), workspace)

        pieces = max(1, min(-(-count // _BLOCK), 4 * thread_count(threads)))
        ends = [count * k // pieces for k in range(pieces + 1)]
        on_threads(compute, [slice(a, b) for a, b in pairwise(ends) if b > a], threads)
        x, tau, forces, unmet, outcome = (a.reshape(*lead, a.shape[-1]) for a in results)
        return self._step(x, tau, forces, unmet, outcome)

    def _step(self, x: Array, tau: Array, forces: Array, unmet: Array, outcome: Array) -> WholeBodyStep:
        given_up: Any = outcome[..., 4] == 1
        is_complete: Any = outcome[..., 0] == len(self.levels.starts) - 1
        programs: Any = outcome[..., 2]
        if outcome.ndim == 1:
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
    """The map from the numbers of all forces to reported forces, the owner of each number, and each force's place."""
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
