"""Into how many parts a step must be divided, and for how long: what an integrator's step must resolve.

Simulations and rollouts look at this at the same moments, so both divide the same steps alike.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.actuation import Actuation
from kinetree.algorithms import AT_THE_END
from kinetree.compiler.forms.parameters import given_numbers
from kinetree.errors import SimulationError, SimulationWarning, StiffFrictionError
from kinetree.functions.chosen import Chosen, chosen
from kinetree.functions.stiffness import (
    Fastest,
    Search,
    fastest_anywhere,
    joints_of,
    servo_slopes,
    spring_stiffness,
    steepest_friction,
    with_slopes,
)
from kinetree.model import Joint, Model
from kinetree.model.actuator_parameters import ActuatorOf
from kinetree.model.building import users_level
from kinetree.model.by_identity import ByIdentity
from kinetree.model.parameters import find

__all__ = [
    "EULER_REACH",
    "MAX_SUBSTEPS",
    "RK4_REACH",
    "Given",
    "Parts",
    "Stiffness",
    "divide_steps",
    "most_parts",
    "never_divides",
    "warn_where_stiff",
]

Array = NDArray[np.float64]
Parts = int | NDArray[np.intp]
"""Into how many parts each step is divided, of all samples or of each."""

RK4_REACH = 1.5
"""Step times rate up to which RK4 is used. Its stability ends at 2.785 for decay and at 2.828 for swinging; the rest is
for a rate that grows."""

EULER_REACH = 1.0
"""The limit of Euler steps, whose stability ends at 2. All but the symplectic ones take friction implicitly."""

MAX_SUBSTEPS = 100
"""Beyond this a step is not divided further: the integrator is the wrong one."""

_PERIOD = 0.01
"""Seconds between two looks at how stiff friction and springs are: it changes with the configuration, slowly."""

_NUMBERS = int, float, list, tuple, np.ndarray, np.floating

_SLOWEST = 1e-6
"""The smallest change of the exact number of parts between two looks that counts as a change."""


class _Stiff(NamedTuple):
    """The stiff parts of a robot, with some passive forces, an integrator, a length of steps and servos."""

    friction: Search
    springs: Search
    or_servo: Sequence[str]
    """How messages about friction, and about springs, name servos too."""
    fastest: float
    """An upper bound of decay and swing together, 1/s; infinite where slopes are parameters."""
    others: Sequence[str]
    """The parameters other than those that slopes depend on."""
    varied: Mapping[str, slice]
    """The joints whose slopes depend on parameters, and their degrees of freedom."""

    @classmethod
    def of(
        cls, robot: Model, integrator: str, passive: Collection[str], actuation: Actuation | None, dt: float,
        parameters: Sequence[str],
    ) -> _Stiff:  # fmt: skip
        """The searches for the rates that the integrator's steps must resolve."""
        varied, others = _varied(robot, actuation, parameters)
        friction, springs = _explicit(integrator, passive)
        braking = swinging = robot
        steep = _steepest(robot, integrator, passive, actuation, dt, {})
        none, damping, spring = 0.0 * steep.braking, [*others], [*others]
        if steep.has_servos[0] or varied:
            braking, friction = with_slopes(robot, steep.braking, none, none), ["damping"]
            damping += [f"joint.{name}.damping" for name in varied]
        if steep.has_servos[1] or varied:
            swinging, springs = with_slopes(robot, none, none, steep.swinging), ["spring"]
            spring += [f"joint.{name}.stiffness" for name in varied]
        searches = Search.of(braking, friction, damping, robot), Search.of(swinging, springs, spring, robot)
        decay, swing = [
            fastest_anywhere(moving, search.root**2)
            for moving, search in zip((braking, swinging), searches, strict=True)
        ]
        or_servo = [" or servo" if has else "" for has in steep.has_servos]
        return cls(*searches, or_servo, math.inf if varied else decay + math.sqrt(swing), others, varied)


