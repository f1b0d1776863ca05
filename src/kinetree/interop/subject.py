"""A function of kinetree on a robot, or a user's program, as an adapter sees it: names, shapes, nodes, results.

An adapter binds the arguments of a call, asks for the node of a dtype, runs it in its framework, and gives the result
back in the user's form.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.compiler.arguments import LeftOut, bound
from kinetree.compiler.calls import requested
from kinetree.compiler.compiled import CompiledFunction
from kinetree.compiler.derived_source import DerivedSource
from kinetree.compiler.source import Source
from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Port
from kinetree.inputs import sample_shape
from kinetree.interop.node import Node
from kinetree.model import Model
from kinetree.model.external_forces import ForceKey
from kinetree.model.parameters import nominal
from kinetree.programs import Program

__all__ = ["Subject"]


class Subject:
    """A function or a program in any dtype, for a framework to call."""

    _only: CompiledFunction | None = None
    _robot: Model | None = None

    def __init__(
        self,
        robot: Model | Program,
        function: Callable[..., Any] | None = None,
        *,
        f_ext: Sequence[ForceKey] = (),
        parameters: Sequence[str] = (),
        unroll: bool | None = None,
        options: Mapping[str, Any] | None = None,
        adapter: str = "the adapter",
    ) -> None:
        """The arguments are those of `kinetree.compile`; a program is given without a function or options. `adapter` is
        the function that the user called, for messages."""
        if isinstance(function, Model):  # the order up to version 0.1
            warnings.warn(f"{adapter} takes the robot first now: {adapter}(robot, f)", DeprecationWarning, stacklevel=3)
            robot, function = function, robot
        self._program = next((x for x in (robot, function) if isinstance(x, Program)), None)
        if self._program is not None and (function is not None or f_ext or parameters or unroll is not None or options):
            raise OptionError(
                f"{adapter}: the program {self._program.name!r} knows its robots and options; give the program alone"
            )
        if self._program is None and (function is None or not isinstance(robot, Model)):
            raise OptionError(
                f"{adapter} takes a robot and one of kinetree's functions, as in {adapter}(robot, kt.aba), or a program"
            )
        self._robot = robot if isinstance(robot, Model) else None
        self._function: Callable[..., Any] = robot if function is None else function  # type: ignore[assignment]
        self._asked = f_ext, parameters, unroll, options or {}
        self._begin(self.compiled("float64"))

    @classmethod
    def of(cls, compiled: CompiledFunction) -> Subject:
        """A function that is compiled already, in its dtype alone; its results are one array."""
        made = cls.__new__(cls)
        made._program, made._only = None, compiled
        made._begin(compiled)
        return made

    def _begin(self, compiled: CompiledFunction) -> None:
        self._nodes: dict[str, Node] = {}
        numbers = self._request("float64")[1] if self._robot is not None else ()
        self.source: Source = compiled.source
        """In double precision, if there is a choice."""
        self._left_out = LeftOut(self.source, np.dtype(np.float64), numbers)
        self.name: str = compiled.name
        self.names: tuple[str, ...] = self.source.names
        """The names of its arguments, in order."""

    def __reduce__(self) -> tuple[Any, ...]:
        """The arguments it was made of; its nodes are made again."""
        if self._only is not None:
            return Subject.of, (self._only,)
        return _made_again, (self._program or self._robot, None if self._program else self._function, *self._asked)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(self.names)}) of {self.source.subject}"

    @property
    def ports(self) -> tuple[Port, ...]:
        """Its arguments."""
        return self.source.inputs

    @property
    def kinds(self) -> tuple[type, ...]:
        """For each argument whether it holds numbers of kind `float`, `int` or `bool`."""
        arguments = getattr(self.source, "arguments", None)  # those of a program
        return (float,) * len(self.names) if arguments is None else tuple(x.dtype for x in arguments.values())

    @property
    def is_derivative(self) -> bool:
        """Whether it is a derivative of a function or of a program."""
        return isinstance(self.source, DerivedSource)

    @property
    def robot_name(self) -> str | None:
        """The name of the robot; None for a program."""
        return None if self._robot is None else self._robot.name

    @property
    def can_loop(self) -> bool:
        """Whether it can be made as loops over bodies."""
        return self.source.can_loop

    def own_numbers(self) -> dict[int, NDArray[np.float64]]:
        """Values that arguments have already: the robot's parameters, constraints' numbers, a program's defaults."""
        if self._program is not None:
            defaults = self._program.defaults
            values = {k: np.asarray(defaults[name], float) for k, name in enumerate(self.names) if name in defaults}
            return {k: x for k, x in values.items() if x.shape == self.ports[k].shape}
        if self._robot is None:
            return {}
        given = self._asked[1]
        first = len(self.ports) - len(given)
        parameters = {first + k: nominal(self._robot, name) for k, name in enumerate(given)}
        return {**self.numbers_of_options(), **parameters}

    def numbers_of_options(self) -> dict[int, NDArray[np.float64]]:
        """The arguments that calls leave out, since the options have them: numbers of constraints, and weights."""
        return {k: x for k, x in self._left_out.values.items() if k not in self.source.optional}

    def compiled(self, dtype: str) -> CompiledFunction:
        """The function for NumPy's arrays of a dtype, with one result."""
        if self._only is not None:
            return self._only
        if self._program is not None:
            return self._program.compiled(dtype)
        return self._request(dtype)[0]

    @property
    def dtype(self) -> str | None:
        """The only dtype, of a function that is compiled already; else None."""
        return None if self._only is None else self._only.dtype.name

    def node(self, dtype: str) -> Node:
        """The node of a dtype, with one output."""
        if dtype not in self._nodes:
            self._nodes[dtype] = Node.of(self.compiled(dtype).source, dtype)
        return self._nodes[dtype]

    def bound(self, given: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments of a call in order; NumPy's arrays for those that may be left out."""
        if self._program is not None:
            return self._program.bound(given, named)
        if not named:
            given = self._left_out.filled(given)
        values = self._left_out.values
        return bound(self.name, self.names, given, named, lambda: {self.names[k]: x for k, x in values.items()})

    def leading_axes(self, port: Port, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The leading axes of an argument; raises `ShapeError` if its last ones are not those of one sample."""
        at = len(shape) - len(port.shape)
        if at < 0 or shape[at:] != port.shape:
            expected = sample_shape(port.shape)
            raise ShapeError(f"{self.name}: {port.name} has shape {shape}, but {self.source.subject} needs {expected}")
        return shape[:at]

    def batch_shape(
        self,
        node: Node,
        shapes: Sequence[tuple[int, ...]],
        broadcast: Callable[..., tuple[int, ...]] = np.broadcast_shapes,
    ) -> tuple[int, ...]:
        """The shape of the leading axes of a call; raises `ShapeError` for arguments that do not fit. `broadcast` is
        the framework's own for lengths that are symbols."""
        leading = [self.leading_axes(port, shape) for port, shape in zip(node.inputs, shapes, strict=True)]
        if all(shape == leading[0] for shape in leading):
            return leading[0]
        try:
            return broadcast(*leading)
        except (ValueError, RuntimeError):
            listed = ", ".join(f"{port.name} {shape}" for port, shape in zip(node.inputs, shapes, strict=True))
            raise ShapeError(
                f"{self.name}: the leading axes do not broadcast together: {listed}; they must be equal, 1 or absent"
            ) from None

    @property
    def is_one(self) -> bool:
        """Whether its result is one array of real numbers."""
        return self._program is None or self._program.traced().results.is_one

    def results(self, dtype: str) -> list[tuple[str, slice, Port]]:
        """The name, place and shape of each array among the numbers of the result."""
        if self._program is None:
            port = self.source.output
            return [(self.name, slice(0, port.size), port)]
        pieces, start = [], 0
        for leaf in self._program.traced(dtype).results.leaves:
            name = leaf.name or self.name
            pieces.append((name, slice(start, start + leaf.size), Port(name, leaf.shape)))
            start += leaf.size
        return pieces

    def apart(self, whole: Any, dtype: str, cast: Callable[[Any, np.dtype[Any]], Any]) -> Any:
        """A framework's array of all results in the form that the user's function gave them; `cast` gives an array
        another dtype."""
        return self.filled(self.leaves(whole, dtype, cast))

    def leaves(self, whole: Any, dtype: str, cast: Callable[[Any, np.dtype[Any]], Any]) -> list[Any]:
        """The arrays of the results, without their form."""
        if self._program is None:
            return [whole]
        results = self._program.traced(dtype).results
        pairs = zip(results.leaves, results.parts(whole), strict=True)
        return [part if leaf.dtype == np.dtype(dtype) else cast(part, leaf.dtype) for leaf, part in pairs]

    def filled(self, leaves: Sequence[Any]) -> Any:
        """The form of the results with these arrays in it."""
        if self._program is None:
            return leaves[0]
        return self._program.traced().results.filled(iter(leaves))

    def _request(self, dtype: str) -> tuple[CompiledFunction, tuple[Any, ...]]:
        """The compiled function of a robot, and the numbers of constraints and weights that its options have."""
        if self._only is not None:
            return self._only, ()
        assert self._robot is not None
        return requested(self._robot, self._function, dtype, *self._asked)


def _made_again(robot: Model | Program, function: Callable[..., Any] | None, *asked: Any) -> Subject:
    """The subject that a pickle describes."""
    f_ext, parameters, unroll, options = asked
    return Subject(robot, function, f_ext=f_ext, parameters=parameters, unroll=unroll, options=options)
