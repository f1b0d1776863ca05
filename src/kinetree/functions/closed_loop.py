"""A program as controller: one step of a robot's motion with the controller inside, which a kernel repeats.

The step is itself a program, traced as users' are: it runs the controller on its arguments, and then what a step of the
integrator is made of (`kinetree.functions.steps`), so the two share what they have in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.compiled import CompiledFunction, compiling
from kinetree.compiler.definition import Array
from kinetree.compiler.tracing import current_trace
from kinetree.errors import DTypeError, NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.expr import Port
from kinetree.functions.constraint_options import ALL, ERRORS
from kinetree.functions.steps import HELD_STEP, evaluation, stage_state
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.model.constraint_numbers import ConstraintNumbers
from kinetree.model.constraints import Constraint
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Argument, Program
from kinetree.programs.forms import parts_of
from kinetree.programs.source import ProgramSource
from kinetree.programs.trace import traced
from kinetree.records import record
from kinetree.symbolic.refusals import refuse

__all__ = ["ClosedLoop", "Controlled", "When", "controlled", "ways_to_give"]

When = Literal["steps", "stages", "held"]
"""Whether a controller runs once per step, at each stage of it, or in steps that are marked as fresh."""
_OF_MOTION = ("t", "q", "v")
"""The arguments of a controller that come from the motion, if it has them."""
ENERGIES = "energies exchanged"
"""The name of work and loss in the state. It has a blank, as all names here but the user's: so none is taken."""
_TIME, _FRESH, _DT = "time of step", "runs in step", "length of step"


@record(frozen=True)
class Controlled:
    """What a closed loop is compiled for, besides the robot and the controller."""

    integrator: str
    switches: tuple[tuple[str, Hashable], ...]
    """The passive forces and limits that are on, resolved."""
    forces: tuple[ForceKey, ...]
    parameters: tuple[str, ...]
    rows: tuple[str, ...]
    """The controller's own arguments that have one row per step."""
    when: When
    with_energies: bool
    """Whether the energies exchanged are part of the state."""
    with_tau: bool
    """Whether the forces are part of the result."""
    constraints: tuple[Constraint, ...]
    """What holds during the motion, without numbers."""
    dtype: str