class _Steepest(NamedTuple):
    """How steep forces may be that a step must resolve, per degree of freedom of the joints (…, n)."""

    braking: Array
    swinging: Array
    has_servos: tuple[bool, bool]
    """Whether servos are among those that brake, and that swing."""


def _explicit(integrator: str, passive: Collection[str]) -> tuple[list[str], list[str]]:
    """The friction, and the springs, that act as they are at the beginning of a step."""
    at_the_end = AT_THE_END.get(integrator, "nothing")  # friction at the end of a step is steady, however large
    friction = [name for name in ("damping", "friction") if name in passive and at_the_end == "nothing"]
    return friction, [name for name in ("spring",) if name in passive]


def _steepest(
    robot: Model, integrator: str, passive: Collection[str], actuation: Actuation | None, dt: float,
    parameters: Mapping[str, Array],
) -> _Steepest:  # fmt: skip
    """The slopes, with the values of parameters."""
    columns: list[Any] = [_columns(robot, name, x) for name, x in parameters.items()]
    numbers = given_numbers(robot, [*parameters], columns)
    at_the_end = AT_THE_END.get(integrator, "nothing")
    friction, springs = _explicit(integrator, passive)
    damping, stiffness = servo_slopes(robot, actuation and actuation.with_parameters(numbers))
    implicit = 0.0 * damping  # c, with which steps have M + h c: then h d <= M + h c if h (d - c) <= M
    if at_the_end != "nothing" and "damping" in passive:
        implicit = implicit + steepest_friction(robot, ["damping"], numbers)
    if at_the_end in ("velocity forces", "everything"):
        damping, implicit = 0.0 * damping, implicit + damping
    damping = np.maximum(damping - implicit, 0.0)
    stiffness = np.maximum(stiffness - implicit / dt, 0.0) * (at_the_end != "everything")
    return _Steepest(
        steepest_friction(robot, friction, numbers) + damping, spring_stiffness(robot, springs, numbers) + stiffness,
        (bool(damping.any()), bool(stiffness.any())),
    )  # fmt: skip


def _columns(robot: Model, name: str, x: Array) -> list[Array]:
    """The numbers of a parameter (…, *shape), each with the axes of the batch."""
    flat = x.reshape((*x.shape[: x.ndim - robot.parameter(name).ndim], -1))
    return [flat[..., k] for k in range(flat.shape[-1])]


def _varied(robot: Model, actuation: Actuation | None, parameters: Sequence[str]) -> tuple[dict[str, slice], list[str]]:
    """The joints whose slopes depend on parameters, and the other parameters."""
    joints: set[str] = set()
    others = []
    for name in parameters:
        owner, quantity = (parameter := find(robot, name)).owner, parameter.quantity
        if isinstance(owner, Joint) and quantity in ("damping", "friction", "stiffness"):
            joints.add(owner.name)
        elif isinstance(owner, ActuatorOf):
            if actuation is not None and quantity != "force_range":
                joints |= {*joints_of(actuation.actuators[owner.number].transmission)}
        else:
            others.append(name)
    places, count = {}, 0
    for joint in robot.joints.values():
        if joint.name in joints:
            places[joint.name] = slice(count, count + joint.kind.nv)
        count += joint.kind.nv
    return places, others


_KNOWN: ByIdentity[dict[tuple[Hashable, ...], _Stiff]] = ByIdentity()
_MOST_KEPT = 16


def _stiff_parts(
    robot: Model, integrator: str, passive: Collection[str], actuation: Actuation | None, dt: float,
    parameters: Iterable[str],
) -> _Stiff:  # fmt: skip
    """The stiff parts of a robot, which are kept; without servos they are the same for steps of any length."""
    if robot not in _KNOWN:
        _KNOWN[robot] = {}
    known, key = _KNOWN[robot], (*passive, integrator, dt if actuation is not None else None, *parameters)
    if (stiff := known.get(key)) is None:
        if len(known) >= _MOST_KEPT:
            known.clear()
        stiff = known[key] = _Stiff.of(robot, integrator, passive, actuation, dt, tuple(parameters))
    return stiff


