"""Derivatives of a definition's program, as programs with ports of their own.

A configuration is displaced, not its numbers: where q goes in, a direction is a v (nv), and the derivatives of q's
numbers along it are the joints' `rates`. All else is differentiated number by number. Names of inputs are those of the
definition, "f_ext.FRAME" for an external force, and the parameters' own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from kinetree.definition import Definition, Derivative
from kinetree.errors import OptionError
from kinetree.expr import (
    Index,
    Memory,
    Port,
    Program,
    Range,
    Recorder,
    Scalar,
    forward_derivative,
    lower,
    replay,
    reverse_derivative,
    trace,
)
from kinetree.model import Model
from kinetree.specialization import Specialization

__all__ = ["DerivedSpecialization", "derived", "input_names"]

_STRAIGHT = 12_000
"""Operations that a matrix of derivatives may take if it is to be written out column by column."""


@cache
def derived(of: Definition, mode: Any, wrt: tuple[str, ...], along: tuple[str, ...] = ()) -> Definition:
    """The definition of a derivative: one object for equal requests, as kernels are kept by it."""
    large = None if of.when_large is None else derived(of.when_large, mode, wrt, along)
    return replace(of, name=f"{mode} of {of.name}", derivative=Derivative(of, mode, wrt, along), when_large=large)


def input_names(definition: Definition, forces: Sequence[str], parameters: Sequence[str]) -> list[str]:
    """What a function can be differentiated by."""
    own = [name for name, _ in definition.inputs] + ["dt"] * definition.is_step
    return [*own, *(f"f_ext.{frame}" for frame in forces), *parameters]


@dataclass(frozen=True, eq=False)
class DerivedSpecialization(Specialization):
    """A derivative for one robot and one set of options."""

    @cached_property
    def _base(self) -> Specialization:
        derivative = self.definition.derivative
        assert derivative is not None
        made = Specialization if derivative.of.derivative is None else DerivedSpecialization
        return made(derivative.of, self.model, self.options, self.frames, self.parameters, self.unroll)

    @cached_property
    def _names(self) -> list[str]:
        return input_names(self._base.definition, [frame.name for frame in self.frames], self.parameters)

    @property
    def _derivative(self) -> Derivative:
        assert self.definition.derivative is not None
        return self.definition.derivative

    @cached_property
    def _more(self) -> tuple[Port, ...]:
        """The inputs that stand after the function's own: weights, and directions."""
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
        """Of a displacement of an input."""
        return (self.model.nv,) if self._is_configuration(name) else self._base.inputs[self._number(name)].shape

    @property
    def quaternions(self) -> list[tuple[int, Mapping[str, slice]]]:
        more = len(self._more)
        return [(k + more * (k >= self._own), found) for k, found in self._base.quaternions]

    def check(self) -> None:
        self._base.check()
        if len(self.inputs) + 1 > 64:
            raise OptionError(f"{self.definition.name} would take {len(self.inputs)} arrays, more than a function can")

    def program(self) -> Program:
        d = self._derivative
        if d.mode == "hvp":
            return self._weighted_along()
        base = self._base.program()
        numbers = [self._number(name) for name in d.wrt]
        if d.mode == "jvp":
            return self._along(forward_derivative(base, numbers))
        if d.mode == "jacobian":
            return self._matrices(base)
        return self._weighted(reverse_derivative(base, numbers))

    # Each of these runs the derivative of the base's program inside a program with the ports of this one.

    def _along(self, program: Program) -> Program:
        def one_sample(run: Run, own: Sequence[list[Scalar]], more: Sequence[list[Scalar]]) -> list[Scalar]:
            rates = [self._rates(name, own, dx) for name, dx in zip(self._derivative.wrt, more, strict=True)]
            return [x for output in run(program, *own, *rates) for x in output]

        return self._traced(one_sample, program)

    def _weighted(self, program: Program) -> Program:
        def one_sample(run: Run, own: Sequence[list[Scalar]], more: Sequence[list[Scalar]]) -> list[Scalar]:
            value, *gradients = run(program, *own, *more)
            pairs = zip(self._derivative.wrt, gradients, strict=True)
            return [*value, *(x for name, bar in pairs for x in self._pulled_back(name, own, bar))]

        return self._traced(one_sample, program)

    def _weighted_along(self) -> Program:
        """The derivative of "vjp" for the same inputs, as a program of its own, along a direction."""
        d = self._derivative
        weighted = replace(self, definition=derived(d.of, "vjp", d.wrt)).program()
        first, size = self._own, self._base.output.size  # the weights stand after the function's own inputs
        numbers = [k + (k >= first) for k in map(self._number, d.along)]

        def one_sample(run: Run, own: Sequence[list[Scalar]], more: Sequence[list[Scalar]]) -> list[Scalar]:
            weights, *directions = more
            rates = [self._rates(name, own, dx) for name, dx in zip(d.along, directions, strict=True)]
            _, change = run(program, *own[:first], weights, *own[first:], *rates)
            return change[size:]

        program = forward_derivative(weighted, numbers)
        return self._traced(one_sample, program)

    def _matrices(self, base: Program) -> Program:
        """Written out if that is short: a column a direction or a row a result; or else a loop over directions."""
        wrt, rows = self._derivative.wrt, self._base.output.size
        columns = sum(Port("", self.direction_shape(name)).size for name in wrt)
        if base.is_straight and base.operation_counts().total() * min(rows, columns) < _STRAIGHT:
            ways = [way for way, count in ((self._by_rows, rows), (self._by_columns, columns)) if count]
            written = [self._written(way(base)) for way in (ways if rows < columns else [self._by_columns])]
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
                size = Port("", self.direction_shape(name)).size
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
        rows, first = self._base.output.size, 0
        recorder = Recorder(self.inputs, [self.output])
        own = [_all(memory) for memory in recorder.inputs]
        for name in self._derivative.wrt:
            program = forward_derivative(base, [self._number(name)])
            size = Port("", self.direction_shape(name)).size
            if not size:
                continue
            units = recorder.array("unit", 2 * size - 1, [float(k == size - 1) for k in range(2 * size - 1)])
            with recorder.loop(Range(Index(0), Index(size))) as k:
                rates = self._rates(name, own, [units[k + (size - 1 - j)] for j in range(size)])
                column = recorder.call(program, *(x for port in own for x in port), *rates)[rows:]
                for i, x in enumerate(column):
                    recorder.outputs[0][k + (first + i * size)] = x
            first += rows * size
        return self._lowered(recorder)

    def _traced(
        self, one_sample: Callable[[Run, Sequence[list[Scalar]], Sequence[list[Scalar]]], list[Scalar]], base: Program
    ) -> Program:
        """What the function computes from its inputs and from the others; a straight line if the base's is one."""
        own, more = self._own, len(self._more)

        def apart(flat: Sequence[list[Scalar]]) -> tuple[Sequence[list[Scalar]], Sequence[list[Scalar]]]:
            return (*flat[:own], *flat[own + more :]), flat[own : own + more]

        if base.is_straight:
            return trace(
                lambda *flat: [one_sample(replay, *apart(flat))], self.inputs, [self.output], self.definition.name
            )
        recorder = Recorder(self.inputs, [self.output])

        def call(program: Program, *arguments: Sequence[Scalar]) -> list[list[Scalar]]:
            flat = iter(recorder.call(program, *(x for argument in arguments for x in argument)))
            return [[next(flat) for _ in range(port.size)] for port in program.outputs]

        results = one_sample(call, *apart([_all(memory) for memory in recorder.inputs]))
        for k, x in enumerate(results):
            recorder.outputs[0][k] = x
        return self._lowered(recorder)

    def _lowered(self, recorder: Recorder) -> Program:
        name = self.definition.name
        return lower(recorder.root, self.inputs, (self.output,), None, name, recorder.arrays, recorder.tables)

    # The manifold.

    def _number(self, name: str) -> int:
        return self._names.index(name)

    def _is_configuration(self, name: str) -> bool:
        sizes = dict(self._base.definition.inputs)
        return sizes.get(name) == "nq"

    def _rates(self, name: str, own: Sequence[Sequence[Scalar]], direction: Sequence[Scalar]) -> Sequence[Scalar]:
        """How an input's numbers change along a direction."""
        if not self._is_configuration(name):
            return direction
        return _rates(self.model, own[self._number(name)], direction)

    def _pulled_back(self, name: str, own: Sequence[Sequence[Scalar]], bar: Sequence[Scalar]) -> Sequence[Scalar]:
        """From derivatives by an input's numbers to those by directions: the transpose of `_rates`."""
        if not self._is_configuration(name):
            return bar
        q, nv = own[self._number(name)], self.model.nv
        columns = (_rates(self.model, q, [float(j == k) for j in range(nv)]) for k in range(nv))
        return [sum((b * x for b, x in zip(bar, column, strict=True)), 0.0) for column in columns]


Run = Callable[..., list[list[Any]]]
"""Runs a program on a flat list a port."""


def _rates(model: Model, q: Sequence[Scalar], direction: Sequence[Scalar]) -> Sequence[Scalar]:
    if all(joint.kind.is_flat for joint in model.joints.values()):
        return direction
    pieces, directions = model.tree.split(q, "nq"), model.tree.split(direction, "nv")
    rates = [model.tree.joint[i].rates(pieces[i], directions[i]) for i in range(1, model.tree.size)]
    return model.tree.joined(rates, "rates")


def _all(memory: Memory) -> list[Scalar]:
    return [memory[k] for k in range(memory.size)]
