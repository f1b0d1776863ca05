"""A definition for one robot and one set of options: its ports, its checks, and its program.

A program is a straight line if it is short enough to compile in a second or two, or else loops over the robot's bodies
(`kinetree.tree.rolled`); both come from the same algorithm files.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from kinetree import expr
from kinetree import tree as trees
from kinetree.announcement import because
from kinetree.compiler import forms
from kinetree.compiler.definition import Definition, HasLatentParts, HasParameters, HasSizes
from kinetree.compiler.forms.parameters import (
    always_singular,
    body_of_alternatives,
    given_numbers,
    has_rows,
    parameter_ports,
    parameter_quaternions,
    with_parameters,
)
from kinetree.compiler.source import Source
from kinetree.compiler.tracing import Trace, current_trace
from kinetree.errors import ModelError, OptionError, SingularModelError
from kinetree.expr import Port, Program, Scalar, TraceTooLongError
from kinetree.model import Body, Frame, Model
from kinetree.model.external_forces import Acting
from kinetree.model.fingerprint import digest, fingerprint
from kinetree.records import record
from kinetree.spatial import Force
from kinetree.tree import SPACES
from kinetree.tree import rolled as loops

if TYPE_CHECKING:
    from kinetree.compiler.forms import Form
    from kinetree.expr import Index, Memory, Recorder
    from kinetree.tree import Tree

__all__ = [
    "TIMES_AS_LONG",
    "Specialization",
    "program_to_differentiate",
    "too_large_to_write_out",
    "worth_sharing",
]

_MOST_RECORDED = 2_000_000  # in a straight line that cannot be in loops; tracing them takes 1 GB
_TRACED = 5  # times as much is recorded, at most, as is left of it; 3.7 times were seen
_DENSE_FROM = 16  # degrees of freedom from which on dense linear algebra is done in loops
_STRAIGHT_JOINTS = 150  # degrees of freedom from which on the straight line is not even traced
_WORTH_SHARING = 2_000
"""Statements of a program that is called from which on it is compiled apart, once for all programs that call it."""
TIMES_AS_LONG = 2.6
"""Statements of a derivative per statement of the function, forward or backward."""
_MOST_EFFORT = 200_000.0  # see `Strategy.effort`; LLVM takes about five seconds, which grow with the power 1.5
_FEWER_CONTACTS = (
    "choose the pairs of shapes that matter: robot.without_self_contact(), robot.with_contacts(bodies) "
    "(`kinetree docs collision#many-pairs`)"
)
_EFFORT_OF = {"jvp": 4.0, "vjp": 8.0, "hvp": 30.0, "jacobian": 4.0}
"""Effort of a derivative, as a multiple of its function's."""


def _as_it_is(model: Model) -> Model:
    return model