def never_divides(
    robot: Model, integrator: str, passive: Collection[str], actuation: Actuation | None, parameters: Iterable[str]
) -> bool:
    """Whether no step need be divided, however long it is; with actuators that is not known."""
    return actuation is None and not _stiff_parts(robot, integrator, passive, None, 1.0, parameters).fastest


class Stiffness:
    """The fastest decay by friction, the steepest there is, and the fastest swing of springs, along a motion.

    It says into how many parts a step must be divided so that it stays stable, motion by motion in a batch.
    """

    def __init__(
        self,
        robot: Model,
        integrator: str,
        passive: Collection[str],
        actuation: Actuation | None,
        dt: float,
        parameters: Mapping[str, Array],
    ) -> None:
        self._robot, self._integrator = robot, integrator
        self._dt, self._reach = dt, RK4_REACH if integrator == "rk4" else EULER_REACH
        self._stiff = stiff = _stiff_parts(robot, integrator, passive, actuation, dt, parameters)
        is_all = len(stiff.others) == len(parameters)
        given = parameters if is_all else {name: parameters[name] for name in stiff.others}
        self._friction, self._springs = Fastest(stiff.friction, given), Fastest(stiff.springs, given)
        if stiff.varied:
            steep, places = _steepest(robot, integrator, passive, actuation, dt, parameters), stiff.varied.items()
            damping = {f"joint.{name}.damping": steep.braking[..., place] for name, place in places}
            spring = {f"joint.{name}.stiffness": steep.swinging[..., place] for name, place in places}
            self._friction = Fastest(stiff.friction, {**given, **damping}, steep.braking)
            self._springs = Fastest(stiff.springs, {**given, **spring}, steep.swinging)
        is_bounded = stiff.fastest == 0.0 or not {*parameters} - {"gravity"}
        is_slow = is_bounded and 1.01 * dt * stiff.fastest <= self._reach
        self.is_zero: bool = is_slow or (self._friction.is_zero and self._springs.is_zero)
        """Whether no step need be divided, wherever the motion goes."""
        self.period: int = max(1, int(min(_PERIOD / dt, 1e9))) if dt else 1
        """How many steps lie between two looks."""
        self.parts: Parts = 1
        """Into how many parts each step is divided where the motion is now."""
        self.ahead: int = 0
        """For how many more looks that is likely to hold."""
        self.stopped: dict[tuple[int, ...], tuple[str, str]] = {}
        """Motions of a batch that cannot continue with the last look's steps: the joint that needs too many parts, and
        whether it is "friction" or a "spring"."""
        self._needed: Array | None = None

    def carried(self) -> dict[str, NDArray[Any]]:
        """Data that the next look depends on, other than configurations."""
        if self.is_zero or self._needed is None:
            return {}
        return {
            "parts": np.array(self.parts), "needed": self._needed, "friction": self._friction.direction,
            "springs": self._springs.direction,
        }  # fmt: skip

    def go_on(self, carried: Mapping[str, NDArray[Any]]) -> None:
        """Go on from where another was."""
        if carried:
            self.parts, self._needed = _parts(carried["parts"]), np.array(carried["needed"])
            self._friction.begin_at(carried["friction"])
            self._springs.begin_at(carried["springs"])

    def follow(self, q: Array, ended: NDArray[np.bool_] | None = None) -> int:
        """Look at a motion that went on with the present `parts`: (…, T, nq), a configuration per look.

        Motions that have `ended` at a look (…, T) need no parts there.

        The motion is as it must be up to the first look at which another number of parts is needed. That look's number
        is returned, and `parts` are those needed from there on; T if all of them need the same.

        Where that is more than `MAX_SUBSTEPS`, a motion of a batch is among the `stopped`, and has ended there. For a
        single one, or if it is so for all from their beginning, this raises `StiffFrictionError`, or for springs
        `SimulationError`.
        """
        decay, swing = [np.zeros(q.shape[:-1]) if x.is_zero else x.along(q) for x in (self._friction, self._springs)]
        swing = np.sqrt(swing)
        needed = self._dt * (decay + swing) / self._reach
        if ended is not None:
            needed = np.where(ended, 0.0, needed)
        held = self._first_change(needed)
        if held is not None:
            self._friction.begin_after(held)
            self._springs.begin_after(held)
            parts = np.ceil(np.fmax(needed[..., held], 1.0))
            if (parts > MAX_SUBSTEPS).any():
                self._stop(decay[..., held], swing[..., held], parts)
            self.parts = _parts(parts)
        last = needed.shape[-1] - 1 if held is None else held
        self._predict(needed[..., last], needed[..., last - 1] if last else self._needed)
        return needed.shape[-1] if held is None else held

    def _first_change(self, needed: Array) -> int | None:
        """The first look at which the parts differ from the present ones, given their exact numbers (…, T)."""
        if needed.ndim == 1:  # these are few, so plain numbers are quicker
            most, least = self.parts, self.parts - 1 if self.parts != 1 else -math.inf
            return next((k for k, x in enumerate(needed.tolist()) if x > most or x <= least), None)
        changed = np.ceil(np.fmax(needed, 1.0)) != np.asarray(self.parts)[..., None]
        if not changed.any():
            return None
        return int(np.argmax(changed.reshape(-1, changed.shape[-1]).any(axis=0)))

    def _predict(self, now: Array, before: Array | None) -> None:
        """Set `ahead` from the exact numbers of parts, whose ceilings count, at the last two looks.

        They are taken to go on changing as fast as between these two, up or down.
        """
        self._needed = now
        self.ahead = 0
        if before is None or not now.size:
            return
        parts = self.parts
        if isinstance(parts, int) and not now.ndim:
            x = float(now)
            room = parts - x if parts == 1 else min(parts - x, x - parts + 1)
            looks = room / max(abs(x - float(before)), _SLOWEST)
        else:
            least = np.where(np.asarray(parts) > 1, np.subtract(parts, 1), -np.inf)
            rooms = np.minimum(parts - now, now - least)
            looks = float((rooms / np.maximum(np.abs(now - before), _SLOWEST)).min())
        self.ahead = max(0, int(looks) - 1) if looks > 0.0 else 0

    def _stop(self, decays: Array, swings: Array, parts: Array) -> None:
        """Raise for a single motion that needs too many parts; of a batch it needs none."""
        too_many = parts > MAX_SUBSTEPS
        if too_many.all() and (not too_many.ndim or self._needed is None):
            sample = (0,) * too_many.ndim
            self._refuse(float(decays[sample]), float(swings[sample]), float(parts[sample]), sample)
        for sample in map(tuple, np.argwhere(too_many).tolist()):
            cause = "friction" if decays[sample] >= swings[sample] else "spring"
            self.stopped[sample] = self._name(cause, sample), cause
            parts[sample] = 1.0

    def _name(self, cause: str, sample: tuple[int, ...]) -> str:
        """The degree of freedom that is fastest."""
        names = [
            f"{joint.name}.{suffix}" if suffix else joint.name
            for joint in self._robot.joints.values()
            for suffix in joint.kind.v_names
        ]
        return names[(self._friction if cause == "friction" else self._springs).joint(sample)]

    def _refuse(self, decay: float, swing: float, needed: float, sample: tuple[int, ...]) -> None:
        if decay >= swing:
            raise StiffFrictionError(
                f"the friction{self._stiff.or_servo[0]} of {self._name('friction', sample)!r} stops it within "
                f"{1.0 / decay:.1g} s, so {self._integrator!r} would need {needed:.0f} parts of each step of "
                f"{self._dt:g} s (at most {MAX_SUBSTEPS} are taken); use the integrator "
                + (
                    "'discrete', which takes servos at the end of a step, or smaller gains"
                    if self._stiff.or_servo[0]
                    else "'semi_implicit_euler', which takes friction implicitly, or leave friction out"
                )
            )
        raise SimulationError(
            f"the spring{self._stiff.or_servo[1]} of {self._name('spring', sample)!r} swings it within "
            f"{2.0 * math.pi / swing:.1g} s, so the integrator {self._integrator!r} would need {needed:.0f} parts of "
            f"each step of {self._dt:g} s (at most {MAX_SUBSTEPS} are taken); take a smaller step or a softer spring, "
            "lock the joint, or leave springs out"
            + ("; the integrator 'discrete' takes servos at the end of a step" if self._stiff.or_servo[1] else "")
        )


