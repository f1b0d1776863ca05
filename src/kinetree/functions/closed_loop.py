"""A program as controller: one step of a robot's motion with the controller inside, which a kernel repeats.

The step is itself a program, traced as users' are: it runs the controller on its arguments, and then what a step of the
integrator is made of (`kinetree.functions.steps`), so the two share what they have in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
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
from kinetree.programs.source import ProgramSource
from kinetree.programs.trace import traced
from kinetree.records import record

__all__ = ["ClosedLoop", "Controlled", "When", "controlled"]

When = Literal["steps", "stages", "held"]
"""Whether a controller runs once per step, at each stage of it, or in steps that are marked as fresh."""
_OF_MOTION = ("t", "q", "v")
"""The arguments of a controller that come from the motion, if it has them."""


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

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


class ClosedLoop:
    """A robot and its controller, compiled for any number of steps."""

    def __init__(self, robot: Model, controller: Program, setting: Controlled) -> None:
        self._robot, self._controller, self._setting = robot, controller, setting
        found = controller.traced(setting.dtype).results
        outputs = {leaf.name: leaf for leaf in found.leaves}
        self._is_bare = list(outputs) == [""]
        names = {"tau": outputs[""]} if self._is_bare else {_plain_name(name): leaf for name, leaf in outputs.items()}
        self._check(names)
        own = controller.arguments
        self.state = {name: Part(name, own[name].shape) for name in names if name in own}
        """What the controller carries from call to call: its results that are named as its arguments."""
        self.recorded = {name: Part(name, x.shape) for name, x in names.items() if name != "tau" and name not in own}
        """Its other results, besides tau."""
        self.given = [name for name in own if name not in _OF_MOTION and name not in self.state]
        """Its arguments that come from outside."""
        self._check_rows()
        is_held = setting.when == "held"
        held = [Part(f"held {x.name}", x.shape) for x in self.recorded.values()] if is_held else []
        if is_held and "tau" not in self.state:
            held.append(Part("held tau", (robot.nv,)))
        energies = [Part("exchanged", (2,))] if setting.with_energies else []
        self._kept = [Part("q", (robot.nq,)), Part("v", (robot.nv,)), *energies, *self.state.values(), *held]
        extra = [] if is_held else [*self.recorded.values()]
        if setting.with_tau and "tau" not in self.state and not is_held:
            extra.append(Part("tau", (robot.nv,)))
        self._results = [*self._kept, *extra]
        self._function = self._compiled()

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
        own = self._controller.arguments
        given = [state[part.name] for part in self._kept]
        given.append(times[..., None])
        if fresh is not None:
            given.append(fresh[..., None])
        for name in self._setting.rows:
            core = own[name].shape
            given.append(rows[name].reshape((*rows[name].shape[: rows[name].ndim - len(core)], math.prod(core))))
        constant = [constants[name] for name in self.given if name not in self._setting.rows]
        result: Array = self._function.call(
            *given, dt, *constant, *forces, *parameters, *numbers, **({} if out is None else {"out": out}),
            **({} if threads is None else {"threads": threads}),
        )  # fmt: skip
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

    @property
    def number_ports(self) -> Sequence[Port]:
        """The numbers of the constraints."""
        return self._ports(ALL)

    @property
    def name(self) -> str:
        """The controller's name."""
        return self._controller.name

    def core(self, name: str) -> tuple[int, ...]:
        """The shape of one sample of what is kept, or of an argument of the controller."""
        kept = {part.name: part.shape for part in self._kept}
        return kept[name] if name in kept else self._controller.arguments[name].shape

    def start(self, given: Mapping[str, ArrayLike], dtype: np.dtype[Any]) -> dict[str, Array]:
        """The initial state of the controller, zero where nothing is given, and of what is held."""
        name = self._controller.name
        for key in given:
            if key not in self.state:
                known = ", ".join(self.state) or "none: no result of it is named as an argument"
                raise NameNotFoundError(f"the controller {name!r} has no state {key!r:.60}; it has {known}")
        found: dict[str, Array] = {}
        for part in self._kept:
            if part.name in ("q", "v", "exchanged"):
                continue
            x = real_array(part.name, given.get(part.name, np.zeros(part.shape)), f"(…, {part.shape})").astype(dtype)
            if x.shape[x.ndim - len(part.shape) :] != part.shape:
                raise ShapeError(
                    f"{name}: the initial {part.name} has shape {x.shape}, but (…, {part.shape}) is needed"
                )
            found[part.name] = x
        return found

    def _step(self, **given: Any) -> Any:
        """One step, on symbols: the next state and what is recorded, as one row."""
        robot, setting, dt = self._robot, self._setting, given["dt"]
        q, v = given["q"], given["v"]
        own = {name: given[name] for name in (*self.state, *self.given)}
        for name in setting.rows:
            own[name] = own[name].reshape(self._controller.arguments[name].shape)
        method = algorithms.INTEGRATORS[setting.integrator]
        time = given["time"][0, 0]
        options: dict[str, Any] = {"integrator": setting.integrator, **dict(setting.switches)}
        forces = {key: given[f"f_ext {k}"] for k, key in enumerate(setting.forces)} or None
        parameters = {name: given[f"parameter {name}"] for name in setting.parameters} or None

        evaluate: Callable[..., Any] = evaluation
        if setting.constraints:
            evaluate = HELD_STEP.evaluation
            options["constraints"] = setting.constraints
            options["numbers"] = [given[f"number {port.name}"] for port in self._ports(ALL)]

        said = self._run(time, q, v, own)
        if setting.when == "held":
            before = {x.name: given[x.name] for x in self._kept}
            is_fresh = given["fresh"][0, 0] != 0.0
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
                tau = self._run(time + method.times[k] * dt, q, v, own)["tau"]
            with current_trace().calling(method.stages > 1):
                found = evaluate(robot, q, v, tau, dt[None], f_ext=forces, parameters=parameters, **options)
            past += [q, v, found[: robot.nv]]
            powers.append(found[robot.nv :])
        after = stage_state(method.stages)(robot, dt[None], *past, integrator=setting.integrator)
        if setting.constraints:
            places = [given[f"number {port.name}"] for port in self._ports(ERRORS)]
            after = HELD_STEP.projection(
                robot, after[: robot.nq], after[robot.nq :], constraints=setting.constraints, numbers=places,
                parameters=parameters,
            )  # fmt: skip
        results = {**said, "q": after[: robot.nq], "v": after[robot.nq :]}
        if setting.with_energies:
            results["exchanged"] = given["exchanged"] + dt * sum(
                w * p for w, p in zip(method.weights, powers, strict=True)
            )
        pieces = [results[part.name.removeprefix("held ")] for part in self._results]
        return np.concatenate([np.ravel(x) for x in pieces])[None]

    def _run(self, t: Any, q: Any, v: Any, own: Mapping[str, Any]) -> dict[str, Any]:
        """What the controller says at a time and a state, by name."""
        motion = {"t": t, "q": q, "v": v}
        taken = {name: motion[name] for name in _OF_MOTION if name in self._controller.arguments}
        returned = self._controller(**{**taken, **own})
        if self._is_bare:
            return {"tau": returned}
        if isinstance(returned, dict):
            return dict(returned)
        names = ("tau", *self.state, *self.recorded)
        return {name: getattr(returned, name) for name in names}

    def _compiled(self) -> CompiledFunction:
        robot, setting, own = self._robot, self._setting, self._controller.arguments
        arguments = {part.name: Argument(part.shape) for part in self._kept}
        arguments["q"] = Argument(robot=robot)
        first = len(arguments)
        arguments["time"] = Argument((1, 1))
        if setting.when == "held":
            arguments["fresh"] = Argument((1, 1))
        arguments |= {name: Argument((1, math.prod(own[name].shape))) for name in setting.rows}
        last = len(arguments)
        arguments["dt"] = Argument(())
        arguments |= {name: own[name] for name in self.given if name not in setting.rows}
        arguments |= {f"f_ext {k}": Argument((6,)) for k in range(len(setting.forces))}
        arguments |= {f"parameter {name}": Argument(robot.parameter(name).shape) for name in setting.parameters}
        arguments |= {f"number {port.name}": Argument(port.shape) for port in self._ports(ALL)}
        found = traced(self._step, self._controller.name, arguments, np.dtype(setting.dtype))
        source = ProgramSource(
            f"rollout with {self._controller.name}", arguments, found, repr(robot.name), rows=tuple(range(first, last)),
            state=tuple(range(first)),
        )  # fmt: skip
        return CompiledFunction(source, setting.dtype)

    def _ports(self, numbers: ConstraintNumbers) -> Sequence[Port]:
        """The numbers of the constraints that a function needs."""
        constraints = self._setting.constraints
        return numbers.ports(self._robot, {"constraints": constraints}) if constraints else ()

    def _check(self, names: Mapping[str, Any]) -> None:
        robot, controller = self._robot, self._controller
        if "tau" not in names:
            raise OptionError(
                f"the controller {controller.name!r} returns {', '.join(map(repr, names))}; it must return the joint "
                "forces alone, or a dict, named tuple or dataclass that has them as 'tau'"
            )
        sizes = {"t": (), "q": (robot.nq,), "v": (robot.nv,)}
        for name, shape in sizes.items():
            if name in controller.arguments and controller.arguments[name].shape != shape:
                raise ShapeError(
                    f"the controller {controller.name!r} takes {name} of shape {controller.arguments[name].shape}, but "
                    f"{robot.name!r} has {shape}"
                )
        if names["tau"].shape != (robot.nv,):
            raise ShapeError(
                f"the controller {controller.name!r} returns tau of shape {names['tau'].shape}, but {robot.name!r} "
                f"needs ({robot.nv},)"
            )
        for name, leaf in names.items():
            if name in _OF_MOTION:
                raise OptionError(
                    f"the controller {controller.name!r} returns {name!r}, which is the motion's: rename it"
                )
            if name in controller.arguments and leaf.shape != controller.arguments[name].shape:
                raise ShapeError(
                    f"the controller {controller.name!r} has a state {name!r}: it takes shape "
                    f"{controller.arguments[name].shape} and returns {leaf.shape}"
                )

    def _check_rows(self) -> None:
        controller, setting = self._controller, self._setting
        for name in setting.rows:
            if name not in self.given:
                raise NameNotFoundError(
                    f"the controller {controller.name!r} has no argument {name!r:.60} to be given from outside: "
                    f"{nearest_names(name, self.given)}"
                )
        if setting.when == "stages" and self.state:
            raise OptionError(
                f"the controller {controller.name!r} has a state ({', '.join(self.state)}), so it runs once per step, "
                "not at each stage of one"
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
            f"a controller returns tau, or a dict, named tuple or dataclass of arrays with names, not parts like {path}"
        )
    return name
