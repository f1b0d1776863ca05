"""A task of a user's functions, numbers and options: they are checked, and become an environment."""

from __future__ import annotations

import fnmatch
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.laws.law import with_arguments
from kinetree.errors import ModelWarning, NameNotFoundError, OptionError, ShapeError, listed
from kinetree.functions.actuators import actuation_of_robot
from kinetree.functions.contact_options import ContactOption, contact_option
from kinetree.functions.drives import Passive, passive_option
from kinetree.functions.integrator_options import Integrator, step_of_file
from kinetree.functions.unfelt import unfelt_parameters
from kinetree.inputs import chosen_word, flag, real_array, sample_shape, whole_between, whole_number
from kinetree.learning.distributions import Choice, Distribution, Integers, Normal
from kinetree.learning.environment import Environment
from kinetree.learning.functions import TaskFunction
from kinetree.learning.kernel import ACTION, EVALUATED, Kernel, Push, purposes
from kinetree.learning.layout import shapes_of
from kinetree.model import Model
from kinetree.model.model import check_robot

__all__ = ["environment"]

Array = NDArray[Any]
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_OF_WORLDS = ("q", "v", "act", "t", "step", "action", "key", "before", "parameters")
_ROLES = ("reset", "control", "physics", "update", "reward", "terminate", "observe", "record")