class Given(NamedTuple):
    """An argument of the steps of a motion, or of a batch."""

    x: Any
    rank: int
    """How many axes it has for one motion."""
    is_row: bool = False
    """Whether the first of these has one row per step."""

    def of(self, some: Chosen | None) -> Given:
        """The argument of some motions (m,); of all for None."""
        return self if some is None or np.ndim(self.x) <= self.rank else self._replace(x=some.of(self.x, self.rank))

    @property
    def at_first(self) -> Array:
        """The inputs of the first step, in double precision."""
        return np.asarray(self.x[(..., 0, *[slice(None)] * (self.rank - 1))] if self.is_row else self.x, np.float64)

    def between(self, step: int, end: int, parts: int) -> Any:
        """The inputs of the parts of some steps; after the last step those of the last one."""
        if not self.is_row:
            return self.x
        first = min(step, self.x.shape[-self.rank] - (end - step))
        where = (..., slice(first, first + end - step), *[slice(None)] * (self.rank - 1))
        return np.repeat(self.x[where], parts, axis=-self.rank)


def divide_steps(
    rows: NDArray[Any],
    given: Sequence[Given],
    state: int,
    dt: int,
    stiffness_of: Callable[[float, Sequence[Given]], Stiffness],
    take: Callable[[Sequence[Any], int], NDArray[Any]],
) -> NDArray[np.bool_]:
    """Take those steps again, in place, that must be divided; the motions (…) that have some.

    Motions of a batch that need too many parts are not numbers from there on; a warning says so.

    Args:
        rows: those after each step (…, T, n), as if none was divided.
        given: the arguments of the steps: first the state before them, as rows begin with it, of which the first is q.
        state: how many of these are the state.
        dt: the number of the argument that is the length of a step.
        stiffness_of: a function that gives into how many parts steps of a length must be divided, under some arguments.
        take: the rows after some steps (…, t, n), from the arguments of their parts, and how many parts each has.
    """
    shape, h = rows.shape[:-2], given[dt].x
    divided = np.zeros(shape, np.bool_)
    lengths = np.unique(h).tolist() if np.ndim(h) else [float(h)]
    if len(lengths) > 1:
        for length in lengths:
            some = chosen(np.broadcast_to(np.equal(h, length), shape))
            those = some.of(rows, 2)
            some.put(divided, divide_steps(those, [x.of(some) for x in given], state, dt, stiffness_of, take))
            some.put(rows, those)
        return divided
    if not rows.size or not lengths[0] > 0.0 or (stiffness := stiffness_of(lengths[0], given)).is_zero:
        return divided

    def again(step: int, end: int) -> None:
        parts, divided[...] = stiffness.parts, divided | np.greater(stiffness.parts, 1)
        for number, _, some in [(parts, 0, None)] if isinstance(parts, int) else everyone.by_number(parts):
            those = [x.of(some).between(step, end, number) for x in given]
            those[dt] = those[dt] / number
            if step:
                row = rows[..., step - 1, :] if some is None else some.of(rows[..., step - 1, :], 1)
                for k, core in enumerate(cores):
                    those[k], row = row[..., : (n := math.prod(core))].reshape((*row.shape[:-1], *core)), row[..., n:]
            rows_taken = take(those, number)
            if some is None:
                rows[..., step:end, :] = rows_taken
            else:
                some.put(rows[..., step:end, :], rows_taken)

    everyone = chosen(np.ones(shape, np.bool_))
    cores = [x.x.shape[x.x.ndim - x.rank :] for x in given[:state]]
    with np.errstate(all="ignore"):
        _follow(stiffness, np.broadcast_to(given[0].x, (*shape, *cores[0])), rows, again)
    if stopped := stiffness.stopped:
        sample, (name, cause) = next(iter(stopped.items()))
        _warn_user(
            f"rollout: {len(stopped):,} of {math.prod(shape):,} motions are not numbers from where a step of "
            f"{lengths[0]:g} s would need more than {MAX_SUBSTEPS} parts, the first for the {cause} of {name!r} in "
            f"sample {sample}; take smaller steps, or another integrator"
        )
    return divided


