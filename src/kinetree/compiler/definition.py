"""Public functions as the compiler sees them: inputs, output, options, and the algorithm between."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol, Self, TypeVar, runtime_checkable

from numpy.typing import NDArray

from kinetree.compiler.docstrings import ARGUMENTS, IN_UNITS, completed
from kinetree.expr import Port, Scalar
from kinetree.model import Model
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.tree import UnrolledTree

__all__ = [
    "Array",
    "Definition",
    "Derivative",
    "HasLatentParts",
    "HasParameters",
    "HasSizes",
    "Mode",
    "OptionNumbers",
    "Slots",
    "Strategy",
    "defined_by",
    "public_function",
]

Array = NDArray[Any]
Slots = Sequence[Sequence[Scalar]]
"""A q or v as the algorithms take it: one piece per joint."""
Shape = tuple[int | str, ...]
Size = str | int | tuple[int, ...]
Mode = Literal["jvp", "vjp", "jacobian", "hvp"]
"""Along a direction; of a weighted sum of results; the whole matrix; "vjp" differentiated along a direction."""


@record(frozen=True, slots=True)
class Derivative:
    """The function that a definition is the derivative of, and the inputs it is differentiated by."""

    of: Definition
    mode: Mode
    wrt: tuple[str, ...]
    """The names of the inputs (`Specialization.names`)."""
    along: tuple[str, ...] = ()
    """For "hvp": the inputs that the direction changes."""


@runtime_checkable
class HasParameters(Protocol):
    """A resolved option in which some numbers are parameters of the robot, such as the friction of its shapes."""

    def with_parameters(self, given: GivenNumbers) -> Self:
        """A copy with the numbers that a call gives."""
        ...


@runtime_checkable
class HasLatentParts(Protocol):
    """A resolved option with parts that are there only if a call gives parameters, such as the shapes of all objects
    that a body may be, or dry friction of joints without any."""

    def called_for(self, model: Model, names: Iterable[str]) -> Self:
        """A copy with the parts that the parameters of these names call for."""
        ...


@runtime_checkable
class HasSizes(Protocol):
    """A resolved option that may make a program long."""

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """The parts that make it long, by their plural in a sentence: how many, and the least operations of each."""
        ...


class OptionNumbers(Protocol):
    """The numbers in an option's value, which are inputs of a kernel: only the rest is compiled for.

    The resolved option is that rest. It is the same for all values that differ in numbers alone.
    """

    def ports(self, model: Model, options: Mapping[str, Any]) -> Sequence[Port]:
        """An input for each of them, from resolved options."""

    def arrays(self, value: Any) -> Sequence[Array]:
        """The numbers of a value that was found valid, one array per port; leading axes are those of batches."""

    def filled(self, value: Any, numbers: Sequence[Sequence[Scalar]]) -> Any:
        """The resolved value with these numbers, as compute takes it."""


@record(frozen=True, slots=True)
class Strategy:
    """How a definition is compiled: written out or in loops, and in which form. Its meaning is the same with any."""

    longest: int = 15_000
    """Statements up to which it is written out; LLVM takes two to three seconds for 15,000 of them."""
    loops: bool | Callable[[Model, Mapping[str, Any]], bool] = True
    """Whether its algorithm can loop over bodies at run time (`kinetree.tree.rolled`); if not, it is written out. A
    function, if that depends on the robot and the options."""
    loops_where_shared: bool = True
    """Whether it can loop over the bodies of robots whose joints share coordinates."""
    always_loops: bool = False
    """Whether it loops over bodies unless it must be written out, however short it is."""
    distinguished: Callable[[Model, Mapping[str, Any]], Collection[int]] | None = None
    """The slots that its algorithm treats differently from the rest (`Tree.some`), for a robot and its options."""
    has_two_ways: bool = False
    """Whether it can use articulated bodies or the mass matrix (`Tree.is_one_system`); the shorter one is taken."""
    is_dense: bool | Callable[[Model, Mapping[str, Any]], bool] = False
    """Whether most of it is linear algebra on all degrees of freedom, which is done in loops if there are many; if that
    depends on the options, a function that decides."""
    when_large: Definition | None = None
    """The definition of the same results for robots that are too large to be written out."""
    when_forces_turn: Definition | None = None
    """The definition of the same results for external forces whose components in a body's axes depend on q, if its
    algorithm does not differentiate these."""
    effort: Callable[[UnrolledTree], float] | None = None
    """How slow it is to compile when written out, if there is a `when_large`: roughly its number of operations times
    the bodies on the longest path, since values of all of these stay alive until the end."""

    def can_ever_loop(self, model: Model, options: Mapping[str, Any]) -> bool:
        """Whether the algorithm can loop over bodies with these options, if no joints share coordinates."""
        return self.loops(model, options) if callable(self.loops) else self.loops

    def can_loop(self, model: Model, options: Mapping[str, Any]) -> bool:
        """Whether the algorithm can loop over the bodies of this robot."""
        return self.can_ever_loop(model, options) and (self.loops_where_shared or model.tree.coordinates is None)


@record(frozen=True, slots=True, eq=False)
class Definition:
    """A function of a robot's motion: its inputs, its outputs, and the algorithm between."""

    name: str
    inputs: tuple[tuple[str, Size], ...]
    """(name, size) of each. "nq", "nv" and "forces" reach the algorithm slot by slot; an input whose size is a number,
    the shape of a matrix or a name in `sizes` is flat."""
    output: Shape | Callable[[Model, Mapping[str, Any]], Shape]
    """The shape of one sample's result: numbers, or "nq", "nv", "bodies"; a function if it depends on more of the robot
    or on the options."""
    compute: Callable[..., Any]
    """compute(model, *inputs slot by slot, **options), flat numbers out."""
    options: Mapping[str, Callable[[Model, Any], Hashable]] = field(default_factory=dict)
    """How the value of each option is checked and resolved; it becomes part of the kernel."""
    in_single: Mapping[str, Hashable] = field(default_factory=dict)
    """Defaults of options in float32, where they differ from those in float64."""
    numbers: Mapping[str, OptionNumbers] = field(default_factory=dict)
    """The options whose values have numbers that are inputs of the kernel; these follow the definition's own."""
    sizes: Mapping[str, Callable[[Mapping[str, Any]], int]] = field(default_factory=dict)
    """Sizes that depend on the options, by name."""
    optional: tuple[str, ...] = ()
    """The trailing inputs that are zero if they are not given."""
    takes_forces: bool = False
    """Whether external forces may act."""
    divides_by_inertia: bool = False
    """Whether it is undefined for a robot with a massless moving subtree."""
    is_step: bool = False
    """Whether it is one step of time that a kernel repeats: compute gives the next q and v in pieces, takes dt as well,
    and the inputs after the state have one row per step. The option `steps` says how many; without it each call does.
    """
    has_length: bool = True
    """Whether a step takes its length dt after its inputs, and compute after its arguments."""
    state: int = 2
    """How many of the first inputs of a step are the state, which it replaces: q, v, and perhaps more."""
    has_stages: bool = False
    """Whether compute also takes `stages`, which runs the stages of a step (`Steps.stages`)."""
    takes_parameters: bool = True
    """Whether it depends on the robot's parameters."""
    derivative: Derivative | None = None
    """Set if it is made by differentiating another definition's program."""
    regroups: bool = False
    """Whether its algorithm gets the robot with regrouped inertias (`kinetree.compiler.forms.regrouped`): the same
    results from fewer numbers, if they do not depend on how inertia is divided among bodies."""
    strategy: Strategy = Strategy()
    """How it is compiled."""

    @property
    def takes_dt(self) -> bool:
        """Whether the length of a step follows the inputs."""
        return self.is_step and self.has_length

    def width(self, size: Size, model: Model, options: Mapping[str, Any]) -> int:
        """The number of scalars of an input of this size."""
        return math.prod(self.input_shape(size, model, options))

    def input_shape(self, size: Size, model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape of one sample of an input of this size."""
        if isinstance(size, tuple):
            return size
        return (self.sizes[size](options) if isinstance(size, str) and size in self.sizes else model.size(size),)

    def ports_of_numbers(self, model: Model, options: Mapping[str, Any]) -> list[Port]:
        """The inputs for the numbers of resolved options."""
        return [port for numbers in self.numbers.values() for port in numbers.ports(model, options)]

    def arrays_of_numbers(self, options: Mapping[str, Any]) -> list[Array]:
        """The numbers of options that were found valid, one array per port of `ports_of_numbers`."""
        given = ((numbers, options.get(name)) for name, numbers in self.numbers.items())
        return [array for numbers, value in given if value is not None for array in numbers.arrays(value)]

    def shape(self, model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape of one sample's result."""
        output = self.output(model, options) if callable(self.output) else self.output
        sizes = {"nq": model.nq, "nv": model.nv, "bodies": len(model.bodies)}
        return tuple(sizes[n] if isinstance(n, str) else n for n in output)


F = TypeVar("F", bound=Callable[..., Any])


def defined_by(definition: Definition, *, in_units: bool = False) -> Callable[[F], F]:
    """Mark a public function with its definition, so that `kinetree.compile` finds it, and complete its docstring.

    `in_units` is whether q, v and qdd are described with their units.
    """

    def mark(function: F) -> F:
        function.definition = definition  # type: ignore[attr-defined]
        function.__doc__ = completed(function, IN_UNITS if in_units else ARGUMENTS)
        _PUBLIC[definition] = function
        return function

    return mark


def public_function(definition: Definition) -> Callable[..., Any] | None:
    """The public function of a definition; None for one that is made for a call, such as that of a derivative."""
    return _PUBLIC.get(definition)


_PUBLIC: dict[Definition, Callable[..., Any]] = {}
