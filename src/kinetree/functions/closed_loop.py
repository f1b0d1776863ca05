"""A program as controller: one step of a robot's motion with the controller inside, which a kernel repeats.

The step is itself a program, traced as users' are: it runs the controller on its arguments, and then the parts of a
step of the integrator (`kinetree.functions.steps`), so the two share common subexpressions.
"""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.compiled import CompiledFunction
from kinetree.compiler.definition import Array
from kinetree.compiler.tracing import current_trace
from kinetree.errors import NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.expr import Port
from kinetree.functions.constraint_options import ALL, ERRORS
from kinetree.functions.controllers import (
    ENERGIES,
    ERROR,
    SOLVED,
    Controlled,
    Part,
    check_results,
    plain_name,
)
from kinetree.functions.step_stages import HELD_STAGES, StageParts, evaluation, stage_state
from kinetree.functions.steps import StepKind, steps_of
from kinetree.inputs import real_array, sample_shape
from kinetree.locks import compiling
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.model.constraint_numbers import ConstraintNumbers
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Argument, Program
from kinetree.programs.forms import parts_of, step
from kinetree.programs.source import ProgramSource
from kinetree.programs.trace import Subject, traced
from kinetree.records import record
from kinetree.symbolic.refusals import refuse

__all__ = ["ClosedLoop", "controlled"]

_TIME, _FRESH, _DT, _TAU = "time of step", "runs in step", "length of step", "joint forces of step"