class Part(NamedTuple):
    """A piece of a step's result."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any] = np.dtype(np.float64)

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


class ClosedLoop:
    """A robot and its controller, compiled for any number of steps."""

    def __init__(self, robot: Model, controller: Program, setting: Controlled) -> None:
        self.name = controller.name
        self._arguments, self._defaults, self._setting = controller.arguments, controller.defaults, setting
        found = controller.traced(setting.dtype).results
        outputs = {leaf.name: leaf for leaf in found.leaves}
        self._is_bare = list(outputs) == [""]
        names = {"tau": outputs[""]} if self._is_bare else {_plain_name(name): leaf for name, leaf in outputs.items()}
        self._check(robot, names)
        own = controller.arguments
        self.state = {name: Part(name, x.shape, x.dtype) for name, x in names.items() if name in own}
        """What the controller carries from call to call: its results that are named as its arguments."""
        others = {name: x for name, x in names.items() if name != "tau" and name not in own}
        self.recorded = {name: Part(name, x.shape, x.dtype) for name, x in others.items()}
        """Its other results, besides tau."""
        self.given = [name for name in own if name not in _OF_MOTION and name not in self.state]
        """Its arguments that come from outside."""
        self._check_rows()
        is_held = setting.when == "held"
        held = [Part(f"held {x.name}", x.shape) for x in self.recorded.values()] if is_held else []
        if is_held and "tau" not in self.state:
            held.append(Part("held tau", (robot.nv,)))
        energies = [Part(ENERGIES, (2,))] if setting.with_energies else []
        self._kept = [Part("q", (robot.nq,)), Part("v", (robot.nv,)), *energies, *self.state.values(), *held]
        extra = [] if is_held else [*self.recorded.values()]
        if setting.with_tau and "tau" not in self.state and not is_held:
            extra.append(Part("tau", (robot.nv,)))
        self._results = [*self._kept, *extra]
        self.number_ports = _ports(robot, setting, ALL)
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
        out: Array | None = None,
        threads: int | None = None,
    ) -> Array:
        """The rows of results (…, T, n); see `part`.

        Args:
            state: the initial q, v, energies, state of the controller, and what is held, by name.
            times: when each step begins (…, T).
            fresh: 1 for each step in which the controller runs, 0 otherwise (T,).
            rows: the controller's arguments with one row per step (…, T, *shape).
            dt: length of a step.
            constants: the controller's other arguments (…, *shape).
            forces: external forces (…, 6).
            parameters: values of the robot's parameters.
            numbers: those of constraints.
            out: where to put the result.
            threads: as for `kt.rollout`.
        """
        own = self._arguments
        given: list[Any] = [state[part.name] for part in self._kept]
        given.append(times[..., None])
        if fresh is not None:
            given.append(fresh[..., None])
        for name in self._setting.rows:
            core = own[name].shape
            given.append(rows[name].reshape((*rows[name].shape[: rows[name].ndim - len(core)], math.prod(core))))
        constant = [constants[name] for name in self.given if name not in self._setting.rows]
        given += [dt, *constant, *forces, *parameters, *numbers]
        if self._empty:
            given = self._without_empty(given)
        result: Array = self._function.call(
            *given, **({} if out is None else {"out": out}), **({} if threads is None else {"threads": threads})
        )
        return result

    @property
    def parts(self) -> Iterator[tuple[Part, slice]]:
        """The pieces of a row of the result, each with its place."""
        start = 0
        for part in self._results:
            yield Part(part.name.removeprefix("held "), part.shape), slice(start, start + part.size)
            start += part.size

    @property
    def kept_places(self) -> dict[str, slice]:
        """The places of what is carried from step to step, by the names that a call takes it by."""
        ends = np.cumsum([part.size for part in self._kept]).tolist()
        return {part.name: slice(end - part.size, end) for part, end in zip(self._kept, ends, strict=True)}

    def core(self, name: str) -> tuple[int, ...]:
        """The shape of one sample of what is kept, or of an argument of the controller."""
        kept = {part.name: part.shape for part in self._kept}
        return kept[name] if name in kept else self._arguments[name].shape

    def hint(self, name: str) -> str:
        """The end of a message about an argument that is not given from outside."""
        if name in self.state:
            return (
                f"; its initial state is given in state=, as its results have a {name!r}: return that under another "
                "name if it is no state"
            )
        return f"; {name} is the motion's own" if name in _OF_MOTION and name in self._arguments else ""

    def start(self, given: Mapping[str, ArrayLike], dtype: np.dtype[Any]) -> dict[str, Array]:
        """The initial state of the controller, and of what is held; where nothing is given, its defaults, or zero."""
        for key in given:
            if key not in self.state:
                known = ", ".join(self.state) or "none: no result of it is named as an argument"
                raise NameNotFoundError(f"the controller {self.name!r} has no state {key!r:.60}; it has {known}")
        found: dict[str, Array] = {}
        for part in self._kept:
            if part.name in ("q", "v", ENERGIES):
                continue
            x = given.get(part.name, self._defaults.get(part.name))
            if x is None:
                found[part.name] = np.zeros(part.shape, dtype)
                continue
            wanted = f"({', '.join(('…', *map(str, part.shape)))})"
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
            found[part.name] = array
        return found

    def _step(self, robot: Model, controller: Program, given: Mapping[str, Any]) -> Any:
        """One step, on symbols: the next state and what is recorded, as one row."""
        setting, dt = self._setting, given[_DT]
        q, v = given["q"], given["v"]
        own = {name: given[name] for name in (*self.state, *self.given)}
        for name in setting.rows:
            own[name] = own[name].reshape(self._arguments[name].shape)
        method = algorithms.INTEGRATORS[setting.integrator]
        time = given[_TIME][0, 0]
        options: dict[str, Any] = {"integrator": setting.integrator, **dict(setting.switches)}
        forces = {key: given[f"f_ext[{key!r}]"] for key in setting.forces} or None
        parameters = {name: given[f"parameter {name}"] for name in setting.parameters} or None

        evaluate: Callable[..., Any] = evaluation
        if setting.constraints:
            evaluate = HELD_STEP.evaluation
            options["constraints"] = setting.constraints
            options["numbers"] = [given[f"number {port.name}"] for port in self.number_ports]

        said = self._run(controller, time, q, v, own)
        if setting.when == "held":
            before = {x.name: given[x.name] for x in self._kept}
            is_fresh = given[_FRESH][0, 0] != 0.0
            for name, x in said.items():
                kept = before[name] if name in before else before[f"held {name}"]
                said[name] = np.where(is_fresh, x, kept)

        past: list[Any] = []
        powers = []
        for k in range(method.stages):
            if k:
                at = stage_state(k)(robot, dt[None], *past, integrator=setting.integrator)
                q, v = at[: robot.nq], at[robot.nq :]
            tau = said["tau"]
            if k and setting.when == "stages":
                tau = self._run(controller, time + method.times[k] * dt, q, v, own)["tau"]
            with current_trace().calling(method.stages > 1):
                found = evaluate(robot, q, v, tau, dt[None], f_ext=forces, parameters=parameters, **options)
            past += [q, v, found[: robot.nv]]
            powers.append(found[robot.nv :])
        after = stage_state(method.stages)(robot, dt[None], *past, integrator=setting.integrator)
        if setting.constraints:
            places = [given[f"number {port.name}"] for port in _ports(robot, setting, ERRORS)]
            after = HELD_STEP.projection(
                robot, after[: robot.nq], after[robot.nq :], constraints=setting.constraints, numbers=places,
                parameters=parameters,
            )  # fmt: skip
        results = {**said, "q": after[: robot.nq], "v": after[robot.nq :]}
        if setting.with_energies:
            results[ENERGIES] = given[ENERGIES] + dt * sum(w * p for w, p in zip(method.weights, powers, strict=True))
        pieces = [results[part.name.removeprefix("held ")] for part in self._results]
        return np.concatenate([np.ravel(x) for x in pieces])[None]

    def _run(self, controller: Program, t: Any, q: Any, v: Any, own: Mapping[str, Any]) -> dict[str, Any]:
        """What the controller says at a time and a state, by name."""
        motion = {"t": t, "q": q, "v": v}
        taken = {name: motion[name] for name in _OF_MOTION if name in self._arguments}
        returned = controller(**{**taken, **own})
        if self._is_bare:
            return {"tau": returned}
        said = dict(parts_of(returned) or {})
        if set(said) != {"tau", *self.state, *self.recorded}:
            refuse(
                f"the controller {self.name!r} returned {', '.join(map(repr, said)) or 'nothing'} when it was run "
                f"again, and {', '.join(map(repr, ('tau', *self.state, *self.recorded)))} before; it must return the "
                "same in every run"
            )
        return said

    def _without_empty(self, given: Sequence[Any]) -> list[Any]:
        """The arguments of the kernel, in which arrays without numbers have no place; times have their axes."""
        axes = []
        for k, (rank, is_row) in self._empty.items():
            shape = np.shape(given[k])
            axes.append(shape[: len(shape) - rank] if is_row else (*shape[: len(shape) - rank], 1))
        place = len(self._kept)
        times = given[place][..., 0]
        spread = np.broadcast_to(times, np.broadcast_shapes(times.shape, *axes))[..., None]
        return [spread if k == place else x for k, x in enumerate(given) if k not in self._empty]

    def _compiled(self, robot: Model, controller: Program) -> CompiledFunction:
        setting, own = self._setting, self._arguments
        arguments = {part.name: Argument(part.shape) for part in self._kept}
        first = len(arguments)
        arguments[_TIME] = Argument((1, 1))
        if setting.when == "held":
            arguments[_FRESH] = Argument((1, 1))
        arguments |= {name: Argument((1, math.prod(own[name].shape))) for name in setting.rows}
        last = len(arguments)
        arguments[_DT] = Argument(())
        arguments |= {name: own[name] for name in self.given if name not in setting.rows}
        arguments |= {f"f_ext[{key!r}]": Argument((6,)) for key in setting.forces}
        arguments |= {f"parameter {name}": Argument(robot.parameter(name).shape) for name in setting.parameters}
        arguments |= {f"number {port.name}": Argument(port.shape) for port in self.number_ports}
        # A kernel has no arrays without numbers.
        empty = {name: np.zeros(x.shape) for name, x in arguments.items() if not math.prod(x.shape)}
        ranks = {k: (name, len(x.shape)) for k, (name, x) in enumerate(arguments.items())}
        self._empty = {
            k: (rank - (first <= k < last), first <= k < last) for k, (name, rank) in ranks.items() if name in empty
        }
        taken = {name: x for name, x in arguments.items() if name not in empty}
        first, last = (k - sum(n < k for n in self._empty) for k in (first, last))
        found = traced(
            lambda **given: self._step(robot, controller, {**empty, **given}), controller.name,
            {name: Argument(robot=robot) if name == "q" else x for name, x in taken.items()}, np.dtype(setting.dtype),
        )  # fmt: skip
        source = _Source(
            f"rollout with {controller.name}", taken, found, repr(robot.name), rows=tuple(range(first, last)),
            state=tuple(range(first)), checked=dict(robot.quaternions),
        )  # fmt: skip
        return CompiledFunction(source, setting.dtype)

    def _check(self, robot: Model, names: Mapping[str, Any]) -> None:
        if "tau" not in names:
            raise OptionError(
                f"the controller {self.name!r} returns {', '.join(map(repr, names))}; it must return the joint "
                "forces alone, or a dict, named tuple or dataclass that has them as 'tau'"
            )
        sizes = {"t": (), "q": (robot.nq,), "v": (robot.nv,)}
        for name, shape in sizes.items():
            if name in self._arguments and self._arguments[name].shape != shape:
                raise ShapeError(
                    f"the controller {self.name!r} takes {name} of shape {self._arguments[name].shape}, but "
                    f"{robot.name!r} has {shape}"
                )
        if names["tau"].shape != (robot.nv,):
            raise ShapeError(
                f"the controller {self.name!r} returns tau of shape {names['tau'].shape}, but {robot.name!r} "
                f"needs ({robot.nv},)"
            )
        for name, leaf in names.items():
            if name in _OF_MOTION:
                raise OptionError(f"the controller {self.name!r} returns {name!r}, which is the motion's: rename it")
            if name in self._arguments and leaf.shape != self._arguments[name].shape:
                raise ShapeError(
                    f"the controller {self.name!r} has a state {name!r}: it takes shape "
                    f"{self._arguments[name].shape} and returns {leaf.shape}"
                )
            if name in self._arguments and not np.can_cast(
                leaf.dtype, self._arguments[name].symbolic_dtype(leaf.dtype)
            ):
                kind = {float: "real numbers", int: "whole numbers", bool: "booleans"}[self._arguments[name].dtype]
                raise DTypeError(
                    f"the controller {self.name!r} has a state {name!r}: it takes {kind} and returns an array of dtype "
                    f"{leaf.dtype}; return {name}.astype({self._arguments[name].dtype.__name__}), or declare another"
                )

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


def ways_to_give(name: str) -> str:
    """The end of a message about an argument that is missing."""
    return (
        f"give arguments={{{name!r}: …}} for a value that is constant over a motion, or rows={{{name!r}: …}} for one "
        f"row per step; or return its next value as {name!r}, which makes it a state"
    )


def controlled(robot: Model, controller: Program, setting: Controlled) -> ClosedLoop:
    """The compiled closed loop, which is kept as long as the robot and the controller live."""
    with compiling:
        kept: ByIdentity[dict[Controlled, ClosedLoop]] = vars(controller).setdefault("_closed_loops", ByIdentity())
        if robot not in kept:
            kept[robot] = {}
        if setting not in kept[robot]:
            kept[robot][setting] = ClosedLoop(robot, controller, setting)
        return kept[robot][setting]


def _plain_name(path: str) -> str:
    """The name of a result of a controller."""
    name = path.removeprefix(".").removeprefix("[").removesuffix("]").strip("'\"")
    if not name.isidentifier():
        raise DTypeError(
            "a controller returns tau, or a dict, named tuple or dataclass of arrays with names that could be those of "
            f"variables, not parts like {path}; several numbers become one array by np.stack([a, b])"
        )
    return name


def _ports(robot: Model, setting: Controlled, numbers: ConstraintNumbers) -> Sequence[Port]:
    """The numbers of the constraints that a function needs."""
    constraints = setting.constraints
    return numbers.ports(robot, {"constraints": constraints}) if constraints else ()