@record(frozen=True, eq=False)
class Specialization:
    """Everything that determines a kernel."""

    definition: Definition
    model: Model
    options: Mapping[str, Hashable]
    """The resolved values of the options."""
    forces: tuple[Acting, ...]
    """The external forces."""
    parameters: tuple[str, ...]
    """The robot's parameters that are inputs."""
    unroll: bool | None = None
    """A straight line, or loops over bodies; None chooses."""

    def __post_init__(self) -> None:
        if self.parameters:
            asked: dict[str, Any] = dict(self.options)
            latent = {k: x for k, x in asked.items() if isinstance(x, HasLatentParts)}
            asked |= {k: x.called_for(self.model, self.parameters) for k, x in latent.items()}
            object.__setattr__(self, "options", asked)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.definition.name

    @property
    def subject(self) -> str:
        """The robot's name, as messages say it."""
        return repr(self.model.name)

    @property
    def optional(self) -> range:
        """The arguments that may be left out."""
        own = len(self.definition.inputs)
        return range(own - len(self.definition.optional), own)

    def key(self, *more: object) -> bytes | None:
        """A key for code: of the robot and of this function among others of the same robot."""
        robot = fingerprint(self.model)
        identity = (self.definition, dict(self.options), list(self.forces), self.parameters, self.unroll)
        return None if robot is None else digest(*more, robot, *identity)

    @cached_property
    def numbers(self) -> list[Port]:
        """The inputs for the numbers of the options."""
        return self.definition.ports_of_numbers(self.model, self.options)

    @cached_property
    def inputs(self) -> tuple[Port, ...]:
        """The definition's own, then the numbers of options, then external forces, then parameters."""
        definition = self.definition
        own = [Port(name, definition.input_shape(size, self.model, self.options)) for name, size in definition.inputs]
        if self.definition.is_step:
            own[definition.state :] = [Port(p.name, (self.steps, *p.shape)) for p in own[definition.state :]]
        if self.definition.takes_dt:
            own.append(Port("dt", ()))
        forces = [Port(f"f_ext[{force.key!r}]", (6,)) for force in self.forces]
        return (*own, *self.numbers, *forces, *parameter_ports(self.model, self.parameters, self.steps))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of inputs for derivatives: those of the definition; "f_ext.FRAME" for an external force, with its
        `WrenchOn` or `ForceOn` in place of FRAME; and the parameters' own. Numbers of options have names such as
        "constraints.0.at"."""
        own = [name for name, _ in self.definition.inputs] + ["dt"] * self.definition.takes_dt
        numbers, forces = (port.name for port in self.numbers), (f"f_ext.{force.key}" for force in self.forces)
        return (*own, *numbers, *forces, *self.parameters)

    @cached_property
    def output(self) -> Port:
        if self.definition.is_step:
            return Port(self.definition.name, (self.steps, sum(self.inputs[k].size for k in self.state)))
        return Port(self.definition.name, self.definition.shape(self.model, self.options))

    @property
    def steps(self) -> int:
        """How often the program repeats a step."""
        steps = self.options.get("steps", 1)
        assert isinstance(steps, int)
        return steps

    @property
    def rows(self) -> tuple[int, ...]:
        """The inputs whose first axis counts the steps of a call, if their number is not fixed here."""
        if not self.definition.is_step or "steps" in self.definition.options:
            return ()
        first = self._own + len(self.numbers) + len(self.forces)
        varied = (first + k for k, name in enumerate(self.parameters) if has_rows(name))
        return (*range(self.definition.state, len(self.definition.inputs)), *varied)

    @property
    def state(self) -> tuple[int, ...]:
        """The inputs that a step replaces, in the order of its result."""
        return tuple(range(self.definition.state))

    @property
    def _own(self) -> int:
        """How many inputs are the definition's own."""
        return len(self.definition.inputs) + self.definition.takes_dt

    @cached_property
    def quaternions(self) -> list[tuple[int, Mapping[str, slice]]]:
        """The inputs that hold quaternions, by number, and the slices of them."""
        of_q = [self.model.quaternions if size == "nq" else {} for _, size in self.definition.inputs]
        of_parameters = [parameter_quaternions(self.model, name) for name in self.parameters]
        none: list[dict[str, slice]] = [{}] * (len(self.numbers) + len(self.forces) + self._own - len(of_q))
        return [(k, found) for k, found in enumerate([*of_q, *none, *of_parameters]) if found]

    @cached_property
    def alternatives(self) -> list[tuple[int, Body]]:
        """The inputs that are numbers of objects, by number, and the bodies that these are."""
        first = len(self.inputs) - len(self.parameters)
        bodies = [(first + k, body_of_alternatives(self.model, name)) for k, name in enumerate(self.parameters)]
        return [(k, body) for k, body in bodies if body is not None]

    @property
    def divides_by_inertia(self) -> bool:
        """Whether it is undefined where the mass matrix is singular."""
        return self.definition.divides_by_inertia

    @cached_property
    def configurations(self) -> Mapping[int, Model]:
        """The inputs that are configurations, by number, and their robots."""
        return {k: self.model for k, (_, size) in enumerate(self.definition.inputs) if size == "nq"}

    def check(self) -> None:
        """Raise if the robot has no such function."""
        definition, parameters = self.definition, self.parameters
        if parameters and not definition.takes_parameters:
            raise OptionError(f"{definition.name} does not depend on any of the robot's parameters; leave them out")
        varied = [name for name in parameters if has_rows(name)]
        if varied and not (definition.is_step and definition.takes_dt):
            raise OptionError(
                f"{definition.name} takes no parameters with one row per step, such as {varied[0]!r}; they are for "
                "kt.rollout"
            )
        if definition.divides_by_inertia and (singular := always_singular(self.model, parameters)):
            raise SingularModelError(
                f"{definition.name}: joint {singular[0]!r} of {self.model.name!r} moves nothing that has mass or "
                "inertia, or only what another joint moves in the same way, so its acceleration is not defined; give "
                "the bodies behind it mass and inertia, or the joint an armature "
                "(kinematics and inverse dynamics work as they are)"
            )
        if self.unroll is False and not definition.strategy.can_ever_loop(self.model, self.options):
            raise OptionError(f"{definition.name} cannot loop over bodies, it is always written out; leave out unroll")
        if self.unroll is False and not definition.strategy.can_loop(self.model, self.options):
            raise OptionError(
                f"{definition.name} cannot loop over the bodies of {self.model.name!r}, whose joints share "
                "coordinates: it is written out for such robots; leave out unroll"
            )
        if self.unroll is False and varied:
            raise OptionError(
                f"{definition.name} cannot loop over bodies with parameters that have one row per step, such as "
                f"{varied[0]!r}; leave out unroll"
            )
        if self.forces and not definition.takes_forces:
            raise OptionError(f"{definition.name} takes no external forces")

    def program(self) -> Program:
        """Run the algorithm on symbols."""
        because("degrees of freedom", self.model.nv)
        for option in self.options.values():
            for reason, (count, operations) in option.sizes().items() if isinstance(option, HasSizes) else ():
                because(reason, count, _FEWER_CONTACTS, count * operations)
        if self.unroll is False or (self.unroll is None and self._is_large()):
            return self.looped()
        chooses = self.unroll is None or callable(self.definition.strategy.is_dense)
        is_looped = self.definition.is_step or (chooses and self._is_dense())
        try:
            straight = self._recorded(rolled=False) if is_looped else self._straight()
        except TraceTooLongError:
            if not self._may_loop:
                raise ModelError(self._too_long()) from None
            return self.looped()
        return self.looped() if not is_looped and self._is_too_long(straight) else straight

    @property
    def _may_loop(self) -> bool:
        """Whether loops over bodies may be chosen here."""
        return self.unroll is None and self.can_loop

    @property
    def can_loop(self) -> bool:
        """Whether bodies can be looped over: not if their numbers change from step to step.

        With contacts it is for robots with many degrees of freedom alone: pairs of shapes make the straight line long,
        in which bodies take less time than in loops.
        """
        can_loop = self.definition.strategy.can_loop(self.model, self.options)
        if not can_loop or any(map(has_rows, self.parameters)):
            return False
        return self._has_many_bodies or not any(isinstance(option, HasSizes) for option in self.options.values())

    @property
    def _most(self) -> int:
        """The number of records in a trace from which on its straight line is certain to be too long."""
        return _TRACED * self.definition.strategy.longest if self._may_loop else _MOST_RECORDED

    def _too_long(self) -> str:
        """The sentence about a straight line that nobody could compile."""
        advice = _FEWER_CONTACTS if "contact" in self.options else "take a smaller robot"
        return (
            f"{self.definition.name} of {self.model.name!r} is a program of more than {_MOST_RECORDED:,} operations, "
            f"which would take many minutes and gigabytes to compile; {advice}"
        )

    def looped(self) -> Program:
        """The program that loops over bodies, however small the robot is."""
        return self._recorded(rolled=True)

    def _is_large(self) -> bool:
        """Whether a straight line would be too long, decided before it is traced."""
        return self.can_loop and (self.definition.strategy.always_loops or self._has_many_bodies)

    @cached_property
    def _has_many_bodies(self) -> bool:
        solved = self.model.tree.factor_operations() if self.definition.divides_by_inertia else 0
        return too_large_to_write_out(self.model) or solved > self.definition.strategy.longest

    def _is_dense(self) -> bool:
        """Whether its linear algebra is done in loops."""
        dense = self.definition.strategy.is_dense
        return dense(self.model, self.options) if callable(dense) else dense and self.model.nv >= _DENSE_FROM

    def _straight(self) -> Program:
        """The program with the fewest operations: in the robot's own axes or in those that suit its joints; cluster by
        cluster or as one system, where joints share coordinates; by articulated bodies or by the mass matrix."""
        ways: list[Callable[[Model], Model]] = [_as_it_is]
        if forms.aligned(self.model).tree.X_T is not self.model.tree.X_T:
            ways.append(forms.aligned)
        if self._has_two_systems:
            ways += [lambda model, form=form: _as_one_system(form(model)) for form in ways]  # type: ignore[misc]
        return min(map(self._written_out, ways), key=lambda program: program.operation_counts().total())

    @property
    def _has_two_systems(self) -> bool:
        """Whether equations can be solved cluster by cluster or as one system, or by bodies or the mass matrix."""
        shares = self.definition.divides_by_inertia and self.model.tree.coordinates is not None
        return shares or self.definition.strategy.has_two_ways

    def _written_out(self, form: Callable[[Model], Model]) -> Program:
        def one_sample(*flat: Sequence[Scalar]) -> list[Sequence[Scalar]]:
            return [self.one_sample(*flat, form=form)]

        return expr.trace(one_sample, self.inputs, [self.output], self.definition.name, self._most)

    def one_sample(self, *flat: Sequence[Any], form: Callable[[Model], Model] = _as_it_is) -> Sequence[Any]:
        """The result's numbers, body by body, from those of each input: symbols of a trace, or plain numbers."""
        numbers, wrenches, values = self._after_own(flat[self._own :])
        model = form(with_parameters(self.model, self.parameters, values) if self.parameters else self.model)
        arguments = [model.tree.split(x, size) for x, (_, size) in zip(flat, self.definition.inputs, strict=False)]
        result: Sequence[Any] = self._computed(model, arguments, numbers, wrenches, values)
        return result

    def inlined(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        """The result's numbers in the trace in progress: written out in it, or by a call of a program with loops."""
        in_progress = current_trace()
        if self.rows:
            counts = [len(flat[k]) // self.inputs[k].size for k in self.rows if self.inputs[k].size]
            steps = counts[0] if counts else 1  # of a robot that cannot move one is as good as many
            return replace(self, options={**self.options, "steps": steps}).called(*flat)
        chooses = self.unroll is None
        if in_progress.calls:
            return in_progress.call(self._called_program, *flat)
        if self.unroll is False or self.definition.is_step or (chooses and (self._is_large() or self._is_dense())):
            return self.called(*flat)
        try:
            with in_progress.at_most(self.definition.strategy.longest if self._may_loop else _MOST_RECORDED):
                return self.one_sample(*flat, form=partial(self._form, in_progress))
        except TraceTooLongError:
            if not self._may_loop:
                raise ModelError(self._too_long()) from None
            return self.called(*flat)

    @cached_property
    def _called_program(self) -> Program:
        """The program for calls: the same object for all of them, so that it is compiled once."""
        return worth_sharing(self.program())

    def called(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        """The result's numbers from its own program, which is run again on the symbols, or called if it has loops."""
        return current_trace().run(self._called_program, *flat)

    def _form(self, trace: Trace, model: Model) -> Model:
        """The form of the robot that a trace takes."""
        other = forms.aligned(model)
        if other.tree.X_T is not model.tree.X_T and trace.chooses("aligned"):
            model = other
        if self._has_two_systems and trace.chooses("one system"):
            model = _as_one_system(model)
        return model

    def _after_own(self, flat: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """The inputs after the definition's own: numbers of options, external forces, parameters."""
        first = len(self.numbers)
        last = first + len(self.forces)
        return flat[:first], flat[first:last], flat[last:]

    def _recorded(self, *, rolled: bool) -> Program:
        """A program with loops: over bodies if `rolled`, over time for a step, or in its linear algebra."""
        knowledge = loops.Knowledge()
        source = self._rolled(self.model) if rolled and not self.parameters else None
        while True:
            recorder = expr.Recorder(self.inputs, [self.output], sys.maxsize if rolled else self._most)
            with closing(recorder.root) as graph:
                knowledge.begin()
                try:
                    self._record(recorder, knowledge, source, rolled)
                except loops.NotYetKnown:
                    if not knowledge.changed:
                        raise
                    continue
                if knowledge.changed:
                    continue
                lowered = partial(
                    expr.lower, graph, self.inputs, (self.output,), None, self.definition.name, recorder.arrays,
                    recorder.tables, reports=recorder.reports,
                )  # fmt: skip
                program = lowered()
                if not rolled and self._is_too_long(program) and self._is_too_long(lowered(without_reports=True)):
                    raise TraceTooLongError
                return program

    def _is_too_long(self, program: Program) -> bool:
        """Whether loops over bodies are better than this straight line, of which slopes are not compiled."""

        def is_long(program: Program) -> bool:
            return sum(1 for _ in program.body.all_statements()) > self.definition.strategy.longest

        return self._may_loop and is_long(program) and is_long(expr.without_slopes(program))

    def _record(
        self, recorder: Recorder, knowledge: loops.Knowledge, source: forms.RolledSource | None, rolled: bool
    ) -> None:
        """One trace with loops."""
        given = recorder.inputs[self._own :]
        numbers, wrenches, tables = self._after_own(given)
        numbers, wrenches, values = ([_numbers(x) for x in xs] for xs in (numbers, wrenches, tables))
        varied = [k for k, name in enumerate(self.parameters) if has_rows(name)]

        def made() -> Form:
            robot = with_parameters(self.model, self.parameters, values) if self.parameters else self.model
            if rolled:
                return forms.RolledModel(source or self._rolled(robot), recorder, knowledge)
            if self.definition.is_step:
                return replace(robot, tree=trees.RecordedTree.of(robot.tree, recorder)) if self._is_dense() else robot
            robot = forms.aligned(robot)
            return replace(robot, tree=trees.RecordedTree.of(robot.tree, recorder))

        if self.definition.is_step:
            model = None if varied else made()

            def model_at(step: Index) -> Form:
                """The robot with the parameters of a step."""
                for k in varied:
                    width = tables[k].size // self.steps
                    values[k] = [tables[k][step * width + n] for n in range(width)]
                return made() if model is None else model

            from kinetree.compiler.time_loop import Steps

            steps = Steps(recorder, model_at, self.definition, self.steps)
            stages = {"stages": steps.stages} if self.definition.has_stages else {}
            for arguments in steps:
                steps.state = self._computed(steps.model, arguments, numbers, wrenches, values, **stages)
            return
        model = made()
        arguments = [
            _pieces(model.tree, memory, size)
            for memory, (_, size) in zip(recorder.inputs, self.definition.inputs, strict=False)
        ]
        results = self._computed(model, arguments, numbers, wrenches, values)
        for k, x in enumerate(results or ()):
            recorder.outputs[0][k] = x

    def _computed(
        self,
        model: Form,
        arguments: Sequence[Any],
        numbers: Sequence[Sequence[Scalar]],
        wrenches: Sequence[Sequence[Scalar]],
        values: Sequence[Sequence[Scalar]],
        **more: Any,
    ) -> Any:
        """Run the definition's algorithm on a form of the robot."""
        options = self._options(model, numbers)
        if self.parameters:
            given = given_numbers(self.model, self.parameters, values)
            options = {k: x.with_parameters(given) if isinstance(x, HasParameters) else x for k, x in options.items()}
        if self.definition.takes_forces:
            forces = partial(self._external_forces, model, wrenches)
            options["f_ext"] = forces if self.definition.is_step else forces(arguments[self._first_q])
        if self.definition.regroups:
            model = forms.with_regrouped_inertias(model)
        return self.definition.compute(model, *arguments, **options, **more)

    def _rolled(self, model: Model) -> forms.RolledSource:
        """The robot for traces with loops."""
        slots_of = self.definition.strategy.distinguished
        return forms.RolledSource(model, frozenset(slots_of(model, self.options) if slots_of is not None else ()))

    @property
    def _first_q(self) -> int:
        """The input that is the configuration at which forces act."""
        return next(k for k, (_, size) in enumerate(self.definition.inputs) if size == "nq")

    def _external_forces(self, model: Form, wrenches: Sequence[Sequence[Scalar]], q: Any) -> Mapping[int, Force]:
        """The external force on each moving body at q, in the body's own coordinates."""
        return model.tree.of_some(forms.forces_on_bodies(model, self.forces, wrenches, q), Force.zero())

    def _options(self, model: Form, numbers: Sequence[Sequence[Scalar]]) -> dict[str, Any]:
        """The options for a form of this model: frames are its own, and numbers are in place."""
        options: dict[str, Any] = {
            name: model.frames[value.name] if isinstance(value, Frame) else value
            for name, value in self.options.items()
            if name != "steps" or not self.definition.is_step
        }
        for name, kind in self.definition.numbers.items():
            count = len(kind.ports(self.model, self.options))
            options[name] = kind.filled(options[name], numbers[:count])
            numbers = numbers[count:]
        return options


def program_to_differentiate(source: Source, *, has_many_entries: bool = False) -> Program:
    """A function's program, or its loops where the derivative would take long to compile; a matrix with many entries
    takes long anyway.
    """
    program = source.program()
    if not isinstance(source, Specialization) or source.unroll is not None or not source.can_loop:
        return program
    is_long = TIMES_AS_LONG * sum(1 for _ in program.body.all_statements()) > source.definition.strategy.longest
    return source.looped() if has_many_entries or is_long else program


def worth_sharing(program: Program) -> Program:
    """A program that is called, compiled apart if it is long."""
    return replace(program, is_shared=program.size() >= _WORTH_SHARING)


def too_large_to_write_out(model: Model, definition: Definition | None = None) -> bool:
    """Whether a straight line of all its bodies, or that of a definition, is too long to be traced at all."""
    if model.nv > _STRAIGHT_JOINTS:
        return True
    if definition is None or definition.strategy.effort is None:
        return False
    times = 1.0 if definition.derivative is None else _EFFORT_OF[definition.derivative.mode]
    return times * definition.strategy.effort(model.tree) > _MOST_EFFORT


def _numbers(memory: Memory) -> list[Scalar]:
    return [memory[k] for k in range(memory.size)]


def _pieces(tree: Tree, memory: Memory, size: str | int | tuple[int, ...]) -> Any:
    """An argument as the algorithm takes it."""
    if size in SPACES and isinstance(tree, loops.RolledTree):
        return tree.pieces_in(memory, size)
    flat = [memory[k] for k in range(memory.size)]
    return tree.split(flat, size) if size in SPACES else flat


def _as_one_system(model: Model) -> Model:
    return replace(model, tree=trees.OneSystemTree.of(model.tree))
