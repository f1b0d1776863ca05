"""Derivatives of a definition's program, as programs with ports of their own.

A configuration is displaced, not its numbers: where q goes in, a direction is a v (nv), and the derivatives of q's
numbers along it are the joints' `rates`. All else is differentiated number by number. Names of inputs are those of the
definition, "f_ext.FRAME" for an external force (with its `WrenchOn` or `ForceOn` in place of FRAME), and the
parameters' own. Numbers of options have names such as "constraints.0.at".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, TypeVar

from kinetree.compiler.definition import Definition, Derivative
from kinetree.compiler.specialization import MOST_ARRAYS, Specialization, too_large_to_write_out
from kinetree.errors import OptionError
from kinetree.expr import (
    Joined,
    Place,
    Port,
    Program,
    Scalar,
    forward_derivative,
    replay,
    reverse_derivative,
    trace,
)
from kinetree.model import Model
from kinetree.model.external_forces import Acting, ForceKey
from kinetree.records import record

__all__ = ["DerivedSpecialization", "derived", "input_names", "specialized"]

T = TypeVar("T")
_STRAIGHT = 12_000
"""Operations that a matrix of derivatives may take if it is to be written out column by column."""
_TRIED = 5 * _STRAIGHT
"""Operations up to which columns are tried where there are fewer rows: shared by columns, most may vanish."""
_MOST_ENTRIES = 100_000
"""Entries that a matrix may have if it is to be written out: each is stored by itself, even where it is zero."""
_TIMES_AS_LONG = 2.6
"""Statements of a derivative per statement of the function, forward or backward."""


def specialized(
    definition: Definition,
    model: Model,
    options: Mapping[str, Hashable],
    forces: tuple[Acting, ...],
    parameters: tuple[str, ...],
    unroll: bool | None,
) -> Specialization:
    """A definition, or its substitute for large robots or turning forces, for one robot and one set of options."""
    made = Specialization if definition.derivative is None else DerivedSpecialization
    whole = made(definition, model, options, forces, parameters, unroll)
    large = definition.strategy.when_large
    if large is not None and unroll is not True and (unroll is False or too_large_to_write_out(model, definition)):
        return _in_place_of(large, whole)
    turning = definition.strategy.when_forces_turn
    if turning is not None and any(force.turns for force in forces):
        return _in_place_of(turning, whole)
    return whole


def _in_place_of(definition: Definition, like: Specialization) -> Specialization:
    """The specialization of a substitute."""
    model, options = like.model, like.options
    rest = {name: check(model, None) for name, check in definition.options.items() if name not in options}
    return specialized(definition, model, {**options, **rest}, like.forces, like.parameters, like.unroll)


@cache
def derived(of: Definition, mode: Any, wrt: tuple[str, ...], along: tuple[str, ...] = ()) -> Definition:
    """The definition of a derivative: equal requests give the same object, by which kernels are kept."""
    large, turning = (
        None if instead is None else derived(instead, mode, wrt, along)
        for instead in (of.strategy.when_large, of.strategy.when_forces_turn)
    )
    strategy = replace(of.strategy, when_large=large, when_forces_turn=turning)
    return replace(of, name=f"{mode} of {of.name}", derivative=Derivative(of, mode, wrt, along), strategy=strategy)


def input_names(
    definition: Definition, numbers: Sequence[Port], forces: Sequence[ForceKey], parameters: Sequence[str]
) -> list[str]:
    """The names that a function can be differentiated by."""
    own = [name for name, _ in definition.inputs] + ["dt"] * definition.takes_dt
    return [*own, *(port.name for port in numbers), *(f"f_ext.{key}" for key in forces), *parameters]


@record(frozen=True, eq=False)
class DerivedSpecialization(Specialization):
    """A derivative for one robot and one set of options."""

    @cached_property
    def _base(self) -> Specialization:
        derivative = self.definition.derivative
        assert derivative is not None
        return specialized(derivative.of, self.model, self.options, self.forces, self.parameters, self.unroll)

    @cached_property
    def _names(self) -> list[str]:
        forces = [force.key for force in self.forces]
        return input_names(self._base.definition, self.numbers, forces, self.parameters)

    @property
    def _derivative(self) -> Derivative:
        assert self.definition.derivative is not None
        return self.definition.derivative

    @cached_property
    def _more(self) -> tuple[Port, ...]:
        """The inputs that follow the function's own: weights, and directions."""
        d = self._derivative
        weights = [Port("weights", self._base.output.shape)] if d.mode in ("vjp", "hvp") else []
        along = {"jvp": d.wrt, "hvp": d.along}.get(d.mode, ())
        return (*weights, *(Port(f"d_{name}", self.direction_shape(name)) for name in along))

    @property
    def inputs(self) -> tuple[Port, ...]:
        base, own = self._base.inputs, self._own
        return (*base[:own], *self._more, *base[own:])

    @property
    def output(self) -> Port:
        """A value and its derivative (jvp); the value, then a gradient by each input (vjp); the changes of such (hvp);
        a matrix by each input (jacobian)."""
        d, shape = self._derivative, self._base.output.shape
        if d.mode == "jvp":
            return Port(self.definition.name, (2, *shape))
        sizes = [Port("", self.direction_shape(name)).size for name in d.wrt]
        if d.mode == "vjp":
            return Port(self.definition.name, (self._base.output.size + sum(sizes),))
        if d.mode == "hvp":
            return Port(self.definition.name, (sum(sizes),))
        shapes = {self.direction_shape(name) for name in d.wrt}
        if len(d.wrt) == 1:
            return Port(self.definition.name, (*shape, *shapes.pop()))
        if len(shapes) == 1:
            return Port(self.definition.name, (len(d.wrt), *shape, *shapes.pop()))
        return Port(self.definition.name, (self._base.output.size * sum(sizes),))

    def direction_shape(self, name: str) -> tuple[int, ...]:
        """The shape of a displacement of an input."""
        return (self.model.nv,) if self._is_configuration(name) else self._base.inputs[self._number(name)].shape

    @property
    def quaternions(self) -> list[tuple[int, Mapping[str, slice]]]:
        more = len(self._more)
        return [(k + more * (k >= self._own), found) for k, found in self._base.quaternions]

    def check(self) -> None:
        self._base.check()
        if len(self.inputs) + 1 > MOST_ARRAYS:
            raise OptionError(f"{self.definition.name} would take {len(self.inputs)} arrays, more than a function can")

    def inlined(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        return self.called(*flat)

    def program(self) -> Program:
        """The derivative of the function written out, or of its loops where that would take long to compile."""
        base = self._base.program()
        if self._base.definition.strategy.can_loop(self.model) and self._is_long(base):
            base = self._base.looped()
        program = self._of(base)
        self._announce(program)
        return program

    def _is_long(self, base: Program) -> bool:
        """Whether the derivative of a program would take long to compile, and need not be written out."""
        statements = sum(1 for _ in base.body.all_statements())
        is_long = _TIMES_AS_LONG * statements > self.definition.strategy.longest or self._has_many_entries
        return self.unroll is None and is_long

    @property
    def _has_many_entries(self) -> bool:
        """Whether it is a matrix with so many entries that storing them one by one takes long to compile."""
        columns = sum(map(self._direction_size, self._derivative.wrt))
        return self._derivative.mode == "jacobian" and self._base.output.size * columns >= _MOST_ENTRIES

    def _of(self, base: Program) -> Program:
        """The derivative of a program of the function."""
        d = self._derivative
        numbers = [self._number(name) for name in d.wrt]
        if d.mode == "jvp":
            return self._along(forward_derivative(base, numbers))
        if d.mode == "jacobian":
            return self._matrices(base)
        backward = reverse_derivative(base, numbers)
        return self._weighted(backward) if d.mode == "vjp" else self._weighted_along(backward)

    # Each of these runs the derivative of the base's program inside a program with the ports of this one: a straight
    # line is traced again, so that it shares values with the code around it; a program with loops is joined on.

    def _along(self, program: Program) -> Program:
        d = self._derivative
        if not program.is_straight:
            joined, own, more = self._joined()
            rates = [self._rates_at(joined, name, own, dx) for name, dx in zip(d.wrt, more, strict=True)]
            (output,) = joined.outputs
            joined.run(program, [*own, *rates], [output, output + self._base.output.size])
            return joined.program()

        def one_sample(*flat: list[Scalar]) -> list[list[Scalar]]:
            own, more = self._apart(flat)
            rates = [self._rates(name, own, dx) for name, dx in zip(d.wrt, more, strict=True)]
            return [[x for output in replay(program, *own, *rates) for x in output]]

        return trace(one_sample, self.inputs, [self.output], self.definition.name)

    def _weighted(self, program: Program) -> Program:
        if not program.is_straight:
            joined, own, more = self._joined()
            (output,) = joined.outputs
            self._weigh(joined, program, own, more, output, output + self._base.output.size)
            return joined.program()

        def one_sample(*flat: list[Scalar]) -> list[list[Scalar]]:
            own, more = self._apart(flat)
            value, *gradients = replay(program, *own, *more)
            pairs = zip(self._derivative.wrt, gradients, strict=True)
            return [[*value, *(x for name, bar in pairs for x in self._pulled_back(name, own, bar))]]

        return trace(one_sample, self.inputs, [self.output], self.definition.name)

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
        for name in self._derivative.wrt:
            if self._is_displaced(name):
                bar = joined.array("bar", self._base.inputs[self._number(name)].size)
                pulled.append((reverse_derivative(self._rates_program, [1]), own[self._number(name)], bar, first))
                gradients.append(bar)
            else:
                gradients.append(first)
            first += self._direction_size(name)
        joined.run(program, [*own, *weights], [value, *gradients])
        for backward, q, bar, target in pulled:
            nothing = joined.array("rates", backward.outputs[0].size)
            joined.run(backward, [q, target, bar], [nothing, target])

    def _weighted_along(self, backward: Program) -> Program:
        """The change of the gradients along a direction."""
        d, base = self._derivative, self._base
        sizes = sum(map(self._direction_size, d.wrt))
        ports = (*base.inputs, Port("weights", base.output.shape))
        names = [self._number(name) for name in d.along]
        if backward.is_straight:

            def gradients(*flat: list[Scalar]) -> list[list[Scalar]]:
                *own, weights = flat
                _, *bars = replay(backward, *own, weights)
                return [[x for name, bar in zip(d.wrt, bars, strict=True) for x in self._pulled_back(name, own, bar)]]

            weighted = trace(gradients, ports, [Port("gradients", (sizes,))], self.definition.name)
            program = forward_derivative(weighted, names)

            def one_sample(*flat: list[Scalar]) -> list[list[Scalar]]:
                own, (weights, *directions) = self._apart(flat)
                rates = [self._rates(name, own, dx) for name, dx in zip(d.along, directions, strict=True)]
                return [replay(program, *own, weights, *rates)[1]]

            return trace(one_sample, self.inputs, [self.output], self.definition.name)

        inner = Joined(self.definition.name, ports, [Port("gradients", (sizes,))])
        value = inner.array("value", base.output.size)
        self._weigh(inner, backward, inner.inputs[:-1], inner.inputs[-1:], value, inner.outputs[0])
        joined, own, (weights, *directions) = self._joined()
        rates = [self._rates_at(joined, name, own, dx) for name, dx in zip(d.along, directions, strict=True)]
        places = [joined.array("gradients", sizes), *joined.outputs]
        joined.run(forward_derivative(inner.program(), names), [*own, weights, *rates], places)
        return joined.program()

    def _matrices(self, base: Program) -> Program:
        """Written out if that is short, one column per direction or one row per result; else a loop over directions."""
        rows, columns = self._base.output.size, sum(map(self._direction_size, self._derivative.wrt))
        operations = base.operation_counts().total()
        if base.is_straight and operations * min(rows, columns) < _STRAIGHT and not self._has_many_entries:
            ways = [self._by_rows] if 0 < rows < columns else [self._by_columns]
            if 0 < rows < columns and operations * columns < _TRIED:
                ways.append(self._by_columns)
            written = [self._written(way(base)) for way in ways]
            shortest = min(written, key=lambda program: program.operation_counts().total())
            if shortest.operation_counts().total() < _STRAIGHT:
                return shortest
        return self._by_loops(base)

    def _written(self, one_sample: Callable[..., list[Scalar]]) -> Program:
        return trace(lambda *own: [one_sample(*own)], self.inputs, [self.output], self.definition.name)

    def _by_columns(self, base: Program) -> Callable[..., list[Scalar]]:
        programs = [forward_derivative(base, [self._number(name)]) for name in self._derivative.wrt]

        def one_sample(*own: list[Scalar]) -> list[Scalar]:
            matrices: list[Scalar] = []
            for name, program in zip(self._derivative.wrt, programs, strict=True):
                size = self._direction_size(name)
                units = ([float(j == k) for j in range(size)] for k in range(size))
                columns = [replay(program, *own, self._rates(name, own, unit))[1] for unit in units]
                matrices += [x for row in zip(*columns, strict=True) for x in row]
            return matrices

        return one_sample

    def _by_rows(self, base: Program) -> Callable[..., list[Scalar]]:
        wrt, rows = self._derivative.wrt, self._base.output.size
        program = reverse_derivative(base, [self._number(name) for name in wrt])

        def one_sample(*own: list[Scalar]) -> list[Scalar]:
            found: list[list[Scalar]] = [[] for _ in wrt]
            for k in range(rows):
                _, *gradients = replay(program, *own, [float(j == k) for j in range(rows)])
                for matrix, name, bar in zip(found, wrt, gradients, strict=True):
                    matrix += self._pulled_back(name, own, bar)
            return [x for matrix in found for x in matrix]

        return one_sample

    def _by_loops(self, base: Program) -> Program:
        """One forward derivative, once for each direction: its result is a column of the matrix."""
        joined, own, _ = self._joined()
        rows, (matrix,) = self._base.output.size, joined.outputs
        for name in self._derivative.wrt:
            size = self._direction_size(name)
            if not size:
                continue
            units = joined.array("unit", 2 * size - 1, [float(k == size - 1) for k in range(2 * size - 1)])
            value = joined.array("value", rows)
            with joined.rounds(size) as k:
                unit = Place(units.array, k * -1 + (size - 1))  # its entry k is the one that is 1
                rates = self._rates_at(joined, name, own, unit)
                column = Place(matrix.array, matrix.at + k, size)
                joined.run(forward_derivative(base, [self._number(name)]), [*own, rates], [value, column])
            matrix += rows * size
        return joined.program()

    # Arguments, and the manifold.

    def _apart(self, flat: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        """The function's own arguments, and the additional ones of the derivative."""
        own, more = self._own, len(self._more)
        return (*flat[:own], *flat[own + more :]), flat[own : own + more]

    def _joined(self) -> tuple[Joined, Sequence[Place], Sequence[Place]]:
        """A program with these ports, and the places of the function's own arguments and of the others."""
        joined = Joined(self.definition.name, self.inputs, [self.output])
        return joined, *self._apart(joined.inputs)

    def _direction_size(self, name: str) -> int:
        return Port("", self.direction_shape(name)).size

    def _is_displaced(self, name: str) -> bool:
        """Whether the numbers of an input are displaced by other numbers than those of a direction."""
        return self._is_configuration(name) and not all(joint.kind.is_flat for joint in self.model.joints.values())

    @cached_property
    def _rates_program(self) -> Program:
        """How the numbers of a configuration change along a displacement of it."""
        ports = [Port("q", (self.model.nq,)), Port("d_q", (self.model.nv,))]
        return trace(lambda q, dq: [_rates(self.model, q, dq)], ports, [Port("rates", (self.model.nq,))], "rates")

    def _rates_at(self, joined: Joined, name: str, own: Sequence[Place], direction: Place) -> Place:
        """Where the rates of an input's numbers along a direction are."""
        if not self._is_displaced(name):
            return direction
        rates = joined.array("rates", self.model.nq)
        joined.run(self._rates_program, [own[self._number(name)], direction], [rates])
        return rates

    def _number(self, name: str) -> int:
        return self._names.index(name)

    def _is_configuration(self, name: str) -> bool:
        sizes = dict(self._base.definition.inputs)
        return sizes.get(name) == "nq"

    def _rates(self, name: str, own: Sequence[Sequence[Scalar]], direction: Sequence[Scalar]) -> Sequence[Scalar]:
        """How an input's numbers change along a direction."""
        if not self._is_displaced(name):
            return direction
        return _rates(self.model, own[self._number(name)], direction)

    def _pulled_back(self, name: str, own: Sequence[Sequence[Scalar]], bar: Sequence[Scalar]) -> Sequence[Scalar]:
        """From derivatives by an input's numbers to those by directions: the transpose of `_rates`."""
        if not self._is_displaced(name):
            return bar
        q, nv = own[self._number(name)], self.model.nv
        columns = (_rates(self.model, q, [float(j == k) for j in range(nv)]) for k in range(nv))
        return [sum((b * x for b, x in zip(bar, column, strict=True)), 0.0) for column in columns]


def _rates(model: Model, q: Sequence[Scalar], direction: Sequence[Scalar]) -> Sequence[Scalar]:
    pieces, directions = model.tree.split(q, "nq"), model.tree.split(direction, "nv")
    rates = [model.tree.joint[i].rates(pieces[i], directions[i]) for i in range(1, model.tree.size)]
    return model.tree.joined(rates, "rates")
