"""One step of each of some motions, tried until its error is allowed, and how long the next one is; `Field` is the
equation of motion.

    h⁺ = 0.9 h e_n^(-5/32) e_(n-1)^(1/16)

where e is the estimated error relative to the tolerance: a proportional and an integral part, for errors of order five,
so that steps do not swing about the longest ones that are stable. All powers are square roots of square roots, which
are rounded exactly: so steps have the same bits in a batch of any size and on any processor.

Source: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4; II, section IV.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms import dormand_prince_step
from kinetree.compiler.calls import compile_function
from kinetree.functions.constraint_options import ALL, ERRORS
from kinetree.functions.displacements import displaced_state, fixed_velocity, free_rates, held_rates
from kinetree.functions.step_stages import HELD_STAGES
from kinetree.records import record
from kinetree.sim.setting import RK45, Setting

__all__ = ["Attempted", "Beginning", "Field", "PairSteps", "after_acceptance", "attempted"]

Array = NDArray[np.float64]
_STAGES = 7


@record(frozen=True, slots=True, eq=False)
class PairSteps:
    """One step of each of m motions, in displacements from its beginning."""

    time: Array
    """When each begins (m,), s."""
    end: Array
    length: Array
    start: Array
    """q at the beginning (m, nq)."""
    y: Array
    """[d, w, work, loss, 0] at the beginning (m, 2 nv + 3)."""
    rates: Array
    """ẏ of each stage (m, stages, 2 nv + 3), with the error of contacts in the last place."""

    @classmethod
    def none(cls, motions: int, nq: int, nv: int) -> PairSteps:
        """Steps at no time."""
        width = 2 * nv + 3
        nowhere = np.full(motions, np.inf)
        return cls(
            nowhere, nowhere.copy(), np.ones(motions), np.zeros((motions, nq)), np.zeros((motions, width)),
            np.zeros((motions, _STAGES, width)),
        )  # fmt: skip

    def of(self, some: Any) -> PairSteps:
        """The steps of some motions."""
        return PairSteps(*(getattr(self, field.name)[some] for field in fields(self)))

    def put(self, some: NDArray[np.intp], steps: PairSteps) -> None:
        """Replace those of some motions."""
        for field in fields(self):
            getattr(self, field.name)[some] = getattr(steps, field.name)


_SAFETY = 0.9
_SMALLEST_ERROR = 1e-4
_LEAST, _MOST = 0.2, 10.0
_LEAST_AFTER_REJECTION = 0.1
_ROUNDING = 2.0**-48


def errors_in_parts(error: Array, before: Array, after: Array, tolerances: RK45) -> Array:
    """Errors (m, 2 nv) of displacements and velocities relative to the tolerances.

    `before` and `after` (m, nv) are the velocities.
    """
    rtol, atol = tolerances.rtol, tolerances.atol
    allowed = atol + rtol * np.maximum(np.abs(before), np.abs(after))
    parts: Array = np.abs(error) / np.concatenate((np.full_like(allowed, atol + rtol), allowed), axis=-1)
    return parts


def first_length(w: Array, rates: Array, tolerances: RK45) -> Array:
    """A length for the first step (m,): one in which the state changes by a hundredth, relative to the tolerances."""
    rtol, atol = tolerances.rtol, tolerances.atol
    allowed = np.concatenate((np.full_like(w, atol + rtol), atol + rtol * np.abs(w)), axis=-1)
    state = np.concatenate((np.ones_like(w), np.abs(w)), axis=-1)
    sizes, changes = (np.max(np.abs(x) / allowed, axis=-1, initial=least) for x, least in ((state, 1.0), (rates, 0.0)))
    length: Array = 0.01 * sizes / np.maximum(changes, 1e-300)
    return length


def after_acceptance(error: Array, last: Array) -> tuple[Array, Array]:
    """The factor from an accepted step to the next one, and the error to be remembered."""
    e = np.maximum(error, 1e-12)
    factor = _SAFETY * _root(last, 4) / (_root(e, 3) * _root(e, 5))
    return np.minimum(np.maximum(factor, _LEAST), _MOST), np.maximum(error, _SMALLEST_ERROR)


def after_rejection(error: Array) -> Array:
    """The factor from a rejected step to the next try; its error is more than 1, or NaN."""
    factor = _SAFETY / (_root(error, 3) * _root(error, 4))
    return np.where(factor > _LEAST_AFTER_REJECTION, factor, _LEAST_AFTER_REJECTION)


def shortest(time: Array, dt: float) -> Array:
    """The length below which steps no longer move the time on."""
    return _ROUNDING * np.maximum(time, dt)


def _root(x: Array, times: int) -> Array:
    """The square root, so many times."""
    for _ in range(times):
        x = np.sqrt(x)
    return x


Samples = NDArray[np.intp]
Rates = Callable[[Array, Array, Samples], Array]
"""(y, times, which of the motions) -> ẏ."""


class Beginning(NamedTuple):
    """Where the steps of m motions begin."""

    time: Array
    q: Array
    y: Array
    """[d, w, work, loss, 0]."""
    rates: Array
    """ẏ; NaN where it is not known yet."""
    length: Array
    """How long a step is tried first; NaN for the first one of a motion."""
    limit: Array
    """The time at which a step must end."""


class Attempted(NamedTuple):
    """The outcomes of m steps."""

    steps: PairSteps
    y: Array
    """At the end."""
    error: Array
    """Relative to the tolerance; more than 1, or NaN, if no step is short enough."""
    chosen: Array
    """The length before the limit shortened it."""
    rejections: NDArray[np.int64]
    worst: Samples
    """The degree of freedom with the largest error."""

    def of(self, some: NDArray[np.bool_]) -> Attempted:
        """The steps of some motions."""
        return Attempted(
            self.steps.of(some), self.y[some], self.error[some], self.chosen[some], self.rejections[some],
            self.worst[some],
        )  # fmt: skip


def attempted(begin: Beginning, rates: Rates, tolerances: RK45, longest: float, dt: float) -> Attempted:
    """The first step of each motion whose error is allowed."""
    m, nv = len(begin.time), begin.y.shape[-1] // 2 - 1
    w, first = begin.y[:, nv : 2 * nv], begin.rates.copy()
    unknown = np.flatnonzero(np.isnan(first).any(axis=-1))
    if unknown.size:
        first[unknown] = rates(begin.y[unknown], begin.time[unknown], unknown)
    guess = np.maximum(first_length(w, first[:, : 2 * nv], tolerances), shortest(begin.time, dt))
    lengths = np.minimum(np.where(np.isnan(begin.length), guess, begin.length), longest)
    h = np.minimum(lengths, begin.limit - begin.time)
    attempts = Attempted(
        PairSteps.none(m, begin.q.shape[-1], nv), begin.y.copy(), np.empty(m), lengths, np.zeros(m, np.int64),
        np.zeros(m, np.intp),
    )  # fmt: skip
    left = np.arange(m)
    while left.size:
        time, length = begin.time[left], h[left]

        def rate(c: float, y: Sequence[Any], *, of: Samples = left, t: Array = time, h: Array = length) -> list[Any]:
            return [rates(y[0], t + c * h, of)]

        step = dormand_prince_step(rate, [begin.y[left]], length[:, None], [first[left]])
        after = step.y[0]
        errors = errors_in_parts(step.error[0][:, : 2 * nv], w[left], after[:, nv : 2 * nv], tolerances)
        error = np.max(errors, axis=-1, initial=0.0)
        good = error <= 1.0
        shorter = np.where(good, length, length * after_rejection(error))
        stuck = ~good & ~(shorter >= shortest(time, dt))
        over = good | stuck
        ends = np.where(length == begin.limit[left] - time, begin.limit[left], time + length)
        stages = np.stack([k for (k,) in step.rates], axis=1)
        taken = PairSteps(time, ends, length, begin.q[left], begin.y[left], stages)
        done = left[over]
        attempts.steps.put(done, taken.of(over))
        attempts.y[done], attempts.error[done] = after[over], error[over]
        attempts.worst[done] = np.argmax(errors[over], axis=-1) % nv if nv else 0
        attempts.rejections[left[~good]] += 1
        h[left] = shorter
        left = left[~over]
    return attempts


class Field:
    """The equation of motion: each call is for some samples of the batch, whose axes are one here."""

    def __init__(self, setting: Setting) -> None:
        robot, shape, count = setting.robot, setting.shape, math.prod(setting.shape)

        def flat(x: NDArray[Any], core: tuple[int, ...]) -> Array:
            return np.broadcast_to(x, (*shape, *core)).reshape(count, *core)

        given = [(x, robot.parameter(name).shape) for name, x in setting.parameters.items()]
        self._parameters = [flat(np.asarray(x), core) for x, core in given]
        options: dict[str, Any] = {"passive": setting.passive, "limits": setting.limits}
        if setting.contact is not None:
            options["contact"] = setting.contact
        if setting.held:
            options["constraints"] = setting.held
        self._rates = compile_function(
            robot, held_rates if setting.held else free_rates, f_ext=[*setting.forces],
            parameters=[*setting.parameters], **options,
        )  # fmt: skip
        self._numbers = self._of_constraints(self._rates, ALL.arrays(setting.held), flat)
        self._stage = compile_function(robot, displaced_state, recharts=False)
        self._end = compile_function(robot, displaced_state, recharts=True)
        self._fixed = compile_function(robot, fixed_velocity)
        self._projection: Callable[..., Array] | None = None
        if setting.held:
            self._projection = compile_function(
                robot, HELD_STAGES.projection, parameters=[*setting.parameters], constraints=setting.held
            )
            self._places = self._of_constraints(self._projection, ERRORS.arrays(setting.held), flat)
        self._nq, self._nv = robot.nq, robot.nv
        self.moves_ends: bool = bool(setting.held) or any(joint.kind.recharts for joint in robot.joints.values())
        """Whether a step ends in another state, or in other coordinates, than the stage there had."""

    def fixed_velocity(self, q: Array, v: Array) -> Array:
        """v in axes that do not turn."""
        w: Array = self._fixed(q, v)
        return w

    def state(self, start: Array, y: Array) -> tuple[Array, Array]:
        """q and v of a stage at y = [d, w, …] from a start."""
        row = self._stage(start, y[..., : self._nv], y[..., self._nv : 2 * self._nv])
        return row[..., : self._nq], row[..., self._nq :]

    def rates(
        self, q: Array, v: Array, start: Array, y: Array, tau: Array, forces: Sequence[Array], some: Samples
    ) -> Array:
        """ẏ at such a state."""
        numbers, parameters = (self._of(xs, some) for xs in (self._numbers, self._parameters))
        rates: Array = self._rates(q, v, start, y[..., : self._nv], tau, *numbers, *forces, *parameters)
        return rates

    def rows(self, start: Array, y: Array, some: Samples) -> Array:
        """[q, v, work, loss] at the end of a step, or between: on constraints, and far from singularities."""
        nv = self._nv
        row = self._end(start, y[..., :nv], y[..., nv : 2 * nv])
        if self._projection is not None:
            places, parameters = (self._of(xs, some) for xs in (self._places, self._parameters))
            row = self._projection(row[..., : self._nq], row[..., self._nq :], *places, *parameters)
        return np.concatenate((row, y[..., 2 * nv : 2 * nv + 2]), axis=-1)

    @staticmethod
    def _of_constraints(function: Any, arrays: Sequence[Array], flat: Callable[..., Array]) -> list[Array]:
        ports = function.__self__.source.numbers
        return [flat(x, port.shape) for x, port in zip(arrays, ports, strict=True)]

    @staticmethod
    def _of(arrays: Sequence[Array], some: Samples) -> list[Array]:
        return [x[some] for x in arrays]
