"""One step of one world, as the environment's program has it: physics, reward, end, observation, next episode.

Everything here runs on the symbols of a trace, for one sample. Random numbers belong to (seed, world, purpose, step,
episode), so they depend on no batch, order or restart.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from kinetree import random
from kinetree.errors import OptionError, ShapeError, listed
from kinetree.functions.kinematics import frame_placement
from kinetree.functions.rollouts import rollout
from kinetree.learning.distributions import Distribution
from kinetree.learning.functions import TaskFunction, by_name
from kinetree.learning.layout import Layout
from kinetree.learning.worlds import RECORD, SCALARS, TERM
from kinetree.model import Model
from kinetree.programs.loops import scan, when
from kinetree.records import record

__all__ = ["ACTION", "EVALUATED", "Kernel", "Push"]

ACTION = "action"
"""The name of the action among the values that may be delayed."""
EVALUATED = "evaluated"
"""The name by which an update takes where forces were evaluated."""
_COUNTERS = ("seed", "world", "episode", "step", "total", "is_over")
_PURPOSES = 1 << 12


class Evaluated(NamedTuple):
    """The state at which the last step of physics evaluated forces last, as `kt.rollout` reports it."""

    q: Any
    v: Any
    qdd: Any


@record(frozen=True, slots=True)
class Push:
    """Kicks of a floating base: its velocity changes at random times, in a random horizontal direction.

    Args:
        every: seconds between two of them, on average.
        speed: the largest change of velocity along each of the world's horizontal axes, m/s.

    >>> import kinetree as kt
    >>> pushes = kt.learning.Push(every=5.0, speed=0.5)
    """

    every: float
    speed: float


@record(frozen=True, slots=True, eq=False)
class Kernel:
    """A task's functions and numbers, and its steps on symbols."""

    robot: Model
    functions: Mapping[str, TaskFunction]
    memory: Mapping[str, Any]
    """The first values of the task's own state, by name."""
    drawn: Mapping[str, tuple[Any, Any]]
    """Drawn numbers by name: the distribution, or a function, and the robot's own value."""
    noise: Mapping[str, Distribution]
    delays: Mapping[str, int]
    """The largest delay of the action, in steps of physics, and of parts of the observation, in steps."""
    action: tuple[Any, Any]
    """The lowest and the highest action (n,)."""
    clips: bool
    push: Push | None
    dt: float
    """Length of a step of physics, s."""
    frame_skip: int
    physics: Mapping[str, Any]
    """Options of `kt.rollout`."""
    commands: bool
    """Whether the default control is commands of actuators; otherwise joint forces at `driven`."""
    driven: Any
    activations: int
    most: int | None
    """The number of steps of an episode."""
    autoreset: str
    keeps_faults: bool
    """Whether a world with a fault goes on as it is, for an error; otherwise its episode ends."""
    purposes: Mapping[str, int] = field(default_factory=dict)
    parts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The shapes of the parts of the observation."""
    terms: tuple[str, ...] = ()
    """The names of the terms of the reward; none for a reward that is one number."""
    records: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The shapes of additional records."""
    controlled: tuple[str, ...] = ()
    """The names in the memory that control changes."""

    # -- layouts

    @property
    def state(self) -> Layout:
        """The state of a world."""
        of_motion = {"q": (self.robot.nq,), "v": (self.robot.nv,), "act": (self.activations,)}
        memory = {name: np.shape(x) for name, x in self.memory.items()}
        drawn = {f"drawn {name}": np.shape(own) for name, (_, own) in self.drawn.items()}
        past = {f"past {name}": self._past(name, most) for name, most in self.delays.items()}
        return Layout({**of_motion, **memory, **drawn, **past, **dict.fromkeys(_COUNTERS, ())})

    @property
    def results(self) -> Layout:
        """The results of a step."""
        n = sum(map(math.prod, self.parts.values()))
        return Layout({
            "state": (self.state.size,), "final_observation": (n,), "observation": (n,), **dict.fromkeys(SCALARS, ()),
            **{TERM + name: () for name in self.terms}, **{RECORD + name: x for name, x in self.records.items()},
        })  # fmt: skip

    def _past(self, name: str, most: int) -> tuple[int, ...]:
        """The shape of the values that a delay needs again."""
        if name == ACTION:
            return -(-most // self.frame_skip), len(self.action[0])
        return most, *self.parts[name]

    @property
    def faults(self) -> Sequence[str]:
        """The faults that a step looks for; the first one is number 1."""
        parts = [f"observation[{name!r}]" if name else "the observation" for name in self.parts]
        terms = [f"reward[{name!r}]" for name in self.terms] or ["the reward"]
        return [ACTION, "range", *terms, *parts, "q or v"]

    # -- one world

    def begin(self, seed: Any, world: Any, episode: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The first state of an episode, and its observation."""
        counters = {"seed": seed, "world": world, "episode": episode, "step": 0.0, "total": 0.0, "is_over": 0.0}
        drawn = {name: self._drawn(name, counters, settings) for name in self.drawn}
        x: dict[str, Any] = {
            "q": self.robot.neutral(), "v": np.zeros(self.robot.nv), "act": np.zeros(self.activations), **self.memory,
            **{f"drawn {name}": value for name, value in drawn.items()}, **counters,
        }  # fmt: skip
        known = ("q", "v", *(["act"] if self.activations else []), *self.memory)
        if "reset" in self.functions:
            given = self._given(x, settings, "reset", np.zeros(len(self.action[0])))
            x |= self._shaped("reset", by_name("reset", self.functions["reset"](given), known), x)
        now = self._given(x, settings, "observe", np.zeros(len(self.action[0])))
        observation, past = self._observed(x, now, is_first=True)
        x |= past
        if ACTION in self.delays:
            x[f"past {ACTION}"] = np.zeros(self._past(ACTION, self.delays[ACTION]))
        return {"state": self.state.joined(x), "observation": observation}

    def advance(self, state: Any, action: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The results of one step."""
        x, (low, high) = self.state.apart(state), self.action
        is_finite = np.all(np.isfinite(action))
        is_within = np.all((action >= low) & (action <= high))
        action = np.clip(action, low, high) if self.clips else action
        counters = {"seed": x["seed"], "world": x["world"], "episode": x["episode"], "step": x["step"] + 1.0}
        before = SimpleNamespace(**{name: x[name] for name in ("q", "v", "act", *self.memory)}, t=self._time(x))
        x |= counters  # draws of this step belong to its end
        moved = self._moved(x, action, settings, before)
        evaluated = moved.pop(EVALUATED, None)
        x |= moved
        if self.push is not None:
            x["v"] = self._pushed(x)
        if "update" in self.functions:
            given = self._given(x, settings, "update", action, before) | {EVALUATED: evaluated}
            x |= self._shaped("update", by_name("update", self.functions["update"](given), self.memory), x)
        terms = self._rewards(x, settings, action, before)
        reward = sum(terms.values())
        terminated = self._ended(x, settings, action, before)
        observation, past = self._observed(x, self._given(x, settings, "observe", action, before))
        x |= past
        fault = self._fault(is_finite, is_within, terms, observation, x)
        records = self._recorded(x, settings, action, before)
        if not self.keeps_faults:
            is_whole = fault == 0.0
            terminated, reward, observation = (
                terminated | ~is_whole,
                np.where(is_whole, reward, 0.0),
                np.where(is_whole, observation, 0.0),
            )
            terms = {name: np.where(is_whole, term, 0.0) for name, term in terms.items()}
        truncated = np.False_ if self.most is None else x["step"] >= self.most
        x["total"] = x["total"] + reward
        results: dict[str, Any] = {
            "reward": reward, "terminated": terminated * 1.0, "truncated": truncated * 1.0, "fault": fault,
            "final_observation": observation, "episode_return": x["total"], "episode_length": x["step"],
            **({TERM + name: term for name, term in terms.items()} if self.terms else {}),
            **{RECORD + name: record for name, record in records.items()},
        }  # fmt: skip
        is_over = terminated | truncated
        x["is_over"] = is_over * 1.0
        following = {"state": self.state.joined(x), "observation": observation}
        if self.autoreset == "same_step":
            following = when(is_over, lambda _: self._again(x, settings), following)
        elif self.autoreset == "next_step":
            was_over = self.state.part(state, "is_over") != 0.0
            old = self.state.apart(state)
            following = when(was_over, lambda _: self._again(old, settings), following)
            results = {name: np.where(was_over, 0.0, value) for name, value in results.items()}
            results["final_observation"] = np.where(was_over, following["observation"], observation)
        left = {**following, **results}
        return {name: left[name] for name in self.results.shapes}

    def _again(self, x: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        return self.begin(x["seed"], x["world"], x["episode"] + 1.0, settings)

    def is_over(self, x: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
        """Whether the task ends an episode where it begins."""
        return self._ended(x, settings, np.zeros(len(self.action[0])), None)

    def forms(self, x: dict[str, Any], action: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The parts of the observation and the terms of the reward, of any state: for their names and shapes."""
        observed = self._given(x, settings, "observe", action)
        terms = self._rewards(x, settings, action, observed["before"])
        self._ended(x, settings, action, observed["before"])
        records = self._recorded(x, settings, action, observed["before"])
        changed = (
            {} if "physics" in self.functions else self._controlled(x, action, settings, observed["before"], 0.0)[0]
        )
        groups = {"part": self.observed_parts(observed), "term": terms, "record": records, "control": changed}
        return {f"{group} {name}": value for group, values in groups.items() for name, value in values.items()}

    def unrolled(
        self, state: Any, observation: Any, weights: Any, settings: Mapping[str, Any], *, policy: TaskFunction | None,
        memory: int, steps: int, record: Sequence[str],
    ) -> dict[str, Any]:  # fmt: skip
        """Many steps under a policy whose own state has `memory` numbers, or with given actions; see `Environment`."""

        def one(now: dict[str, Any], row: Any) -> tuple[dict[str, Any], dict[str, Any]]:
            x = self.state.apart(now["state"])
            key = self._key({**x, "step": x["step"] + 1.0}, "policy")
            given = {"weights": weights, "observation": now["observation"], "state": now["policy"], "key": key}
            returned = row if policy is None else policy(given)
            if isinstance(returned, tuple):
                returned = dict(zip((ACTION, "state"), returned, strict=True))
            outputs = dict(returned) if isinstance(returned, dict) else {ACTION: returned}
            own = self._of_shape("policy: state", outputs.pop("state", now["policy"]), (memory,))
            action = self._of_shape("policy: action", outputs.pop(ACTION), (len(self.action[0]),))
            results = self.advance(now["state"], action, settings)
            is_over = (results["terminated"] + results["truncated"]) > 0.0
            counts = now["counts"]
            after = {
                "state": results["state"], "observation": results["observation"], "policy": np.where(is_over, 0.0, own),
                "total": now["total"] + np.where(counts > 0.0, results["reward"], 0.0),
                "length": now["length"] + counts, "counts": np.where(is_over, 0.0, counts),
                "fault": np.where(now["fault"] > 0.0, now["fault"], results["fault"]),
            }  # fmt: skip
            if self.autoreset == "disabled":  # nothing moves after the end
                after = {k: x if k == "counts" else np.where(counts > 0.0, x, now[k]) for k, x in after.items()}
            values = {**results, ACTION: action, "observation": now["observation"], **outputs}
            unknown = [name for name in record if name not in values]
            if unknown:
                raise OptionError(f"record has {unknown[0]!r:.60}; there is {listed(map(repr, values), most=20)}")
            return after, {name: values[name] for name in record}

        size = self.results.shapes["observation"]
        first = {
            "state": state, "observation": self._of_shape("observation", observation, size), "policy": np.zeros(memory),
            "total": 0.0, "length": 0.0, "counts": 1.0, "fault": 0.0,
        }  # fmt: skip
        last, rows = scan(one, first, weights if policy is None else None, length=steps)
        ends = {name: last[name] for name in ("state", "observation", "fault")}
        return {**ends, "episode_return": last["total"], "episode_length": last["length"], "rows": rows}

    # -- parts of a step

    def _time(self, x: Mapping[str, Any]) -> Any:
        return x["step"] * (self.dt * self.frame_skip)

    def _key(self, x: Mapping[str, Any], purpose: str) -> Any:
        return np.stack([x["seed"], x["world"], self.purposes[purpose], x["step"], x["episode"]])

    def _given(
        self, x: Mapping[str, Any], settings: Mapping[str, Any], role: str, action: Any, before: Any = None
    ) -> dict[str, Any]:
        """Everything that a function of this role may take."""
        given = {name: x[name] for name in ("q", "v", "act", "step", *self.memory)}
        given |= {"t": self._time(x), "action": action, "parameters": self.parameters(x), **settings}
        given["key"] = self._key(x, role)
        now = {name: given[name] for name in ("q", "v", "act", "t", *self.memory)}
        return {**given, "before": before or SimpleNamespace(**now)}

    def parameters(self, x: Mapping[str, Any]) -> dict[str, Any]:
        """The drawn parameters of a world by name."""
        return {name: x[f"drawn {name}"] for name in self.drawn if not name.startswith("delay ")}

    def _drawn(self, name: str, counters: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
        """A drawn number at the beginning of an episode."""
        source, own = self.drawn[name]
        key = self._key(counters, name)
        if isinstance(source, TaskFunction):
            value = source({"key": key, "own": own, **settings})
        elif isinstance(source, Distribution):
            value = source.draw(key, np.shape(own))
            value = own * value if source.relative else value
        else:
            value = source
        return self._of_shape(f"randomize[{name!r}]", value, np.shape(own))

    def _moved(self, x: Mapping[str, Any], action: Any, settings: Mapping[str, Any], before: Any) -> dict[str, Any]:
        """The motion of one step of the environment, and the changes of the memory by control or physics."""
        known = ("q", "v", "act", *self.memory)
        most = self.delays.get(ACTION, 0)
        actions = action[None]
        past: dict[str, Any] = {}
        if most:
            actions = np.concatenate([action[None], x[f"past {ACTION}"]])
            past = {f"past {ACTION}": actions[:-1]}
        rows = self._actions_of_steps(actions, x)
        if "physics" in self.functions:
            given = self._given(x, settings, "physics", rows if most else action, before)
            result = by_name("physics", self.functions["physics"](given), known)
            return {**self._shaped("physics", result, x), **past}

        carried = {name: x[name] for name in ("q", "v", "act", *self.controlled)}
        reports = "update" in self.functions and EVALUATED in self.functions["update"].takes
        if reports:
            carried[EVALUATED] = Evaluated(x["q"], x["v"], np.zeros(self.robot.nv))

        def one(now: dict[str, Any], row: tuple[Any, Any]) -> tuple[dict[str, Any], None]:
            after, command = self._controlled({**x, **now}, row[0], settings, before, self.dt * row[1])
            now = {**now, **after}
            options = {"parameters": self.parameters(x) or None, "report": reports and "evaluated", **self.physics}
            rows = {"ctrl": command["ctrl"][None], "act": now["act"]} if "ctrl" in command else {}
            tau = command["tau"][None] if "tau" in command else None
            result: Any = rollout(self.robot, now["q"], now["v"], tau, self.dt, **rows, **options)
            if reports:
                now[EVALUATED] = Evaluated(result.q[0], result.v[0], result.qdd[0])
                result = result.states
            (end,) = result
            nq, nv = self.robot.nq, self.robot.nv
            act = end[nq + nv :] if "ctrl" in command else now["act"]
            return {**now, "q": end[:nq], "v": end[nq : nq + nv], "act": act}, None

        if self.frame_skip == 1:
            end, _ = one(carried, (rows[0], 0.0))
        else:
            end, _ = scan(one, carried, (rows, np.arange(self.frame_skip)))
        return {**end, **past}

    def _actions_of_steps(self, actions: Any, x: Mapping[str, Any]) -> Any:
        """The action that acts in each step of physics (frame_skip, n), of this one and earlier ones, newest first."""
        if len(actions) == 1:
            return np.stack([actions[0]] * self.frame_skip)
        rows, lag = [], x[f"drawn delay {ACTION}"]
        for k in range(self.frame_skip):
            row = actions[0]
            for back in range(1, len(actions)):  # the newest one that has been on its way for long enough
                row = np.where(lag > k + (back - 1) * self.frame_skip, actions[back], row)
            rows.append(row)
        return np.stack(rows)

    def _controlled(
        self, x: Mapping[str, Any], action: Any, settings: Mapping[str, Any], before: Any, since: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The changes of the memory by control, and commands or joint forces, so long after the step began."""
        output = "ctrl" if self.commands else "tau"
        if "control" not in self.functions:
            command = action if self.commands else action @ self.driven
            return {}, {output: command}
        given = {**self._given(x, settings, "control", action, before), "t": before.t + since}
        returned = by_name("control", self.functions["control"](given), ("ctrl", "tau", *self.memory), output)
        command = {name: returned.pop(name) for name in ("ctrl", "tau") if name in returned}
        shapes = {"tau": (self.robot.nv,), "ctrl": (len(self.robot.extras.actuators),)}
        for name, value in command.items():
            command[name] = self._of_shape(f"control: {name}", value, shapes[name])
        if not command:
            raise OptionError("control returns commands of the actuators, ctrl, or joint forces, tau")
        return self._shaped("control", returned, x), command

    def _pushed(self, x: Mapping[str, Any]) -> Any:
        """The velocity after a push, if there is one."""
        assert self.push is not None
        key = self._key(x, "push")
        chance, along, across = random.uniform(key, 3)
        is_pushed = chance < self.dt * self.frame_skip / self.push.every
        change = self.push.speed * np.stack([2.0 * along - 1.0, 2.0 * across - 1.0, 0.0])
        R = frame_placement(self.robot, x["q"], self.robot.root)[:3, :3]
        return np.concatenate([x["v"][:3] + np.where(is_pushed, R.T @ change, 0.0), x["v"][3:]])

    def _rewards(self, x: Mapping[str, Any], settings: Mapping[str, Any], action: Any, before: Any) -> dict[str, Any]:
        returned = self.functions["reward"](self._given(x, settings, "reward", action, before))
        terms = returned if isinstance(returned, dict) else {"": returned}
        return {
            name: self._of_shape(f"reward[{name!r}]" if name else "reward", term, ()) for name, term in terms.items()
        }

    def _ended(self, x: Mapping[str, Any], settings: Mapping[str, Any], action: Any, before: Any) -> Any:
        if "terminate" not in self.functions:
            return np.False_
        ends = self.functions["terminate"](self._given(x, settings, "terminate", action, before))
        if np.shape(ends) != () or getattr(ends, "dtype", np.dtype(type(ends))) != np.bool_:
            raise ShapeError(
                f"terminate returned {_described(ends)}; it says with one truth value whether the episode ends, such "
                "as q[2] < 0.3, or np.any(...)"
            )
        return ends

    def _recorded(self, x: Mapping[str, Any], settings: Mapping[str, Any], action: Any, before: Any) -> dict[str, Any]:
        """The records of the task."""
        if "record" not in self.functions:
            return {}
        records = self.functions["record"](self._given(x, settings, "record", action, before))
        if not isinstance(records, dict):
            raise OptionError(f"record returns a dict of arrays by name, not {_described(records)}")
        return {name: value if hasattr(value, "shape") else np.asarray(value) for name, value in records.items()}

    def observed_parts(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parts of the observation by name, without noise and delay."""
        returned = self.functions["observe"](given)
        parts = returned if isinstance(returned, dict) else {"": returned}
        return {str(name): x if hasattr(x, "shape") else np.asarray(x) for name, x in parts.items()}

    def _observed(
        self, x: Mapping[str, Any], given: Mapping[str, Any], *, is_first: bool = False
    ) -> tuple[Any, dict[str, Any]]:
        """The observation, with noise and delay, and its parts that are seen later."""
        observed, past = [], dict[str, Any]()
        for name, part in self.observed_parts(given).items():
            if name in self.noise:
                part = part + self.noise[name].draw(self._key(x, f"noise {name}"), part.shape)
            if name in self.delays:
                most = self.delays[name]
                earlier = np.stack([part] * most) if is_first else x[f"past {name}"]
                past[f"past {name}"] = np.concatenate([part[None], earlier[:-1]])
                lag, value = x[f"drawn delay {name}"], part
                for k in range(most):
                    value = np.where(lag == k + 1.0, earlier[k], value)
                part = value
            observed.append(np.ravel(part))
        return np.concatenate(observed), past

    def _fault(self, is_finite: Any, is_within: Any, terms: Mapping[str, Any], seen: Any, x: Mapping[str, Any]) -> Any:
        """The number of the first fault, or 0."""
        sound = [is_finite, np.True_ if self.clips else is_within, *map(np.isfinite, terms.values())]
        start = 0
        for shape in self.parts.values():
            sound.append(np.all(np.isfinite(seen[start : start + math.prod(shape)])))
            start += math.prod(shape)
        sound.append(np.all(np.isfinite(np.concatenate([x["q"], x["v"]]))))
        fault: Any = 0.0
        for number, is_sound in reversed([*enumerate(sound, 1)]):
            fault = np.where(is_sound, fault, float(number))
        return fault

    def _shaped(self, role: str, found: Mapping[str, Any], x: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._of_shape(f"{role}: {name}", value, np.shape(x[name])) for name, value in found.items()}

    @staticmethod
    def _of_shape(what: str, value: Any, shape: tuple[int, ...]) -> Any:
        if np.shape(value) != shape:
            raise ShapeError(f"{what} has shape {np.shape(value)}, but {shape or 'one number'} is needed")
        return value * 1.0


def purposes(names: Sequence[str]) -> dict[str, int]:
    """A number below 2¹² for each purpose of random numbers, by its name alone unless two would have the same."""
    numbers: dict[str, int] = {}
    for name in sorted(names):
        number = zlib.crc32(name.encode()) % _PURPOSES
        while number in numbers.values():
            number = (number + 1) % _PURPOSES
        numbers[name] = number
    return numbers


def _described(x: Any) -> str:
    return f"an array of shape {np.shape(x)} and dtype {getattr(x, 'dtype', type(x).__name__)}"
