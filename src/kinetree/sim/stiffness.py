"""Into how many parts a step must be divided, and for how long: what an integrator's step must resolve."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.actuation import Actuation
from kinetree.algorithms import AT_THE_END
from kinetree.errors import SimulationError, StiffFrictionError
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.sim.fastest import Fastest, Search, servo_slopes, spring_stiffness, steepest_friction, with_slopes

__all__ = [
    "EULER_REACH",
    "MAX_SUBSTEPS",
    "RK4_REACH",
    "Parts",
    "Stiffness",
    "most_parts",
]

Array = NDArray[np.float64]
Parts = int | NDArray[np.intp]
"""Into how many parts each step is divided, of all samples or of each."""

RK4_REACH = 1.5
"""Step times rate up to which RK4 is used. Its stability ends at 2.785 for decay and at 2.828 for swinging; the rest is
for a rate that grows."""

EULER_REACH = 1.0
"""The same of Euler steps: their stability ends at 2. All but the symplectic ones take friction implicitly."""

MAX_SUBSTEPS = 100
"""Beyond this a step is not divided further: the integrator is the wrong one."""

_SLOWEST = 1e-6
"""The smallest change of the exact number of parts between two looks that is told from none."""


class _Stiff(NamedTuple):
    """The stiff parts of a robot, with some passive forces, an integrator, a length of steps and servos."""

    names: Sequence[str]
    """The names of the degrees of freedom of the joints."""
    friction: Search
    springs: Search
    or_servo: Sequence[str]
    """How messages about friction, and about springs, name servos too."""

    @classmethod
    def of(
        cls, robot: Model, passive: Collection[str], integrator: str, dt: float, actuation: Actuation | None,
        parameters: Sequence[str],
    ) -> _Stiff:  # fmt: skip
        """The searches for what the integrator's steps must resolve."""
        names = [
            f"{joint.name}.{suffix}" if suffix else joint.name
            for joint in robot.joints.values()
            for suffix in joint.kind.v_names
        ]
        at_the_end = AT_THE_END.get(integrator, "everything")  # friction at the end of a step is steady, however large
        friction = [name for name in ("damping", "friction") if name in passive and at_the_end == "nothing"]
        springs = [name for name in ("spring",) if name in passive]
        damping, stiffness = servo_slopes(robot, actuation)
        implicit = 0.0 * damping  # c, with which steps have M + h c: then h d <= M + h c if h (d - c) <= M
        if at_the_end != "nothing" and "damping" in passive:
            implicit = implicit + steepest_friction(robot, ["damping"])
        if at_the_end in ("velocity forces", "everything"):
            damping, implicit = 0.0 * damping, implicit + damping
        damping = np.maximum(damping - implicit, 0.0)
        stiffness = np.maximum(stiffness - implicit / dt, 0.0) * (at_the_end != "everything")
        or_servo = [" or servo" if x.any() else "" for x in (damping, stiffness)]
        braking = swinging = robot
        none = 0.0 * damping
        if damping.any():
            braking = with_slopes(robot, steepest_friction(robot, friction) + damping, none, none)
            friction = ["damping"]
        if stiffness.any():
            swinging, springs = with_slopes(robot, none, none, spring_stiffness(robot, springs) + stiffness), ["spring"]
        searches = Search.of(braking, friction, parameters), Search.of(swinging, springs, parameters)
        return cls(names, *searches, or_servo)


_KNOWN: ByIdentity[dict[tuple[Hashable, ...], _Stiff]] = ByIdentity()
_MOST_KEPT = 16


class Stiffness:
    """The fastest decay by friction, the steepest there is, and the fastest swing of springs, along a motion.

    It says into how many parts a step must be divided so that it stays stable, motion by motion in a batch.
    """

    def __init__(
        self,
        robot: Model,
        passive: Collection[str],
        integrator: str,
        dt: float,
        parameters: Mapping[str, Array] | None = None,
        actuation: Actuation | None = None,
    ) -> None:
        self._integrator = integrator
        self._dt, self._reach = dt, RK4_REACH if integrator == "rk4" else EULER_REACH
        if robot not in _KNOWN:
            _KNOWN[robot] = {}
        known, key = _KNOWN[robot], (*passive, integrator, dt, actuation is not None, *(parameters or ()))
        if (stiff := known.get(key)) is None:
            if len(known) >= _MOST_KEPT:
                known.clear()
            stiff = known[key] = _Stiff.of(robot, passive, integrator, dt, actuation, tuple(parameters or ()))
        self._stiff = stiff
        self._friction, self._springs = Fastest(stiff.friction, parameters), Fastest(stiff.springs, parameters)
        self.is_zero = self._friction.is_zero and self._springs.is_zero
        """Whether no step need ever be divided."""
        self.parts: Parts = 1
        """Into how many parts each step is divided where the motion is now."""
        self.ahead = 0
        """For how many more looks that is likely to hold."""
        self.stopped: dict[tuple[int, ...], tuple[str, str]] = {}
        """Motions of a batch that the last look's steps cannot go on with: what needs too many parts, and whether it is
        "friction" or a "spring"."""
        self._needed: Array | None = None

    def carried(self) -> dict[str, NDArray[Any]]:
        """What the next look depends on, besides configurations."""
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
        """Set `ahead` from the exact numbers of parts, of which the ceilings count, at the last two looks.

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
        found = parts > MAX_SUBSTEPS
        if found.all() and (not found.ndim or self._needed is None):
            sample = (0,) * found.ndim
            self._refuse(float(decays[sample]), float(swings[sample]), float(parts[sample]), sample)
        for sample in map(tuple, np.argwhere(found).tolist()):
            cause = "friction" if decays[sample] >= swings[sample] else "spring"
            self.stopped[sample] = self._name(cause, sample), cause
            parts[sample] = 1.0

    def _name(self, cause: str, sample: tuple[int, ...]) -> str:
        """The degree of freedom that is fastest."""
        return self._stiff.names[(self._friction if cause == "friction" else self._springs).joint(sample)]

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


def most_parts(parts: Parts) -> int:
    """The largest number of parts in a batch."""
    return parts if isinstance(parts, int) else int(parts.max(initial=1))


def _parts(parts: Array) -> Parts:
    """One number if it is the same for all."""
    found = parts.astype(np.intp)
    first = int(found.flat[0]) if found.size else 1
    return first if (found == first).all() else found
