"""Environments to learn in: physics, observation, reward and reset of a task as one compiled function."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.laws.law import with_arguments
from kinetree.errors import (
    NameNotFoundError,
    OptionError,
    ShapeError,
    SimulationError,
    SimulationWarning,
    nearest_names,
)
from kinetree.inputs import chosen_word, real_array, whole_between, whole_number
from kinetree.interop.installed import check_installed
from kinetree.learning.beginnings import bad_beginnings
from kinetree.learning.functions import TaskFunction
from kinetree.learning.kernel import ACTION, Kernel
from kinetree.learning.layout import Layout, shapes_of
from kinetree.learning.worlds import Worlds
from kinetree.model import Model
from kinetree.programs import Program
from kinetree.programs.content import content

if TYPE_CHECKING:
    import gymnasium
    import stable_baselines3

    from kinetree.pictures import Camera

__all__ = ["Environment", "Unrolled"]

Array = NDArray[Any]
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Unrolled(NamedTuple):
    """Worlds after many steps."""

    state: Array
    """(…, n_state)"""
    observation: Array
    """(…, n_observation)"""
    fault: Array
    """The number of the first thing that was wrong, or 0 (…)."""
    episode_return: Array
    """The sum of the rewards up to the end of the first episode (…)."""
    episode_length: Array
    """The number of its steps (…)."""
    rows: dict[str, Array]
    """The recorded numbers, (…, steps, *shape) by name."""


class Environment:
    """A task for many worlds at once; `kt.environment` makes it.

    `reset` begins episodes, `step` continues them, `unroll` takes many steps with a policy in the kernel. A world's
    state is one row of numbers, which holds everything: motion, the task's own state, drawn parameters, delayed
    values, counters and the key of its random numbers. Results have the same bits for any number of worlds, order and
    number of threads.
    """

    DETERMINED_BY = ("_kernel", "settings")
    """The attributes that determine its programs (`kinetree.programs.content`)."""

    def __init__(self, name: str, kernel: Kernel, settings: Mapping[str, Array]) -> None:
        self.name: str = name
        self.settings: Mapping[str, Array] = settings
        """The numbers that a call may replace, by name."""
        self._kernel = kernel
        self._results, self._state = kernel.results, kernel.state
        self._functions: dict[str, Program] = {}
        self._variants: dict[str, Environment] = {}
        self._called: dict[Any, Any] = {}
        self._unrolled: dict[Any, Program] = {}

    # -- properties

    @property
    def robot(self) -> Model:
        """The robot of the task."""
        return self._kernel.robot

    @property
    def digest(self) -> str:
        """A text that differs for tasks with different robots, functions or numbers, as far as these can be compared:
        functions that call `kt.random` and NumPy cannot."""
        kernel = self._kernel
        others = [getattr(kernel, field.name) for field in fields(kernel) if field.name != "functions"]
        parts = (self.settings, *others, *kernel.functions.values())
        return hashlib.sha256(b"".join(content(part) or b"unknown" for part in parts)).hexdigest()

    @property
    def action_low(self) -> Array:
        """The lowest actions (n,); -inf where there is no bound."""
        return np.array(self._kernel.action[0])

    @property
    def action_high(self) -> Array:
        """The highest actions (n,)."""
        return np.array(self._kernel.action[1])

    @property
    def action_size(self) -> int:
        """The number of numbers of an action."""
        return len(self._kernel.action[0])

    @property
    def observation_size(self) -> int:
        """The number of numbers of an observation."""
        return self._results.shapes["observation"][0]

    @property
    def observation_parts(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the parts of an observation by name, in order."""
        return self._kernel.parts

    @property
    def dt(self) -> float:
        """The time that a step takes, s."""
        return self._kernel.dt * self._kernel.frame_skip

    @property
    def max_steps(self) -> int | None:
        """The number of steps after which an episode is cut off."""
        return self._kernel.most

    @property
    def autoreset(self) -> str:
        """When the next episode begins: "same_step", "next_step" or "disabled"."""
        return self._kernel.autoreset

    def with_autoreset(self, mode: str) -> Environment:
        """The same task with another `autoreset`."""
        if chosen_word("autoreset", mode, "same_step", "next_step", "disabled") == self.autoreset:
            return self
        if mode not in self._variants:
            self._variants[mode] = Environment(self.name, replace(self._kernel, autoreset=mode), self.settings)
        return self._variants[mode]

    def __repr__(self) -> str:
        return (
            f"<environment {self.name}: {self.robot.name!r}, action ({self.action_size},), observation "
            f"({self.observation_size},), {self.dt:g} s a step>"
        )

    def parts_of_state(self, state: Array) -> dict[str, Array]:
        """The parts of states (…, n) by name, as views: q, v, act, the task's own, `drawn …`, counters.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> worlds = env.reset(seed=0, worlds=3)
        >>> env.parts_of_state(worlds.state)["q"].shape
        (3, 2)
        """
        return self._state.apart(np.asarray(state))

    # -- programs

    def program(self, what: str = "step") -> Program:
        """The program of a step, or of a reset: everything as arrays of one world, to call, differentiate and export.

        "step" takes state, action and the settings by name; "reset" takes seed, world, episode and the settings. Both
        return a dict: state, observation, and of a step reward, terminated, truncated, fault (its number,
        or 0), final_observation, episode_return, episode_length and the terms of the reward.
        """
        chosen_word("program", what, "step", "reset")
        if what not in self._functions:
            self._functions[what] = _program(self._kernel, self.name, what, self.settings)
        return self._functions[what]

    def _function(self, what: str, dtype: np.dtype[Any]) -> Callable[..., Any]:
        key = what, dtype
        if key not in self._called:
            self._called[key] = self.program(what).compile(dtype=dtype.name)
        call: Callable[..., Any] = self._called[key]
        return call

    # -- where people learn

    @overload
    def to_gymnasium(
        self, worlds: None = None, *, dtype: str = ..., settings: Mapping[str, ArrayLike] = ...,
        render_mode: str | None = ..., camera: Camera | None = ...,
    ) -> gymnasium.Env[Array, Array]: ...  # fmt: skip
    @overload
    def to_gymnasium(
        self, worlds: int | Sequence[int], *, autoreset: str | None = ..., dtype: str = ...,
        settings: Mapping[str, ArrayLike] = ..., threads: int | None = ..., copy: bool = ...,
        render_mode: str | None = ..., camera: Camera | None = ...,
    ) -> gymnasium.vector.VectorEnv[Array, Array, Array]: ...  # fmt: skip
    def to_gymnasium(self, worlds: int | Sequence[int] | None = None, **options: Any) -> Any:
        """Gymnasium's `VectorEnv` of many worlds, or its `Env` of one. See `kinetree docs learning_gymnasium`.

        World i of `reset(seed=s)` has the random numbers of world i here. `reset` without a seed begins the next
        episodes. `infos` has the terms of the reward as "reward_NAME", what the task records, "episode_return" and
        "episode_length". `envs.settings` is a dict of settings, which may be changed between steps.

        Args:
            worlds: as for `reset`; None for an `Env`.
            autoreset: "same_step", "next_step" or "disabled", as Gymnasium's AutoresetMode; by default that of the
                environment. An `Env` is reset by its user.
            dtype: "float64" or "float32".
            settings: values of settings to begin with.
            threads: how many threads may be used; by default as many as are worth it.
            copy: whether each step has a new array of observations; otherwise they are views, which are overwritten by
                the next step but one.
            render_mode: "rgb_array" for pictures of the worlds by `render()`.
            camera: where they are taken from (`kt.pictures.Camera`); by default the whole robot is in the picture.

        Raises:
            MissingPackageError: Gymnasium is missing, or older than 1.1.
            ShapeError: in a step: the actions have another shape than is needed.
            SimulationError: in a step: as for `step`; or there was no reset, or the episode has ended and is not reset.
            OptionError: in a reset: an unknown option.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> envs = env.to_gymnasium(8)
        >>> observations, infos = envs.reset(seed=0)
        >>> observations, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
        >>> observations.shape, rewards.shape
        ((8, 5), (8,))
        """
        made = _adapter("to_gymnasium", "gymnasium", (1, 1))
        return made.OneWorld(self, **options) if worlds is None else made.ManyWorlds(self, worlds, **options)

    def to_sb3(
        self, worlds: int | Sequence[int], *, dtype: str = "float64", settings: Mapping[str, ArrayLike] = _NOTHING,
        threads: int | None = None, render_mode: str | None = None, camera: Camera | None = None,
    ) -> stable_baselines3.common.vec_env.VecEnv:  # fmt: skip
        """Stable-Baselines3's `VecEnv` of many worlds. See `kinetree docs learning_stable_baselines3`.

        Args: as for `to_gymnasium`.

        Raises:
            MissingPackageError: Stable-Baselines3 is missing, or older than 2.7.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> env.to_sb3(8).reset().shape
        (8, 5)
        """
        made = _adapter("to_sb3", "stable_baselines3", (2, 7))
        found: stable_baselines3.common.vec_env.VecEnv = made.BaselineWorlds(
            self, worlds, dtype, settings, threads, render_mode, camera
        )
        return found

    def to_rsl_rl(
        self, worlds: int | Sequence[int], *, seed: int = 0, groups: Mapping[str, Sequence[str]] | None = None,
        dtype: str = "float64", settings: Mapping[str, ArrayLike] = _NOTHING, threads: int | None = None,
    ) -> Any:  # fmt: skip
        """rsl_rl's `VecEnv` of many worlds. See `kinetree docs learning_rsl_rl`.

        Args:
            worlds: as for `reset`.
            seed: as for `reset`.
            groups: groups of observations by name, each a list of parts of the observation; by default "policy", all
                of them.
            dtype: in which worlds are computed. Observations and rewards are float32.
            settings: values of settings to begin with.
            threads: as for `reset`.

        Raises:
            MissingPackageError: rsl_rl is missing, or older than 5.5.
            NameNotFoundError: the observation has no such part.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> env.to_rsl_rl(8).get_observations()["policy"].shape
        torch.Size([8, 5])
        """
        made = _adapter("to_rsl_rl", "rsl_rl", (5, 5))
        return made.RslWorlds(self, worlds, seed, groups, dtype, settings, threads)

    def to_torch(
        self, worlds: int | Sequence[int] | None, *, dtype: str = "float64",
        settings: Mapping[str, ArrayLike] = _NOTHING, threads: int | None = None,
    ) -> Any:  # fmt: skip
        """Worlds of PyTorch's tensors in the same memory: nothing is copied. See `kinetree docs learning_torch`.

        Args: as for `reset`.

        Returns:
            Worlds that go on: with `reset(seed)` and `step(action)`, which return tensors as `Worlds` has arrays. Those
            of this step and of the one before it are there; the next step overwrites the older ones.

        Raises:
            MissingPackageError: PyTorch is missing, or older than 2.13.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> worlds = env.to_torch(8)
        >>> worlds.reset(seed=0).observation.shape
        torch.Size([8, 5])
        >>> worlds.step(0.1 * worlds.action).reward.shape
        torch.Size([8])
        """
        return _adapter("to_torch", "torch", (2, 13)).TensorWorlds(self, worlds, dtype, settings, threads)

    def to_jax(self) -> Any:
        """Pure functions of JAX's arrays, reset and step, for jit, vmap and grad. See `kinetree docs learning_jax`.

        Returns:
            Functions with the attributes `reset`, which takes seed, world and episode (…), and `step`, which takes
            state (…, n) and action (…, n_action); both take settings by name, and return the state and a dict of the
            other results.

        Raises:
            MissingPackageError: JAX is missing, or older than 0.5.

        >>> import jax
        >>> import kinetree as kt
        >>> functions = kt.learning.task("cart_pole").to_jax()
        >>> state, results = jax.jit(functions.reset)(seed=0.0, world=jax.numpy.arange(8.0))
        >>> state, results = jax.jit(functions.step)(state, jax.numpy.zeros((8, 1)))
        >>> results["reward"].shape
        (8,)
        """
        return _adapter("to_jax", "jax", (0, 5)).pure_functions(self)

    # -- worlds

    def reset(
        self,
        seed: int | Sequence[int] = 0,
        worlds: int | Sequence[int] | None = None,
        *,
        dtype: str = "float64",
        settings: Mapping[str, ArrayLike] = _NOTHING,
        threads: int | None = None,
    ) -> Worlds:
        """Begin an episode in each world.

        Args:
            seed: whole number from 0 on, or one for each world; with it and the number of a world all its random
                numbers are determined. In float32 it is below 2²⁴.
            worlds: how many; or their numbers, such as range(1024, 2048) for the second half of 2,048; None for one
                world without an axis of worlds.
            dtype: "float64" or "float32".
            settings: values for this call, (…, *shape).
            threads: how many threads may be used; by default as many as are worth it.

        Returns:
            The worlds, (N, …).

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> env.reset(seed=1, worlds=8).observation.shape
        (8, 5)
        """
        numbers = _numbers_of_worlds(worlds)
        start = _seeds(seed, numbers.shape, dtype)
        begun = self._begun(start, numbers.astype(dtype), np.zeros((), dtype), settings, threads)
        rows = np.zeros((*numbers.shape, self._results.size), dtype)
        result = self.worlds(rows)
        for name in ("state", "observation"):
            self._results.part(rows, name)[...] = begun[name]
        result.final_observation[...] = result.observation
        return result

    def check(self, worlds: int = 64, *, seed: int = 0, settings: Mapping[str, ArrayLike] = _NOTHING) -> None:
        """Warn of episodes that begin badly: with shapes inside each other, or where `terminate` ends them at once.

        Shapes count that are more than 1 cm inside each other in a quarter of the worlds. `kt.learning.train` checks
        its task by it.

        Args:
            worlds: in how many worlds an episode is begun.
            seed: as for `reset`.
            settings: as for `reset`.

        Warns:
            SimulationWarning: names the fault, and in how many of the worlds.

        >>> import kinetree as kt
        >>> kt.learning.task("cart_pole").check()
        """
        begun = self.reset(seed, worlds, settings=settings)
        for problem in bad_beginnings(self._kernel, begun.state, {**self.settings, **settings}):
            warnings.warn(f"{self.name}: {problem}", SimulationWarning, stacklevel=2)

    def restart(
        self,
        worlds: Worlds,
        mask: ArrayLike | None = None,
        *,
        settings: Mapping[str, ArrayLike] = _NOTHING,
        threads: int | None = None,
    ) -> Worlds:
        """Begin another episode in some worlds, in place.

        Args:
            worlds: all worlds (N, …); those that are chosen are overwritten.
            mask: which ones (N,), as truth values, or their places; by default all.
            settings: as for `reset`.
            threads: as for `reset`.

        Returns:
            The same worlds.
        """
        places = ... if mask is None else _chosen(mask, worlds.numbers)
        rows = worlds.numbers[places]
        old = self._state.apart(self._results.part(rows, "state"))
        settings = settings if mask is None else _rows_of(settings, places, worlds.numbers)
        begun = self._begun(old["seed"], old["world"], old["episode"] + 1.0, settings, threads)
        rows[...] = 0.0
        for name in ("state", "observation"):
            self._results.part(rows, name)[...] = begun[name]
        self._results.part(rows, "final_observation")[...] = begun["observation"]
        worlds.numbers[places] = rows
        return worlds

    def step(
        self,
        state: ArrayLike,
        action: ArrayLike,
        *,
        out: Worlds | None = None,
        mask: ArrayLike | None = None,
        settings: Mapping[str, ArrayLike] = _NOTHING,
        threads: int | None = None,
    ) -> Worlds:
        """One step of each world: physics, reward, end, observation, and another episode where one has ended.

        Args:
            state: where the worlds are (N, n), `worlds.state` of the last call; it is left as it is.
            action: (N, n_action).
            out: worlds to write to, other than those that state belongs to: with two of them, in turn, no call
                allocates memory.
            mask: the worlds that take the step (N,), as truth values, with `out`, whose other rows stay as they are.
            settings: values for this call, (…, *shape).
            threads: how many threads may be used; by default as many as are worth it.

        Returns:
            The worlds after the step.

        Raises:
            SimulationError: an action, a term of the reward or a part of the observation is not finite, or an action
                is out of range and not clipped; it says in which world. `state` is as it was.
            ShapeError: the arrays do not fit.
            NameNotFoundError: there is no such setting.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> worlds = env.reset(seed=0, worlds=1000)
        >>> worlds = env.step(worlds.state, np.zeros((1000, 1)))
        >>> worlds.reward.shape, worlds.terminated.any()
        ((1000,), np.False_)
        """
        if mask is not None:
            return self._masked(state, action, out, mask, settings, threads)
        state = state if isinstance(state, np.ndarray) else np.asarray(state)
        values = self._values(settings) if settings or self.settings else ()
        call = self._called.get(("step", state.dtype)) or self._function("step", state.dtype)
        more = {} if threads is None else {"threads": threads}
        with np.errstate(all="ignore"):  # a value that is not finite is a fault
            if out is None:
                out = self.worlds(call(state, action, *values, **more))
            else:
                call(state, action, *values, out=out.numbers, **more)
        if np.count_nonzero(out.fault) and self._kernel.keeps_faults:
            self._raise(out.fault, state, action)
        return out

    def unroll(
        self,
        worlds: Worlds,
        policy: Callable[..., Any] | None,
        weights: ArrayLike,
        steps: int,
        *,
        record: Sequence[str] = (),
        settings: Mapping[str, ArrayLike] = _NOTHING,
        threads: int | None = None,
    ) -> Unrolled:
        """Many steps of each world with a policy in the kernel: to evaluate it, to search its weights, to plan.

        Args:
            worlds: where the worlds are (N, …).
            policy: `kt.learning.mlp`, `kt.learning.gru`, or a function of any of weights, observation, key (for
                `kt.random`) and state, that returns an action (n,), or a dict of action, state and what it records.
                A policy with a state says in `state_size` how many numbers that has; it is zero when an episode begins.
                None for given actions.
            weights: all its numbers, (n,) for all worlds or (N, n) for each; without a policy the actions,
                (…, steps, n_action).
            steps: how many steps.
            record: the returned values of each step, by name: any of reward, terminated, truncated, observation (from
                which the action followed), action, final_observation, state, terms of the reward as "reward NAME", what
                the task records as "record NAME", and what the policy records.
            settings: as for `step`.
            threads: as for `step`.

        Returns:
            The last state and observation; the return and length of the first episode, up to its end; and the rows.

        Raises:
            SimulationError: as for `step`.
            OptionError: there is nothing of a name in `record`.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> policy = kt.learning.mlp((5, 16, 1), output="tanh")
        >>> worlds = env.reset(seed=0, worlds=64)
        >>> weights = np.random.default_rng(0).normal(size=(64, policy.size))  # of each world
        >>> env.unroll(worlds, policy, weights, 100).episode_return.shape
        (64,)
        """
        weights, dtype = np.asarray(weights), worlds.state.dtype.name
        key = policy, weights.shape[-1:] if policy else weights.shape[-2:], steps, tuple(record)
        call, layout = self._called.get((*key, dtype)) or self._unrolling(*key, dtype)
        more = {} if threads is None else {"threads": threads}
        with np.errstate(all="ignore"):  # as in `step`
            numbers = call(worlds.state, worlds.observation, weights, *self._values(settings), **more)
        parts = layout.apart(numbers)
        if self._kernel.keeps_faults and parts["fault"].any():
            self._raise(parts["fault"], worlds.state, np.zeros(self.action_size), within=steps)
        rows = {name: parts[f"rows {name}"] for name in record}
        return Unrolled(
            parts["state"], parts["observation"], parts["fault"], parts["episode_return"], parts["episode_length"], rows
        )

    def unroll_program(
        self,
        policy: Callable[..., Any] | None,
        weights: int | tuple[int, ...],
        steps: int,
        *,
        record: Sequence[str] = (),
        resets: bool = False,
    ) -> Program:
        """The program of `unroll`, to differentiate, to export, or to give to JAX or PyTorch.

        It takes state (n,), observation (n_observation,), weights, of the shape that is given, and the settings by
        name; it returns a dict of state, observation, fault, episode_return, episode_length and rows. Without `resets`
        worlds stop at the end of their episode; `kt.vjp` then gives the gradient of the return through contacts.

        >>> import kinetree as kt
        >>> env = kt.learning.task("cart_pole")
        >>> policy = kt.learning.mlp((5, 16, 1), output="tanh")
        >>> unroll = env.unroll_program(policy, policy.size, steps=8)
        >>> worlds = env.reset(seed=0, worlds=4)
        >>> given = worlds.state, worlds.observation, policy.initial(np.random.default_rng(0))
        >>> _, gradient = kt.vjp(unroll, given, {"episode_return": np.ones(4)}, wrt="weights")
        >>> gradient["weights"].shape
        (4, 113)
        """
        size = (weights,) if isinstance(weights, int) else weights
        key = policy, size, steps, tuple(record), resets
        if key not in self._unrolled:
            self._unrolled[key] = self._many_steps(policy, size, whole_between("steps", steps, 1), record, resets)
        return self._unrolled[key]

    def _unrolling(
        self, policy: Callable[..., Any] | None, size: tuple[int, ...], steps: int, record: Sequence[str], dtype: str
    ) -> tuple[Callable[..., Any], Layout]:
        """The compiled function of many steps, and the layout of its result; kept."""
        program = self.unroll_program(policy, size, steps, record=record, resets=True)
        call: Callable[..., Any] = program.compile(dtype=dtype)
        leaves = program.traced(dtype).results.leaves
        names = (leaf.name.strip("[]'").replace("']['", " ") for leaf in leaves)
        made = call, Layout(dict(zip(names, (leaf.shape for leaf in leaves), strict=True)))
        self._called[policy, size, steps, record, dtype] = made
        return made

    def _many_steps(
        self, policy: Callable[..., Any] | None, size: tuple[int, ...], steps: int, record: Sequence[str], resets: bool
    ) -> Program:
        kernel = self._kernel if resets else replace(self._kernel, autoreset="disabled")
        memory, function = getattr(policy, "state_size", 0), None
        if policy is not None:
            known = ("weights", "observation", "key", *(["state"] if memory else []))
            function = TaskFunction.of("policy", policy, known)

        def unrolled(state: Any, observation: Any, weights: Any, **settings: Any) -> dict[str, Any]:
            return kernel.unrolled(
                state, observation, weights, settings, policy=function, memory=memory, steps=steps, record=record
            )

        shapes = {"state": self._state.size, "observation": self.observation_size, "weights": size}
        return with_arguments(f"{steps} steps of {self.name}", unrolled, {**shapes, **shapes_of(self.settings)}, {})

    def worlds(self, numbers: Array) -> Worlds:
        """Worlds of their `numbers` (…, n): of those saved before, or of an empty array as `out=` of `step`."""
        if numbers.shape[-1:] != (self._results.size,):
            raise ShapeError(
                f"{self.name}: a world of this environment is {self._results.size} numbers, and the array has shape "
                f"{numbers.shape}; is it of another task?"
            )
        return Worlds(numbers, self._results)

    def _masked(
        self, state: ArrayLike, action: ArrayLike, out: Worlds | None, mask: ArrayLike,
        settings: Mapping[str, ArrayLike], threads: int | None,
    ) -> Worlds:  # fmt: skip
        if out is None:
            raise OptionError(f"{self.name}: mask= needs out=, the worlds whose other rows stay as they are")
        places = _chosen(mask, out.numbers)
        shape = out.numbers.shape[:-1]
        state = np.broadcast_to(state, (*shape, self._state.size))[places]
        action = np.broadcast_to(action, (*shape, self.action_size))[places]
        rows = self.step(state, action, settings=_rows_of(settings, places, out.numbers), threads=threads)
        out.numbers[places] = rows.numbers
        return out

    def _values(self, given: Mapping[str, ArrayLike]) -> list[Any]:
        """The settings of a call, in order."""
        for name in given:
            if name not in self.settings:
                raise NameNotFoundError(
                    f"{self.name} has no setting {name!r:.60}: {nearest_names(str(name), self.settings)}"
                )
        return [given.get(name, own) for name, own in self.settings.items()]

    def _begun(
        self, seed: Array, worlds: Array, episode: Any, settings: Mapping[str, ArrayLike], threads: int | None
    ) -> dict[str, Array]:
        call = self._function("reset", worlds.dtype)
        values = [np.asarray(x, worlds.dtype) for x in self._values(settings)]
        more = {} if threads is None else {"threads": threads}
        row = call(np.asarray(seed, worlds.dtype), worlds, episode, *values, **more)
        return Layout({"state": (self._state.size,), "observation": (self.observation_size,)}).apart(row)

    def _raise(self, fault: Array, state: Array, action: ArrayLike, within: int = 0) -> None:
        """Report the fault and its world; `within` the many steps after a state, if not in the next one."""
        places = np.argwhere(np.atleast_1d(fault) != 0.0)
        at = tuple(places[0]) if fault.ndim else ()
        what = self._kernel.faults[int(fault[at]) - 1]
        count = int(self.parts_of_state(state)["step"][at])
        where = f"world {', '.join(map(str, at))}, " if at else ""
        where += f"within {within} steps after step {count}" if within else f"step {count}"
        more = f", and in {len(places) - 1} other worlds" if len(places) > 1 else ""
        row = np.broadcast_to(action, (*state.shape[:-1], self.action_size))[at]
        if within and what in ("range", ACTION):
            words = "out of range" if what == "range" else "not finite"
            raise SimulationError(f"{self.name}: {where}: an action of the policy is {words}{more}")
        if what == "range":
            k = int(np.argmax((row < self.action_low) | (row > self.action_high)))
            raise SimulationError(
                f"{self.name}: {where}: action[{k}] is {row[k]:g}, outside of {self.action_low[k]:g} to "
                f"{self.action_high[k]:g}{more}; clip it, or make the environment with clip_actions=True"
            )
        if what == ACTION:
            k = int(np.argmin(np.isfinite(row)))
            raise SimulationError(f"{self.name}: {where}: action[{k}] is {row[k]:g}{more}")
        raise SimulationError(
            f"{self.name}: {where}: {what} is not finite{more}; the states before the step are as they "
            'were. With on_fault="end" the episode ends there instead, without reward'
        )