def environment(
    robot: Model,
    *,
    observe: Callable[..., Any],
    reward: Callable[..., Any],
    terminate: Callable[..., Any] | None = None,
    reset: Callable[..., Any] | None = None,
    control: Callable[..., Any] | None = None,
    physics: Callable[..., Any] | None = None,
    update: Callable[..., Any] | None = None,
    record: Callable[..., Any] | None = None,
    action: int | tuple[ArrayLike, ArrayLike] | None = None,
    dt: float | None = None,
    frame_skip: int = 1,
    contact: ContactOption = True,
    passive: Passive = True,
    integrator: Integrator | None = None,
    max_steps: int | None = 1000,
    memory: Mapping[str, Any] = _NOTHING,
    settings: Mapping[str, ArrayLike] = _NOTHING,
    randomize: Mapping[str, Any] = _NOTHING,
    noise: Mapping[str, float | Distribution] = _NOTHING,
    delay: Mapping[str, int | Distribution] = _NOTHING,
    push: Push | None = None,
    autoreset: str = "same_step",
    clip_actions: bool = False,
    on_fault: str = "error",
    name: str | None = None,
) -> Environment:
    """A task to learn, with its physics, as one compiled function of many worlds.

    The task's functions are written in NumPy and kinetree's functions, for one world, as a `kt.program` is. Each takes
    what it names among its parameters: `q` (nq,), `v` (nv,) and `act` (na,), the state of the robot; `t`, seconds since
    the episode began, and `step`, steps since then; `action` (n,), that of this step, zeros after a reset; `key`, for
    `kt.random`, another one for each function and step; `before`, with the attributes q, v, act, t and those of the
    memory, at the beginning of this step; `parameters`, the drawn ones by name; and the names in `memory` and
    `settings`.

    Args:
        robot: the robot.
        observe: the observation, (n,), or a dict of named parts, which are joined in order.
        reward: the reward of a step, one number, or a dict of named terms, which are summed, and recorded one by one.
        terminate: whether the episode ends, one truth value; without it only `max_steps` ends one.
        reset: the state at the beginning of an episode, a dict of any of q, v, act and names in memory; missing ones
            are neutral, zero, or as in memory.
        control: commands of the robot's actuators (nu,) for an action, or {"tau": joint forces (nv,)}, and in the dict
            also names in memory. It runs in every step of physics. By default the action is the commands, or, of a
            robot without actuators, the joint forces where there are motors.
        physics: the motion of a whole step, in place of `frame_skip` steps of `kt.rollout`: a dict of q, v, act and
            names in memory.
        update: changes of the memory after the motion, once per step: a newly drawn command, the last action. It
            may also take `evaluated`, with q, v and qdd where the last step of physics evaluated forces, as of
            `kt.rollout` with `report="evaluated"`: for forces of contacts, and for what MuJoCo derives from a state.
        record: what else is recorded of each step, a dict of arrays by name: how well a command is followed.
        action: the number of numbers of an action, or its bounds (low, high); by default those of the commands.
        dt: length of a step of physics, s; by default that of the robot's MJCF file.
        frame_skip: steps of physics in a step of the environment.
        contact: as for `kt.rollout`.
        passive: as for `kt.rollout`.
        integrator: as for `kt.rollout`.
        max_steps: how many steps an episode has at most; None for any number.
        memory: the task's own state, by name: the shape of zeros that it begins with, such as 3, (2, 3) or (), or an
            array.
        settings: numbers that may be others in each call, by name, with their usual values: those of a curriculum.
        randomize: parameters of the robot that differ between worlds and episodes, by name (`robot.parameter_names`),
            or by pattern, such as "body.*.mass": a distribution, a value, or a function of any of key, own and the
            settings.
        noise: by name of a part of the observation ("" if it is one array) the standard deviation of normal noise, or
            its distribution.
        delay: by name of a part of the observation, how many steps later it is seen; by "action", how many steps of
            physics later an action acts. A number, or `Integers`, drawn for each episode.
        push: kicks of a floating base.
        autoreset: "same_step": the step that ends an episode begins another one, and returns its first observation;
            "next_step": the next step does so instead of a motion, whatever its action is; "disabled": none does, and
            `restart` is for you to call.
        clip_actions: whether actions beyond their bounds are moved to them; otherwise they are an error.
        on_fault: what happens where a number is not finite: "error", a `SimulationError`; or "end": the episode ends,
            without a reward for the step.
        name: its name in messages; by default the robot's name.

    Returns:
        The environment. Its program is compiled when it is first needed.

    Raises:
        NameNotFoundError: a function takes or returns what there is not, or there is no such parameter or part.
        ShapeError: a function returns an array of another shape than is needed.
        OptionError: an option has a value that is not allowed.

    A `ModelWarning` says which drawn parameters change nothing, or not in all of their range
    (`kt.contact.unfelt_parameters`).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("cart_pole")
    >>> env = kt.environment(
    ...     robot, dt=0.01, frame_skip=2, max_steps=250, action=([-10.0], [10.0]),
    ...     control=lambda action: {"tau": np.concatenate([action, np.zeros(1)])},
    ...     observe=lambda q, v: np.concatenate([[q[0]], [np.sin(q[1]), np.cos(q[1])], v]),
    ...     reward=lambda q, action: np.cos(q[1]) - 0.001 * action @ action,
    ...     terminate=lambda q: abs(q[0]) > 2.0,
    ...     reset=lambda key: {"q": np.stack([0.0, np.pi]) + kt.random.uniform(key, 2, -0.1, 0.1)},
    ...     randomize={"body.pole.mass": kt.learning.Uniform(0.8, 1.2, relative=True)},
    ... )
    >>> worlds = env.reset(seed=0, worlds=64)
    >>> worlds = env.step(worlds.state, np.ones((64, 1)))
    >>> worlds.observation.shape
    (64, 5)
    """
    model = check_robot(robot)
    contact_option(model, contact)
    passive_option(model, passive)
    clips = flag("clip_actions", clip_actions)
    dt = step_of_file(model) if dt is None else float(dt)
    most = None if max_steps is None else whole_between("max_steps", max_steps, 1)
    own = {key: _first(key, x) for key, x in memory.items()}
    numbers = {key: real_array(key, x, sample_shape(np.shape(x))) for key, x in settings.items()}
    for key in (*own, *numbers):
        if key in (*_OF_WORLDS, EVALUATED) or not str(key).isidentifier() or (key in own and key in numbers):
            raise OptionError(
                f"{key!r:.60} is the name of another thing already, or not a name that a function can take"
            )
    given = {
        "reset": reset, "control": control, "physics": physics, "update": update, "reward": reward,
        "terminate": terminate, "observe": observe, "record": record,
    }  # fmt: skip
    if control is not None and physics is not None:
        raise OptionError("control is part of the usual physics; a function for physics runs its own")
    known = [*_OF_WORLDS, *own, *numbers]
    more = {"update": [EVALUATED]} if physics is None else {}
    functions = {
        role: TaskFunction.of(role, f, [*known, *more.get(role, [])]) for role, f in given.items() if f is not None
    }
    actuation = actuation_of_robot(model) if model.extras.actuators else None
    drawn = _drawn(model, randomize, numbers)
    _warn_of_unfelt(model, drawn, contact, passive)
    delays, of_delays = _delays(delay)
    noisy = {key: x if isinstance(x, Distribution) else Normal(0.0, x) for key, x in noise.items()}
    kernel = Kernel(
        model, functions, own, {**drawn, **of_delays}, noisy, delays,
        _bounds(model, action, control is None and physics is None), clips, push, dt,
        whole_between("frame_skip", frame_skip, 1),
        {"contact": contact, "passive": passive, "integrator": integrator, "divide": False}, actuation is not None,
        np.eye(model.nv)[model.actuated], len(actuation.with_activation) if actuation else 0, most,
        chosen_word("autoreset", autoreset, "same_step", "next_step", "disabled"),
        chosen_word("on_fault", on_fault, "error", "end") == "error",
        purposes([*_ROLES, "push", "policy", *drawn, *of_delays, *(f"noise {key}" for key in noise)]),
    )  # fmt: skip
    title = str(name or model.name)
    return Environment(title, _completed(kernel, title, numbers), numbers)