class ClosedLoop:
    """A robot and its controller, compiled for any number of steps."""

    DETERMINED_BY = ("_setting",)
    """The rest follows from it, the robot and the controller, which a trace knows separately."""

    def __init__(self, robot: Model, controller: Program, setting: Controlled) -> None:
        self.name: str = controller.name
        self._arguments, self._defaults, self._setting = controller.arguments, controller.defaults, setting
        self._output, self._of_motion = setting.output, setting.motion(robot)
        results = controller.traced(setting.dtype).results
        outputs = {leaf.name: leaf for leaf in results.leaves}
        self._is_bare = list(outputs) == [""]
        sources = {step(dict, name): name for _, name in setting.sources}
        names = (
            {self._output: outputs[""]}
            if self._is_bare
            else {sources.get(path) or plain_name(path): leaf for path, leaf in outputs.items()}
        )
        check_results(robot, controller, setting, names)
        own = controller.arguments
        self.state: dict[str, Part] = {name: Part(name, x.shape, x.dtype) for name, x in names.items() if name in own}
        """The controller's state: its results that are named as its arguments."""
        others = {name: x for name, x in names.items() if name != self._output and name not in own}
        self.recorded: dict[str, Part] = {name: Part(name, x.shape, x.dtype) for name, x in others.items()}
        """Its other results."""
        self.given: list[str] = [name for name in own if name not in self._of_motion and name not in self.state]
        """Its arguments that come from outside."""
        self._check_rows()
        is_held = setting.when == "held"
        held = [Part(f"held {x.name}", x.shape) for x in self.recorded.values()] if is_held else []
        if is_held and self._output not in self.state:
            held.append(Part(f"held {self._output}", names[self._output].shape))
        act = [Part("act", (setting.activations,))] if setting.activations else []
        energies = [Part(ENERGIES, (2,))] if setting.with_energies else []
        motion = [Part("q", (robot.nq,)), Part("v", (robot.nv,)), *act, *energies]
        self._of_start = [part.name for part in motion]
        self._kept = [*motion, *self.state.values(), *held]
        extra = [] if is_held else [*self.recorded.values()]
        if setting.with_output and self._output not in self.state and not is_held:
            extra.append(Part(self._output, names[self._output].shape))
        extra += [Part(name, (1,) if name == ERROR else (robot.nv,)) for name in setting.reports]
        self._results = [*self._kept, *extra]
        self.number_ports: Sequence[Port] = _ports(robot, setting, ALL)
        """The numbers of the constraints."""
        self._function = self._compiled(robot, controller)

    def __call__(
        self,
        state: Mapping[str, Array],
        times: Array,
        fresh: Array | None,
        rows: Mapping[str, Array],
        dt: Array,
        constants: Mapping[str, Array],
        forces: Sequence[ArrayLike],
        parameters: Sequence[ArrayLike],
        numbers: Sequence[ArrayLike] = (),
        *,
        tau: Array | None = None,
        parts: int = 1,
        threads: int | None = None,
    ) -> Array:
        """The rows of results (…, T, n); see `part`.

        Args:
            state: the initial q, v, energies, state of the controller, and held values, by name.
            times: when each step begins (…, T); for the parts of a step, when that does.
            fresh: 1 for each step in which the controller runs, 0 otherwise (T,); of parts, in the first of them.
            rows: the controller's arguments with one row per step (…, T, *shape).
            dt: length of a step.
            constants: the controller's other arguments (…, *shape).
            forces: external forces (…, 6).
            parameters: values of the robot's parameters.
            numbers: those of constraints.
            tau: joint forces in addition to commands (…, T, nv).
            parts: how many parts there are of each step, all of which T counts.
            threads: as for `kt.rollout`.
        """
        own = self._arguments
        if parts > 1:
            part = np.arange(times.shape[-1]) % parts
            times = (times + part * dt[..., None]).astype(times.dtype)
            fresh = None if fresh is None else np.where(part, 0.0, fresh).astype(fresh.dtype)
        given: list[Any] = [state[part.name] for part in self._kept]
        given.append(times[..., None])
        if fresh is not None:
            given.append(fresh[..., None])
        for name in self._setting.rows:
            core = own[name].shape
            given.append(rows[name].reshape((*rows[name].shape[: rows[name].ndim - len(core)], math.prod(core))))
        if self._setting.actuation is not None:
            given.append(tau)
        constant = [constants[name] for name in self.given if name not in self._setting.rows]
        given += [dt, *constant, *forces, *parameters, *numbers]
        more: dict[str, Any] = {} if threads is None else {"threads": threads}
        return self._function.call(*given, **more)

    @property
    def parts(self) -> Iterator[tuple[Part, slice]]:
        """The pieces of a row of the result, each with its place."""
        start = 0
        for part in self._results:
            yield Part(part.name.removeprefix("held "), part.shape), slice(start, start + part.size)
            start += part.size

    @property
    def kept_places(self) -> dict[str, slice]:
        """The places of the values carried from step to step, by their argument names in a call."""
        ends = np.cumsum([part.size for part in self._kept]).tolist()
        return {part.name: slice(end - part.size, end) for part, end in zip(self._kept, ends, strict=True)}

    def core(self, name: str) -> tuple[int, ...]:
        """The shape of one sample of a kept value, or of an argument of the controller."""
        kept = {part.name: part.shape for part in self._kept}
        return kept[name] if name in kept else self._arguments[name].shape

    def hint(self, name: str) -> str:
        """The end of a message about an argument that is not given from outside."""
        if name in self.state:
            return (
                f"; its initial state is given in state=, as its results have a {name!r}: return that under another "
                "name if it is not a state"
            )
        return f"; {name} is the motion's own" if name in self._of_motion and name in self._arguments else ""

    def start(self, given: Mapping[str, ArrayLike], dtype: np.dtype[Any]) -> dict[str, Array]:
        """The initial state of the controller, and of held values; by default those of its arguments, or zero."""
        for key in given:
            if key not in self.state:
                known = ", ".join(self.state) or "none: no result of it is named as an argument"
                raise NameNotFoundError(f"the controller {self.name!r} has no state {key!r:.60}; it has {known}")
        state: dict[str, Array] = {}
        for part in self._kept:
            if part.name in self._of_start:
                continue
            x = given.get(part.name, self._defaults.get(part.name))
            if x is None:
                state[part.name] = np.zeros(part.shape, dtype)
                continue
            wanted = sample_shape(part.shape)
            if part.name in self._arguments:
                x = self._arguments[part.name].numbers(self.name, part.name, x)
            array = real_array(part.name, x, wanted).astype(dtype)
            if array.shape[max(array.ndim - len(part.shape), 0) :] != part.shape:
                raise ShapeError(
                    f"the initial {part.name} of the controller {self.name!r} has shape {array.shape}, but {wanted} is "
                    "needed"
                )
            if part.name in self._arguments:
                self._arguments[part.name].refuse_zero_quaternions(part.name, array)
            state[part.name] = array
        return state

    def _step(self, robot: Model, controller: Program, given: Mapping[str, Any]) -> Any:
        """One step, on symbols: the next state and the recorded values, as one row."""
        setting = self._setting
        own = {name: given[name] for name in (*self.state, *self.given)}
        for name in setting.rows:
            own[name] = own[name].reshape(self._arguments[name].shape)
        outputs = self._run(controller, given[_TIME][0, 0], given, own)
        if setting.when == "held":
            before = {x.name: given[x.name] for x in self._kept}
            is_fresh = given[_FRESH][0, 0] != 0.0
            for name, x in outputs.items():
                kept = before[name] if name in before else before[f"held {name}"]
                outputs[name] = np.where(is_fresh, x, kept)
        options: dict[str, Any] = {
            "integrator": setting.integrator,
            **dict(setting.switches),
            "f_ext": self._acting(given, outputs) or None,
            "parameters": {name: given[f"parameter {name}"] for name in setting.parameters} or None,
        }
        if setting.constraints:
            options["constraints"] = setting.constraints
            options["numbers"] = [given[f"number {port.name}"] for port in self.number_ports]
        if not setting.integrator:
            results: dict[str, Any] = {name: given[name] for name in self._of_start}
        elif setting.when == "stages":
            results = self._staged(robot, controller, outputs, given, own, options)
        else:
            results = self._moved(robot, outputs, given, options)
        results = {**outputs, **results}
        pieces = [results[part.name.removeprefix("held ")] for part in self._results]
        return np.concatenate([np.ravel(x) for x in pieces])[None]

    def _moved(
        self, robot: Model, said: Mapping[str, Any], given: Mapping[str, Any], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A step under the controller's output, which is constant over it: that of a rollout, to the same bits."""
        setting = self._setting
        names = {"exchanged": ENERGIES, "error": ERROR, "qdd": SOLVED}
        kind = StepKind(
            bool(setting.constraints), setting.actuation is not None, bool(setting.activations),
            setting.with_energies, tuple(name for name in ("error", "qdd") if names[name] in setting.reports),
        )  # fmt: skip
        sizes = {"q": robot.nq, "v": robot.nv, "act": setting.activations, "exchanged": 2, "error": 1, "qdd": robot.nv}
        state = [
            given[key] if (key := names.get(name, name)) in given else np.zeros(sizes[name]) for name in kind.state
        ]
        rows = [said["tau"][None]] if setting.actuation is None else [given[_TAU], said["ctrl"][None]]
        (after,) = steps_of(kind)(robot, *state, *rows, given[_DT], **options)
        ends = np.cumsum([sizes[name] for name in kind.state]).tolist()
        places = zip(kind.state, ends, strict=True)
        return {names.get(name, name): after[end - sizes[name] : end] for name, end in places}

    def _staged(
        self, robot: Model, controller: Program, said: Mapping[str, Any], given: Mapping[str, Any],
        own: Mapping[str, Any], options: Mapping[str, Any],
    ) -> dict[str, Any]:  # fmt: skip
        """A step whose joint forces the controller gives at each stage."""
        setting, dt = self._setting, given[_DT]
        q, v, time = given["q"], given["v"], given[_TIME][0, 0]
        method = algorithms.INTEGRATORS[setting.integrator]
        evaluate: Callable[..., Any] = HELD_STAGES.evaluation if setting.constraints else evaluation
        past: list[Any] = []
        stages: list[StageParts] = []
        for k in range(method.stages):
            if k:
                at = stage_state(k)(robot, dt[None], *past, integrator=setting.integrator)
                q, v = at[: robot.nq], at[robot.nq :]
            tau = said["tau"]
            if k:
                again = self._run(controller, time + method.times[k] * dt, {"q": q, "v": v}, own)
                tau, options = again["tau"], {**options, "f_ext": self._acting(given, again) or None}
            with current_trace().calling(method.stages > 1):
                stages.append(StageParts.of(evaluate(robot, q, v, tau, dt[None], **options), robot.nv))
            past += [q, v, stages[-1].a]
        after = stage_state(method.stages)(robot, dt[None], *past, integrator=setting.integrator)
        if setting.constraints:
            places = [given[f"number {port.name}"] for port in _ports(robot, setting, ERRORS)]
            after = HELD_STAGES.projection(
                robot, after[: robot.nq], after[robot.nq :], constraints=setting.constraints, numbers=places,
                parameters=options["parameters"],
            )  # fmt: skip
        results = {"q": after[: robot.nq], "v": after[robot.nq :], SOLVED: stages[0].solved}
        if setting.reports:
            results[ERROR] = functools.reduce(np.maximum, [stage.error for stage in stages])
        if setting.with_energies:
            powers = [stage.powers for stage in stages]
            results[ENERGIES] = given[ENERGIES] + dt * sum(w * p for w, p in zip(method.weights, powers, strict=True))
        return results

    def _acting(self, given: Mapping[str, Any], said: Mapping[str, Any]) -> dict[ForceKey, Any]:
        """The external forces: those that are inputs, and those that the controller gives."""
        inputs = {key: given[f"f_ext[{key!r}]"] for key in self._setting.forces}
        return inputs | {key: said[name] for key, name in self._setting.sources}

    def _run(self, controller: Program, t: Any, motion: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        """The controller's results at a time and a state, by name."""
        motion = {**motion, "t": t}
        taken = {name: motion[name] for name in self._of_motion if name in self._arguments}
        returned = controller(**{**taken, **own})
        if self._is_bare:
            return {self._output: returned}
        outputs, expected = dict(parts_of(returned) or {}), (self._output, *self.state, *self.recorded)
        if set(outputs) != {*expected}:
            refuse(
                f"the controller {self.name!r} returned {', '.join(map(repr, outputs)) or 'nothing'} when it was run "
                f"again, and {', '.join(map(repr, expected))} before; it must return the same in every run"
            )
        return outputs

    def _compiled(self, robot: Model, controller: Program) -> CompiledFunction:
        setting, own = self._setting, self._arguments
        arguments = {part.name: Argument(part.shape) for part in self._kept}
        first = len(arguments)
        arguments[_TIME] = Argument((1, 1))
        if setting.when == "held":
            arguments[_FRESH] = Argument((1, 1))
        arguments |= {name: Argument((1, math.prod(own[name].shape))) for name in setting.rows}
        if setting.actuation is not None:
            arguments[_TAU] = Argument((1, robot.nv))
        last = len(arguments)
        arguments[_DT] = Argument(())
        arguments |= {name: own[name] for name in self.given if name not in setting.rows}
        arguments |= {f"f_ext[{key!r}]": Argument((6,)) for key in setting.forces}
        arguments |= {f"parameter {name}": Argument(robot.parameter(name).shape) for name in setting.parameters}
        arguments |= {f"number {port.name}": Argument(port.shape) for port in self.number_ports}

        def subject(robot: Model, controller: Program) -> Subject:
            of_q = {name: Argument(robot=robot) if name == "q" else x for name, x in arguments.items()}
            return lambda **given: self._step(robot, controller, given), of_q

        kept = weakref.ref(robot), weakref.ref(controller)  # compiled code goes with both

        def remake() -> Subject:
            robot, controller = kept[0](), kept[1]()
            assert robot is not None
            assert controller is not None
            return subject(robot, controller)

        function, of_q = subject(robot, controller)
        trace = traced(function, controller.name, of_q, np.dtype(setting.dtype), remake)
        source = _Source(
            f"rollout with {controller.name}", arguments, trace, repr(robot.name), rows=tuple(range(first, last)),
            state=tuple(range(first)), checked=dict(robot.quaternions),
        )  # fmt: skip
        return CompiledFunction(source, setting.dtype)

    def _check_rows(self) -> None:
        setting = self._setting
        for name in setting.rows:
            if name not in self.given:
                raise NameNotFoundError(
                    f"the controller {self.name!r} has no argument {name!r:.60} to be given from outside"
                    f"{self.hint(name) or ': ' + nearest_names(name, self.given)}"
                )
        if setting.when == "stages" and self.state:
            raise OptionError(
                f"the controller {self.name!r} has a state ({', '.join(self.state)}), so it runs once per step, "
                "not at each stage of one"
            )


@record(frozen=True, eq=False)
class _Source(ProgramSource):
    """A step as something that can be compiled. It does not hold the robot: it is kept while the robot lives."""

    checked: Mapping[str, slice] = field(default_factory=dict)
    """The quaternions of the configuration, which is the first argument."""

    @property
    def quaternions(self) -> Sequence[tuple[int, Mapping[str, slice]]]:
        return [*([(0, self.checked)] if self.checked else []), *super().quaternions]


def controlled(robot: Model, controller: Program, setting: Controlled) -> ClosedLoop:
    """The compiled closed loop, which is kept as long as the robot and the controller live."""
    with compiling:
        kept: ByIdentity[dict[Controlled, ClosedLoop]] = vars(controller).setdefault("_closed_loops", ByIdentity())
        if robot not in kept:
            kept[robot] = {}
        if setting not in kept[robot]:
            kept[robot][setting] = ClosedLoop(robot, controller, setting)
        return kept[robot][setting]


def _ports(robot: Model, setting: Controlled, numbers: ConstraintNumbers) -> Sequence[Port]:
    """The numbers of the constraints that a function needs."""
    constraints = setting.constraints
    return numbers.ports(robot, {"constraints": constraints}) if constraints else ()
