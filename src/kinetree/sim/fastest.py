"""How fast friction and servos stop a joint, and how fast springs and servos swing it, along a motion."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.actuation import Actuation, BallSpec, CoordinateSpec, TendonSpec
from kinetree.actuation.spec import TransmissionSpec
from kinetree.compiler.calls import compile_function
from kinetree.functions.stiffness import stiffest
from kinetree.model import Model
from kinetree.model.changes.common import Changed
from kinetree.model.specs import JointSpec

__all__ = ["Fastest", "servo_slopes", "spring_stiffness", "steepest_friction", "with_slopes"]

Array = NDArray[np.float64]

_FIRST_ROUNDS = 30
_ROUNDS = 6
_MOST_KEPT = 8
_NOTHING = np.zeros(1)


def steepest_friction(robot: Model, passive: Collection[str]) -> Array:
    """The viscous damping that brakes as hard as the named friction does at rest, where it is steepest.

    One number per degree of freedom of the joints, followers' included.
    """
    steepest = np.zeros(len(_joint_numbers(robot, "damping")))
    if "damping" in passive:
        steepest += _joint_numbers(robot, "damping")
    if "friction" in passive:
        steepest += _joint_numbers(robot, "friction") / _joint_numbers(robot, "friction_speed")
    return steepest


def spring_stiffness(robot: Model, passive: Collection[str]) -> Array:
    """The stiffness of the springs, if they are named, per degree of freedom of the joints."""
    return _joint_numbers(robot, "stiffness") * ("spring" in passive)


def servo_slopes(robot: Model, actuation: Actuation | None) -> tuple[Array, Array]:
    """Damping and stiffness of the servos of joints, ball joints and tendons, per degree of freedom of the joints.

    They are those within the limits of the force, where they are steepest. A tendon's are shared out: of n moments m_k,
    m mᵀ is at most the diagonal matrix of n m_k².
    """
    places, count = {}, 0
    for joint in robot.joints.values():
        places[joint.name] = count
        count += joint.kind.nv
    damping, stiffness = np.zeros(count), np.zeros(count)
    for one in () if actuation is None or not actuation.is_on else actuation.actuators:
        if one.is_disabled or one.muscle is not None:
            continue
        for place, square in _squares(one.transmission, places):
            damping[place] += square * max(-one.law.bias[2], 0.0)
            stiffness[place] += square * max(-one.law.bias[1], 0.0)
    return damping, stiffness


def _squares(transmission: TransmissionSpec, places: Mapping[str, int]) -> Iterator[tuple[int, float]]:
    """The degrees of freedom that a length depends on, and the squares of their moments, together at least m mᵀ."""
    if isinstance(transmission, CoordinateSpec):
        yield places[transmission.joint], transmission.gear**2
    elif isinstance(transmission, BallSpec):
        for k in range(3):
            yield places[transmission.joint] + k, sum(x * x for x in transmission.axis)
    elif isinstance(transmission, TendonSpec):
        for joint, factor in transmission.terms:
            yield places[joint], len(transmission.terms) * (transmission.gear * factor) ** 2


def with_slopes(robot: Model, damping: Array, friction: Array, stiffness: Array) -> Model:
    """The robot whose joints have these numbers, one per degree of freedom."""
    starts, count = {}, 0
    for joint in robot.joints.values():
        starts[joint.name] = slice(count, count + joint.kind.nv)
        count += joint.kind.nv

    def changed(spec: JointSpec) -> JointSpec:
        place = starts.get(spec.name)
        if place is None:
            return spec
        numbers = {"damping": damping, "friction": friction, "stiffness": stiffness}
        return replace(spec, drive=replace(spec.drive, **{name: (*x[place].tolist(),) for name, x in numbers.items()}))

    parts = replace(robot.parts, joints=tuple(changed(spec) for spec in robot.parts.joints))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Model.of(Changed(parts, (parts,)))


def _joint_numbers(robot: Model, name: str) -> Array:
    return np.array([x for joint in robot.joints.values() for x in getattr(joint, name)], dtype=np.float64)


class Fastest:
    """The largest eigenvalue of M(q)⁻¹ Gᵀ C G, with C the steepest slopes of the named passive forces, at least zero.

    G gives the joints' rates. It is followed along a motion by power iteration (`kinetree.algorithms.stiffness`), whose
    rounds run in one kernel, those of several looks too. Each search begins near where the last one ended.
    """

    def __init__(self, robot: Model, passive: Sequence[str], parameters: Mapping[str, Array] | None = None) -> None:
        slopes = spring_stiffness(robot, passive) + steepest_friction(robot, passive)
        self._root = np.sqrt(np.maximum(slopes, 0.0))  # what feeds energy in is not stiff
        shared = robot.tree.coordinates
        self._rates = np.eye(robot.nv) if shared is None else shared.matrix()
        # A part of every direction remains in each search, so that none that has grown meanwhile is overlooked.
        self._seed = 0.3 * np.random.default_rng(0).normal(size=robot.nv)
        self._first = True
        self._u: Array = np.zeros(robot.nv)
        self._found: Array = np.empty((0, robot.nv + 1))
        self._passive = [float(name in passive) for name in ("damping", "friction", "spring")]
        self._inputs: dict[tuple[int, int], tuple[Array, Array]] = {}
        self.is_zero = not self._root.any()
        if not self.is_zero:
            self._parameters = [np.asarray(x, order="C") for x in (parameters or {}).values()]
            search = compile_function(robot, stiffest, parameters=[*(parameters or {})])
            self._of_many, self._of_one = search, search.__self__.unchecked()  # type: ignore[attr-defined]

    def along(self, q: Array) -> Array:
        """The eigenvalue at each configuration of a motion (…, T, nq), of each sample of a batch by itself: (…, T).

        The next search begins where the last one of these ended, unless `begin_after` chooses another.
        """
        if self.is_zero:
            return np.zeros(q.shape[:-1])
        rounds = _FIRST_ROUNDS if self._first else _ROUNDS
        self._first = False
        seeds, weights = self._rows(rounds, q.shape[-2])
        each = q.repeat(rounds, axis=-2)
        if q.ndim == 2:
            found = np.empty((len(each), len(self._u) + 1))
            self._of_one(self._u, _NOTHING, each, seeds, weights, *self._parameters, out=found)
        else:
            found = self._of_many(self._u, _NOTHING, each, seeds, weights, *self._parameters)
        self._found = found[..., rounds - 1 :: rounds, :]
        self._u = self._found[..., -1, :-1]
        return self._found[..., -1]

    def _rows(self, rounds: int, looks: int) -> tuple[Array, Array]:
        """Seeds and weights of all rounds. Most motions have few different numbers of looks at a time."""
        rows = self._inputs.get((rounds, looks))
        if rows is None:
            if len(self._inputs) > _MOST_KEPT:
                self._inputs.clear()
            seeds = np.zeros((rounds * looks, len(self._seed)))
            seeds[::rounds] = self._seed
            rows = self._inputs[rounds, looks] = seeds, np.tile(self._passive, (len(seeds), 1))
        return rows

    def begin_after(self, look: int) -> None:
        """Let the next search begin where the one at configuration number `look` of the last call ended."""
        if not self.is_zero:
            self._u = self._found[..., look, :-1]

    @property
    def direction(self) -> Array:
        """Where the next search begins, (…, nv)."""
        return self._u

    def begin_at(self, direction: Array) -> None:
        """Let the next search begin where an earlier one ended."""
        self._u, self._first = direction, False

    def joint(self, sample: tuple[int, ...] = ()) -> int:
        """The degree of freedom of the joints that takes most part in where the next search begins."""
        return int(np.argmax(np.abs(self._root * (self._rates @ self._u[sample]))))