def _completed(kernel: Kernel, name: str, settings: Mapping[str, Array]) -> Kernel:
    """The kernel with the form of its observation and reward: its functions are run once, without physics."""
    state = replace(kernel, delays={}).state

    def function(state_now: Any, action: Any, **own: Any) -> dict[str, Any]:
        return kernel.forms(state.apart(state_now), action, own)

    shapes = {"state_now": state.size, "action": len(kernel.action[0]), **shapes_of(settings)}
    leaves = with_arguments(f"functions of {name}", function, shapes, {}).traced().results.leaves
    groups: dict[str, dict[str, tuple[int, ...]]] = {group: {} for group in ("part", "term", "record", "control")}
    for leaf in leaves:
        group, _, own = leaf.name[2:-2].partition(" ")  # of "['part joints']"
        groups[group][own] = leaf.shape
    parts, terms = groups["part"], groups["term"]
    if both := terms.keys() & groups["record"].keys():
        raise OptionError(
            f"{name}: {both.pop()!r} is a term of the reward, which is recorded already; record another name"
        )
    for key in (*kernel.noise, *kernel.delays):
        if key not in parts and (key != ACTION or key in kernel.noise):
            known = listed([repr(x) for x in parts], most=20)
            raise NameNotFoundError(
                f"{name}: the observation has no part {key!r:.60} to be noisy or late; it has {known}"
            )
    return replace(
        kernel, parts=parts, terms=() if [*terms] == [""] else tuple(terms), records=groups["record"],
        controlled=tuple(groups["control"]),
    )  # fmt: skip


# -- arguments


def _first(name: str, given: Any) -> Array:
    """The first value of a state of the task's own: of a shape, zeros."""
    if whole_number(given) is not None:
        return np.zeros(whole_between(f"the length of {name}", given))
    if isinstance(given, tuple) and all(whole_number(x) is not None for x in given):
        return np.zeros(given)
    return np.array(real_array(name, given, "any"), np.float64)