def _adapter(method: str, package: str, oldest: tuple[int, int] = (0, 0)) -> Any:
    """The module that adapts environments to a package; its name is that of the package."""
    check_installed(f"env.{method}", package, oldest)
    return import_module(f"kinetree.learning.adapters.{package}")


def _program(kernel: Kernel, name: str, what: str, settings: Mapping[str, Array]) -> Program:
    """The program of a step, or of a reset."""
    shapes: dict[str, Any] = {"seed": (), "world": (), "episode": ()}
    if what == "step":
        shapes = {"state": kernel.state.size, "action": len(kernel.action[0])}

    def function(**given: Any) -> dict[str, Any]:
        own = {key: given.pop(key) for key in settings}
        return kernel.advance(**given, settings=own) if what == "step" else kernel.begin(**given, settings=own)

    return with_arguments(f"{what} of {name}", function, {**shapes, **shapes_of(settings)}, {})


def _numbers_of_worlds(worlds: Any) -> Array:
    """The numbers of worlds, as real numbers."""
    if worlds is None:
        return np.zeros(())
    if whole_number(worlds) is not None:
        return np.arange(whole_between("worlds", worlds), dtype=np.float64)
    numbers = real_array("worlds", np.asarray(worlds), "(N,)").astype(np.float64)
    if numbers.ndim != 1 or np.any(numbers < 0) or np.any(numbers != np.floor(numbers)):
        raise OptionError(f"worlds is how many there are, or their numbers from 0 on, not {worlds!r:.60}")
    return numbers