def _follow(stiffness: Stiffness, q: Array, rows: NDArray[Any], again: Callable[[int, int], None]) -> None:
    """Look at a motion from q (…, nq) on, and take what follows a look that finds other parts again."""
    nq, count, period, stopped = q.shape[-1], rows.shape[-2], stiffness.period, stiffness.stopped
    stiffness.follow(q[..., None, :].astype(np.float64))
    k, end, block = 0, count if most_parts(stiffness.parts) == 1 and not stopped else 0, count
    while k < count:
        if k == end:
            end = min(k + block, count)
            again(k, end)
            for sample in stopped:
                rows[sample][k:end] = np.nan
        looks = range(k + period - k % period, min(end + 1, count), period)
        held = 0
        if looks:
            held = stiffness.follow(rows[..., looks.start - 1 : looks.stop - 1 : period, :nq].astype(np.float64))
        block = 2
        if held < len(looks):
            block, end = 1, looks[held]
        k, block = end, block * (end - k)


def warn_where_stiff(
    what: str, robot: Model, q: Any, dt: Any, integrator: str, passive: Collection[str], actuation: Actuation | None
) -> None:  # fmt: skip
    """Warn if steps must be divided, by what cannot: at q, or in the neutral position if that is not known."""
    lengths, places = (np.asarray(x) if isinstance(x, _NUMBERS) else np.empty(0, object) for x in (dt, q))
    h = 0.0 if lengths.dtype == object else float(lengths.max(initial=0.0))
    if h <= 0.0 or (stiffness := Stiffness(robot, integrator, passive, actuation, h, {})).is_zero:
        return
    places = robot.neutral() if places.dtype == object else places.astype(np.float64)
    try:
        with np.errstate(all="ignore"):
            stiffness.follow(places[..., None, :])
    except SimulationError as error:
        message = str(error)
    else:
        parts = MAX_SUBSTEPS if stiffness.stopped else most_parts(stiffness.parts)
        if parts == 1:
            return
        message = (
            f"a step of {h:g} s is too long for the friction, springs or servos of {robot.name!r} with {integrator!r}: "
            f"kt.rollout of NumPy's arrays divides it into up to {parts} parts; give dt / {parts} and each row {parts} "
            "times, take another integrator, or say divide=False if they are meant"
        )
    _warn_user(f"{what} takes steps as they are, but {message}")


def _warn_user(message: str) -> None:
    warnings.warn(message, SimulationWarning, stacklevel=users_level())


def most_parts(parts: Parts) -> int:
    """The largest number of parts in a batch."""
    return parts if isinstance(parts, int) else int(parts.max(initial=1))


def _parts(parts: Array) -> Parts:
    """One number if it is the same for all."""
    counts = parts.astype(np.intp)
    first = int(counts.flat[0]) if counts.size else 1
    return first if (counts == first).all() else counts