def _bounds(model: Model, given: Any, is_usual: bool) -> tuple[Array, Array]:
    """The lowest and the highest action."""
    actuators = model.extras.actuators
    if given is None:
        if not is_usual:
            raise OptionError(
                "action= says how many numbers an action has, or (low, high), where control or physics use it"
            )
        if actuators:
            ranges = [x.control_range if x.control_limited else (-math.inf, math.inf) for x in actuators]
        else:
            efforts = model.effort_limit
            ranges = [(-e, e) for e, is_driven in zip(efforts, model.actuated, strict=True) if is_driven]
        low, high = np.array(ranges, np.float64).reshape(-1, 2).T
        return low, high
    if whole_number(given) is not None:
        n = whole_between("action", given, 1)
        return np.full(n, -math.inf), np.full(n, math.inf)
    try:
        low, high = (np.asarray(x, np.float64) for x in given)
    except (TypeError, ValueError):
        raise OptionError(f"action is a number of numbers, or (low, high), not {given!r:.60}") from None
    if low.ndim != 1 or low.shape != high.shape or not np.all(low <= high):
        raise OptionError(f"action: low and high are arrays (n,), low below high, not {given!r:.80}")
    return low, high


def _delays(given: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, tuple[Any, Any]]]:
    """The largest delays, and the draws for them."""
    most, drawn = dict[str, int](), dict[str, tuple[Any, Any]]()
    for name, x in given.items():
        least = x.low if isinstance(x, Integers) else whole_between(f"delay[{name!r}]", x)
        if least < 0:
            raise OptionError(f"delay[{name!r}] is a number of steps, not {x!r:.60}")
        most[name] = x.high - 1 if isinstance(x, Integers) else least
        if most[name]:
            drawn[f"delay {name}"] = (x if isinstance(x, Integers) else float(x), np.float64(0.0))
    return {name: x for name, x in most.items() if x}, drawn


def _drawn(model: Model, given: Mapping[str, Any], settings: Mapping[str, Array]) -> dict[str, tuple[Any, Any]]:
    """The source of each drawn parameter, and the robot's own value."""
    drawn: dict[str, tuple[Any, Any]] = {}
    names = model.parameter_names if given else []
    for pattern, source in given.items():
        matching = fnmatch.filter(names, pattern) if any(c in pattern for c in "*?") else [pattern]
        if not matching:
            raise NameNotFoundError(f"randomize: no parameter of {model.name!r} is like {pattern!r:.60}")
        if callable(source) and not isinstance(source, Distribution):
            source = TaskFunction.of(f"randomize[{pattern!r}]", source, ["key", "own", *settings])
        elif not isinstance(source, Distribution):
            source = real_array(f"randomize[{pattern!r}]", source, "that of the parameter")
        for name in matching:
            own = model.parameter(name)
            if isinstance(source, Distribution) and not source.relative and not isinstance(source, Choice):
                shape = np.broadcast_shapes(*(x.shape for x in source.range))
                if shape != own.shape and own.size > 1:
                    raise ShapeError(
                        f"randomize[{pattern!r}]: {name} has {own.size} numbers, {own.tolist()}; give bounds for each, "
                        "or relative=True for a factor"
                    )
            drawn[name] = source, own
    return drawn


def _warn_of_unfelt(
    model: Model, drawn: Mapping[str, tuple[Any, Any]], contact: ContactOption, passive: Passive
) -> None:
    """Say which parameters are drawn for nothing, or in a part of their range."""
    ranges = {}
    for name, (source, own) in drawn.items():
        if isinstance(source, Distribution):
            low, high = (own * x if source.relative else x + 0.0 * own for x in source.range)
            ranges[name] = np.minimum(low, high), np.maximum(low, high)
    for name, reason in unfelt_parameters(model, ranges, contact=contact, passive=passive).items():
        warnings.warn(f"randomize: {name}: {reason}", ModelWarning, stacklevel=3)
