"""Derivatives of anything that is compiled, as sources with ports of their own.

A configuration is displaced, not its numbers: where q goes in, a direction is a v (nv), and the derivatives of q's
numbers along it are the joints' `rates`. All else is differentiated number by number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, TypeVar

from kinetree import expr
from kinetree.announcement import phase
from kinetree.compiler.definition import Mode
from kinetree.compiler.source import Ports, Source, direction_shape
from kinetree.compiler.specialization import program_to_differentiate, worth_sharing
from kinetree.compiler.tracing import Trace, current_trace, recorded
from kinetree.expr import Port, Program, Scalar
from kinetree.model import Body, Model
from kinetree.model.fingerprint import digest, fingerprint
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.expr import Joined, Place

__all__ = ["Derivation", "DerivedSource"]

T = TypeVar("T")
_STRAIGHT = 12_000
"""Operations that a matrix of derivatives may take if it is written out column by column."""
_TRIED = 5 * _STRAIGHT
"""Operations up to which columns are tried where there are fewer rows: shared by columns, most may vanish."""
_MOST_ENTRIES = 100_000
"""Entries that a matrix may have if it is written out: each is stored by itself, even where it is zero."""


@record(frozen=True, eq=False)
class Derivation:
    """The ports of a derivative, and its program made from that of the function."""

    name: str
    of: Ports
    mode: Mode
    wrt: tuple[str, ...]
    """The names of the inputs it is differentiated by."""
    along: tuple[str, ...] = ()
    """For "hvp": the inputs that the direction changes."""
    own: int | None = None
    """How many of its inputs come before weights and directions; None for all."""
    as_recorded: bool = False
    """Whether its program's operations stay as they were recorded (`lower`)."""
    alone: bool = False
    """Whether "jvp" and "vjp" leave the value out."""

    @cached_property
    def _own(self) -> int:
        return len(self.of.inputs) if self.own is None else self.own

    @cached_property
    def _more(self) -> tuple[Port, ...]:
        """The inputs that follow the function's own: weights, and directions."""
        weights = [Port("weights", self.of.output.shape)] if self.mode in ("vjp", "hvp") else []
        along = {"jvp": self.wrt, "hvp": self.along}.get(self.mode, ())
        return (*weights, *(Port(f"d_{name}", self._direction(name)) for name in along))

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The inputs of the function, with weights and directions after its own."""
        base, own = self.of.inputs, self._own
        return (*base[:own], *self._more, *base[own:])

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which users know the inputs."""
        base, own = self.of.names, self._own
        return (*base[:own], *(port.name for port in self._more), *base[own:])

    @property
    def output(self) -> Port:
        """A value and its derivative (jvp); the value, then a gradient by each input (vjp); the changes of such (hvp);
        a matrix by each input (jacobian)."""
        shape, size = self.of.output.shape, self.of.output.size
        if self.mode == "jvp":
            return Port(self.name, shape if self.alone else (2, *shape))
        sizes = [self._direction_size(name) for name in self.wrt]
        if self.mode in ("vjp", "hvp"):
            is_alone = self.alone or self.mode == "hvp"
            return Port(self.name, (sum(sizes) if is_alone else size + sum(sizes),))
        shapes = {self._direction(name) for name in self.wrt}
        if len(self.wrt) == 1:
            return Port(self.name, (*shape, *shapes.pop()))
        if len(shapes) == 1:
            return Port(self.name, (len(self.wrt), *shape, *shapes.pop()))
        return Port(self.name, (size * sum(sizes),))

    @property
    def configurations(self) -> Mapping[int, Model]:
        """The inputs that are configurations, by number, and their robots."""
        return {self._moved(k): robot for k, robot in self.of.configurations.items()}

    def _moved(self, k: int) -> int:
        return k + len(self._more) * (k >= self._own)

    @property
    def _has_many_entries(self) -> bool:
        """Whether it is a matrix with so many entries that storing them one by one takes long to compile."""
        columns = sum(map(self._direction_size, self.wrt))
        return self.mode == "jacobian" and self.of.output.size * columns >= _MOST_ENTRIES

    @phase("derivatives")
    def derivative_of(self, base: Program) -> Program:
        """The derivative of a program of the function."""
        numbers = [self._number(name) for name in self.wrt]
        if self.mode == "jvp":
            return self._along(expr.forward_derivative(base, numbers))
        if self.mode == "jacobian":
            return self._matrices(base)
        if self.mode == "vjp":
            return self._weighted(expr.reverse_derivative(base, numbers))
        gradients = replace(self, mode="vjp", alone=True)
        changes = replace(self, of=gradients, mode="jvp", wrt=self.along, own=self._own + 1, alone=True)
        return changes.derivative_of(gradients.derivative_of(base))

    # Each of these runs the derivative of the base's program inside a program with the ports of this one: a straight
    # line is traced again, so that it shares values with the code around it; a program with loops is joined on.

    def _along(self, program: Program) -> Program:
        if not program.is_straight:
            joined, own, more = self._joined()
            rates = [self._rates_at(joined, name, own, dx) for name, dx in zip(self.wrt, more, strict=True)]
            (output,), size = joined.outputs, self.of.output.size
            value = joined.array("value", size) if self.alone else output
            joined.run(program, [*own, *rates], [value, output if self.alone else output + size])
            return joined.program()

        def one_sample(*flat: list[Scalar]) -> list[list[Scalar]]:
            own, more = self._apart(flat)
            rates = [self._rates(name, own, dx) for name, dx in zip(self.wrt, more, strict=True)]
            return [[x for output in expr.replay(program, *own, *rates)[self.alone :] for x in output]]

        return self._traced(one_sample)

    def _weighted(self, program: Program) -> Program:
        if not program.is_straight:
            joined, own, more = self._joined()
            (output,), size = joined.outputs, self.of.output.size
            value = joined.array("value", size) if self.alone else output
            self._weigh(joined, program, own, more, value, output if self.alone else output + size)
            return joined.program()

        def one_sample(*flat: list[Scalar]) -> list[list[Scalar]]:
            own, more = self._apart(flat)
            value, *gradients = expr.replay(program, *own, *more)
            pulled = zip(self.wrt, gradients, strict=True)
            value = [] if self.alone else value
            return [[*value, *(x for name, bar in pulled for x in self._pulled_back(name, own, bar))]]

        return self._traced(one_sample)

    def _weigh(
        self,
        joined: Joined,
        program: Program,
        own: Sequence[Place],
        weights: Sequence[Place],
        value: Place,
        first: Place,
    ) -> None:
        """Run a reverse derivative; the value goes to its place, the gradients follow each other from `first` on."""
        gradients: list[Place] = []
        pulled: list[tuple[Program, Place, Place, Place]] = []
        for name in self.wrt:
            robot = self._displaced(name)
            if robot is not None:
                bar = joined.array("bar", self.of.inputs[self._number(name)].size)
                pulled.append(
                    (expr.reverse_derivative(_rates_program(robot), [1]), own[self._number(name)], bar, first)
                )
                gradients.append(bar)
            else:
                gradients.append(first)
            first += self._direction_size(name)
        joined.run(program, [*own, *weights], [value, *gradients])
        for backward, q, bar, target in pulled:
            nothing = joined.array("rates", backward.outputs[0].size)
            joined.run(backward, [q, target, bar], [nothing, target])

    def _matrices(self, base: Program) -> Program:
        """Written out if that is short, one column per direction or one row per result; else a loop over directions."""
        rows, columns = self.of.output.size, sum(map(self._direction_size, self.wrt))
        if not base.is_straight or self._has_many_entries:
            return self._by_loops(base)
        by_rows, by_columns = base.operation_counts().total() * rows, self._operations_of_columns(base)
        if min(by_rows, by_columns) < _STRAIGHT:
            ways = [self._by_rows] if 0 < rows < columns and by_rows < _STRAIGHT else []
            if not ways or by_columns < _TRIED:
                ways.append(self._by_columns)
            written = [self._written(way(base)) for way in ways]
            shortest = min(written, key=lambda program: program.operation_counts().total())
            if shortest.operation_counts().total() < _STRAIGHT:
                return shortest
        return self._by_loops(base)

    def _operations_of_columns(self, base: Program) -> int:
        """About how many operations the columns take, without those that are known to be zero in them."""
        changed = [[0] * port.size for port in base.inputs]
        first = 0
        for name in self.wrt:
            robot, size = self._displaced(name), self._direction_size(name)
            pairs = [(k, k) for k in range(size)] if robot is None else _changed_by(robot)
            for number, direction in pairs:
                changed[self._number(name)][number] |= 1 << (first + direction)
            first += size
        return expr.operations_along(base, [directions for port in changed for directions in port])

    def _written(self, one_sample: Callable[..., list[Scalar]]) -> Program:
        return self._traced(lambda *own: [one_sample(*own)])

    def _traced(self, one_sample: Callable[..., list[list[Scalar]]]) -> Program:
        return expr.trace(one_sample, self.inputs, [self.output], self.name, as_recorded=self.as_recorded)

    def _by_columns(self, base: Program) -> Callable[..., list[Scalar]]:
        programs = [expr.forward_derivative(base, [self._number(name)]) for name in self.wrt]

        def one_sample(*own: list[Scalar]) -> list[Scalar]:
            matrices: list[Scalar] = []
            for name, program in zip(self.wrt, programs, strict=True):
                size = self._direction_size(name)
                units = ([float(j == k) for j in range(size)] for k in range(size))
                columns = [expr.replay(program, *own, self._rates(name, own, unit))[1] for unit in units]
                matrices += [x for row in zip(*columns, strict=True) for x in row]
            return matrices

        return one_sample

    def _by_rows(self, base: Program) -> Callable[..., list[Scalar]]:
        wrt, rows = self.wrt, self.of.output.size
        program = expr.reverse_derivative(base, [self._number(name) for name in wrt])

        def one_sample(*own: list[Scalar]) -> list[Scalar]:
            matrices: list[list[Scalar]] = [[] for _ in wrt]
            for k in range(rows):
                _, *gradients = expr.replay(program, *own, [float(j == k) for j in range(rows)])
                for matrix, name, bar in zip(matrices, wrt, gradients, strict=True):
                    matrix += self._pulled_back(name, own, bar)
            return [x for matrix in matrices for x in matrix]

        return one_sample

    def _by_loops(self, base: Program) -> Program:
        """One forward derivative, once for each direction: its result is a column of the matrix."""
        joined, own, _ = self._joined()
        rows, (matrix,) = self.of.output.size, joined.outputs
        for name in self.wrt:
            size = self._direction_size(name)
            if not size:
                continue
            units = joined.array("unit", 2 * size - 1, [float(k == size - 1) for k in range(2 * size - 1)])
            value = joined.array("value", rows)
            with joined.rounds(size) as k:
                unit = expr.Place(units.array, k * -1 + (size - 1))  # its entry k is the one that is 1
                rates = self._rates_at(joined, name, own, unit)
                column = expr.Place(matrix.array, matrix.at + k, size)
                joined.run(expr.forward_derivative(base, [self._number(name)]), [*own, rates], [value, column])
            matrix += rows * size
        return joined.program()

    # Arguments, and the manifold.

    def _apart(self, flat: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        """The function's own arguments, and the additional ones of the derivative."""
        own, more = self._own, len(self._more)
        return (*flat[:own], *flat[own + more :]), flat[own : own + more]

    def _joined(self) -> tuple[Joined, Sequence[Place], Sequence[Place]]:
        """A program with these ports, and the places of the function's own arguments and of the others."""
        joined = expr.Joined(self.name, self.inputs, [self.output])
        return joined, *self._apart(joined.inputs)

    def _direction(self, name: str) -> tuple[int, ...]:
        return direction_shape(self.of, self._number(name))

    def _direction_size(self, name: str) -> int:
        return math.prod(self._direction(name))

    def _displaced(self, name: str) -> Model | None:
        """The robot of a configuration whose numbers are displaced by other numbers than those of a direction."""
        robot = self.of.configurations.get(self._number(name))
        return None if robot is None or all(joint.kind.is_flat for joint in robot.joints.values()) else robot

    def _rates_at(self, joined: Joined, name: str, own: Sequence[Place], direction: Place) -> Place:
        """Where the rates of an input's numbers along a direction are."""
        robot = self._displaced(name)
        if robot is None:
            return direction
        rates = joined.array("rates", robot.nq)
        joined.run(_rates_program(robot), [own[self._number(name)], direction], [rates])
        return rates

    def _number(self, name: str) -> int:
        return self.of.names.index(name)

    def _rates(self, name: str, own: Sequence[Sequence[Scalar]], direction: Sequence[Scalar]) -> Sequence[Scalar]:
        """How an input's numbers change along a direction."""
        robot = self._displaced(name)
        return direction if robot is None else _rates(robot, own[self._number(name)], direction)

    def _pulled_back(self, name: str, own: Sequence[Sequence[Scalar]], bar: Sequence[Scalar]) -> Sequence[Scalar]:
        """From derivatives by an input's numbers to those by directions: the transpose of `_rates`."""
        robot = self._displaced(name)
        if robot is None:
            return bar
        q, nv = own[self._number(name)], robot.nv
        columns = (_rates(robot, q, [float(j == k) for j in range(nv)]) for k in range(nv))
        return [sum((b * x for b, x in zip(bar, column, strict=True)), 0.0) for column in columns]


@record(frozen=True, eq=False)
class DerivedSource(Derivation):
    """The derivative of a source."""

    of: Source
    longest: float | None = None
    """For a function of a robot: the statements up to which a trace has it written out; all others call one program."""
    rows: tuple[int, ...] = ()
    state: tuple[int, ...] = ()

    @property
    def subject(self) -> str:
        """The owner of the arguments, as messages say it."""
        return self.of.subject

    @property
    def optional(self) -> range:
        """The arguments that may be left out."""
        return self.of.optional

    @property
    def can_loop(self) -> bool:
        """Whether the function can be made as loops over bodies."""
        return self.of.can_loop

    @property
    def quaternions(self) -> list[tuple[int, Mapping[str, slice]]]:
        """The inputs that hold quaternions, by number, and the slices of them."""
        return [(self._moved(k), found) for k, found in self.of.quaternions]

    @property
    def alternatives(self) -> list[tuple[int, Body]]:
        """The inputs that are numbers of objects, by number, and the bodies that these are."""
        return [(self._moved(k), body) for k, body in getattr(self.of, "alternatives", ())]

    @property
    def divides_by_inertia(self) -> bool:
        """Whether the function is undefined where a mass matrix is singular."""
        return self.of.divides_by_inertia

    def check(self) -> None:
        """Raise if the function does not exist."""
        self.of.check()

    def key(self, *more: object) -> bytes | None:
        """A key for code: of the function's, and of its transformation."""
        displaced = [(k, fingerprint(robot)) for k, robot in self.of.configurations.items()]
        if any(found is None for _, found in displaced):
            return None
        return self.of.key(*more, digest(self.mode, self.wrt, self.along, self._own, self.of.names, displaced))

    def program(self) -> Program:
        """The derivative of the function's program."""
        return self._program

    @cached_property
    def _program(self) -> Program:
        base = program_to_differentiate(self.of, has_many_entries=self._has_many_entries)
        return self.derivative_of(base)

    @cached_property
    def _called_program(self) -> Program:
        program = self.program()
        return program if self.longest is None else worth_sharing(program)

    def inlined(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        """The numbers of the result in the trace in progress."""
        in_progress = current_trace()
        return in_progress.run(self._recorded(in_progress) or self._called_program, *flat)

    def _recorded(self, in_progress: Trace) -> Program | None:
        """The derivative in the operations that the function records in a trace, which both then have in common.

        None if it is better called: if the function has loops, or more than `longest` statements.
        """
        longest = math.inf if self.longest is None else self.longest
        if in_progress.calls or longest < 0:
            return None
        if in_progress.choices not in self._shared:
            base, offered = recorded(self.of, in_progress)
            program = None
            if base.is_straight and len(base.body.statements) <= longest:
                program = replace(self, as_recorded=True).derivative_of(base)
            self._shared[in_progress.choices] = (program if program and program.is_straight else None, offered)
        program, offered = self._shared[in_progress.choices]
        in_progress.offered |= offered
        return program

    @cached_property
    def _shared(self) -> dict[frozenset[str], tuple[Program | None, set[str]]]:
        return {}


def _changed_by(model: Model) -> list[tuple[int, int]]:
    """Which numbers of a configuration change along which of its directions: the pairs within each joint."""
    ranges = ((range(model.nq)[joint.q_slice], range(model.nv)[joint.v_slice]) for joint in model.joints.values())
    return [pair for numbers, directions in ranges for pair in product(numbers, directions)]


def _rates_program(model: Model) -> Program:
    """How the numbers of a configuration change along a displacement of it."""
    ports = [Port("q", (model.nq,)), Port("d_q", (model.nv,))]
    return expr.trace(lambda q, dq: [_rates(model, q, dq)], ports, [Port("rates", (model.nq,))], "rates")


def _rates(model: Model, q: Sequence[Scalar], direction: Sequence[Scalar]) -> Sequence[Scalar]:
    pieces, directions = model.tree.split(q, "nq"), model.tree.split(direction, "nv")
    rates = [model.tree.joint[i].rates(pieces[i], directions[i]) for i in range(1, model.tree.size)]
    return model.tree.joined(rates, "rates")