def _seeds(given: Any, shape: tuple[int, ...], dtype: str) -> Array:
    """Seeds of worlds, which are whole numbers in this dtype too."""
    is_each = bool(shape) and np.shape(given) == shape
    seeds = np.asarray(given, np.float64) if is_each else np.asarray(whole_between("seed", given))
    if np.any(seeds < 0) or np.any(seeds != np.floor(seeds)) or np.any(seeds != seeds.astype(dtype)):
        raise OptionError(f"a seed is a whole number from 0 on, in float32 below 2**24, not {given!r:.60}")
    return seeds.astype(dtype)


def _chosen(mask: ArrayLike, numbers: Array) -> Any:
    """The places of chosen worlds."""
    places = np.asarray(mask)
    if numbers.ndim != 2:
        raise ShapeError("a mask chooses among worlds in one row, (N, n); there is no such axis here")
    if places.dtype == np.bool_ and places.shape == numbers.shape[:1]:
        return np.flatnonzero(places)
    if places.dtype.kind not in "iu" or places.ndim != 1:
        raise ShapeError(
            f"mask says of each of {len(numbers)} worlds whether it is meant, or has their places, not {mask!r:.60}"
        )
    return places


def _rows_of(settings: Mapping[str, ArrayLike], chosen: Any, numbers: Array) -> dict[str, Any]:
    """The settings of chosen worlds."""
    return {name: np.asarray(x)[chosen] if np.shape(x)[:1] == numbers.shape[:1] else x for name, x in settings.items()}
