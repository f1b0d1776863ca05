"""How fast friction and servos stop a joint, and how fast springs and servos swing it, along a motion."""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree import algorithms
from kinetree.actuation import Actuation, BallSpec, CoordinateSpec, TendonSpec
from kinetree.actuation.spec import TransmissionSpec
from kinetree.compiler.calls import compile_function, run
from kinetree.compiler.definition import Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.joints import Revolute, Spherical
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.model.changes.common import Changed
from kinetree.model.parameters import GivenNumbers
from kinetree.model.specs import JointSpec

__all__ = [
    "Fastest",
    "Search",
    "fastest_anywhere",
    "joints_of",
    "servo_slopes",
    "spring_stiffness",
    "steepest_friction",
    "stiffest",
    "with_slopes",
]

Array = NDArray[np.float64]

_FIRST_ROUNDS = 30
_ROUNDS = 6
_MOST_KEPT = 8
_NOTHING = np.zeros(1)
NO_NUMBERS = GivenNumbers({}, {}, {})
_NUMBERS: ByIdentity[dict[str, Array]] = ByIdentity()
"""The drives of each robot's joints, by their names."""


def steepest_friction(robot: Model, passive: Collection[str], given: GivenNumbers = NO_NUMBERS) -> Array:
    """The viscous damping that brakes as hard as the named friction does at rest, where it is steepest.

    One number per degree of freedom of the joints, followers' included (…, n), with the numbers that a call gives.
    """
    steepest = np.zeros(len(_joint_numbers(robot, "damping")))
    if "damping" in passive:
        steepest = steepest + _joint_numbers(robot, "damping", given)
    if "friction" in passive:
        steepest = steepest + _joint_numbers(robot, "friction", given) / _joint_numbers(robot, "friction_speed")
    return steepest


def spring_stiffness(robot: Model, passive: Collection[str], given: GivenNumbers = NO_NUMBERS) -> Array:
    """The stiffness of the springs, if they are named, per degree of freedom of the joints (…, n)."""
    return _joint_numbers(robot, "stiffness", given) * ("spring" in passive)


def fastest_anywhere(robot: Model, slopes: Array) -> float:
    """An upper bound of the largest eigenvalue of M(q)⁻¹ Gᵀ C G at any q, for slopes C per degree of freedom.

    A joint's rate is at most the difference of two angular velocities, so Σ c q̇² ≤ Σ 2 c (|ω|² + |ω_λ|²); and 2 T is at
    least Σ I |ω|², with each body's smallest moment of inertia about its centre of mass. A rotor counts instead where
    it has more. The bound is infinite if a joint that does not only turn has slopes.
    """
    bound, k, tree = 0.0, 0, robot.tree
    least = np.linalg.eigvalsh([inertia.about_center_of_mass for inertia in tree.I])[:, 0]
    sums = np.zeros(len(least))
    for joint in robot.joints.values():
        c, k = max(slopes[k : k + joint.kind.nv], default=0.0), k + joint.kind.nv
        if c > 0.0 and not isinstance(joint.kind, Revolute | Spherical):
            return math.inf
        if 2.0 * min(joint.armature, default=0.0) > least[joint.slot]:
            bound = max(bound, c / min(joint.armature))
            continue
        parent = tree.parent[joint.slot]
        sums[[joint.slot, parent]] += 2.0 * max(c, 0.0) if parent else max(c, 0.0)
    turned = sums > 0.0
    turned[0] = False
    with np.errstate(divide="ignore"):
        return float((sums[turned] / np.maximum(least[turned], 0.0)).max(initial=bound))


def servo_slopes(robot: Model, actuation: Actuation | None) -> tuple[Array, Array]:
    """Damping and stiffness of the servos of joints, ball joints and tendons, per degree of freedom of joints (…, n).

    They are those within the limits of the force, where they are steepest. A tendon's are shared out: of n moments m_k,
    m mᵀ is at most the diagonal matrix of n m_k².
    """
    places, count = {}, 0
    for joint in robot.joints.values():
        places[joint.name] = count
        count += joint.kind.nv
    damping: list[Any] = [np.zeros(())] * count
    stiffness: list[Any] = [np.zeros(())] * count
    for one in () if actuation is None or not actuation.is_on else actuation.actuators:
        if one.is_disabled or one.muscle is not None:
            continue
        bias: Any = one.law.bias
        for place, square in _squares(one.transmission, places):
            damping[place] = damping[place] + square * np.maximum(-bias[2], 0.0)
            stiffness[place] = stiffness[place] + square * np.maximum(-bias[1], 0.0)
    return _in_one(damping), _in_one(stiffness)


def _in_one(columns: Sequence[Any]) -> Array:
    return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)


def _squares(transmission: TransmissionSpec, places: Mapping[str, int]) -> Iterator[tuple[int, Any]]:
    """The degrees of freedom that a length depends on, and the squares of their moments, together at least m mᵀ."""
    if isinstance(transmission, CoordinateSpec):
        yield places[transmission.joint], transmission.gear * transmission.gear
    elif isinstance(transmission, BallSpec):
        for k in range(3):
            yield places[transmission.joint] + k, sum(x * x for x in transmission.axis)
    elif isinstance(transmission, TendonSpec):
        for joint, factor in transmission.terms:
            moment = transmission.gear * factor
            yield places[joint], len(transmission.terms) * (moment * moment)


def joints_of(transmission: TransmissionSpec) -> list[str]:
    """The joints whose rates its length depends on, as far as servo_slopes knows them."""
    if isinstance(transmission, CoordinateSpec | BallSpec):
        return [transmission.joint]
    return [joint for joint, _ in transmission.terms] if isinstance(transmission, TendonSpec) else []


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


def _joint_numbers(robot: Model, name: str, given: GivenNumbers = NO_NUMBERS) -> Array:
    """The numbers of all joints' drives, with those that a call gives (…, n)."""
    if given.joints and any(name in numbers for numbers in given.joints.values()):
        return _in_one([
            x for joint in robot.joints.values()
            for x in given.joints.get(joint.name, {}).get(name, getattr(joint, name))
        ])  # fmt: skip
    if robot not in _NUMBERS:
        _NUMBERS[robot] = {}
    known = _NUMBERS[robot]
    if name not in known:
        known[name] = np.array([x for joint in robot.joints.values() for x in getattr(joint, name)], dtype=np.float64)
    return known[name]


def _stiffest(
    model: Form, u: Slots, _: Sequence[Scalar], q: Slots, seed: Slots, weights: Sequence[Scalar]
) -> tuple[Slots, list[Scalar]]:
    following, value = algorithms.stiffest_round(model.tree, q, u, seed, weights)
    return following, [value]


STIFFEST = Definition(
    "simulate",
    (("u", "nv"), ("value", 1), ("q", "nq"), ("seed", "nv"), ("weights", 3)),
    (),
    _stiffest,
    divides_by_inertia=True,
    regroups=True,
    is_step=True,
    has_length=False,
)


@defined_by(STIFFEST)
def stiffest(robot: Model, u: ArrayLike, value: ArrayLike, q: ArrayLike, seed: ArrayLike, weights: ArrayLike) -> Array:
    """Rounds of power iteration for the largest eigenvalue of M(q)⁻¹ Gᵀ C G, each from where the last one ended.

    Args:
        u: the eigenvector so far (…, nv).
        value: the eigenvalue so far (…, 1), which is not used.
        q: the configuration of each round (…, T, nq).
        seed: a term added to the vector C^½ G u before each round, as G times it (…, T, nv).
        weights: of damping, friction where it is steepest, and stiffness in C (…, T, 3).

    Returns:
        [u, value] after each round (…, T, nv + 1); C^½ G u has the length 1.
    """
    return run(STIFFEST, robot, (u, value, q, seed, weights))


class Search(NamedTuple):
    """The part of a search that is the same along all motions of a robot."""

    root: Array
    """C^½."""
    rates: Array | None
    """G; None where it is the identity."""
    seed: Array
    """A part of every direction remains in each search, so that none that has grown meanwhile is overlooked."""
    passive: Sequence[float]
    kernels: Callable[[], tuple[Callable[..., Any], Callable[..., Any]]]
    """For many motions, and for one."""
    inputs: dict[tuple[int, int], tuple[Array, Array]]
    """Seeds and weights of all rounds; most motions have few different numbers of looks at a time."""

    @classmethod
    def of(
        cls, robot: Model, passive: Sequence[str], parameters: Sequence[str] = (), owner: Model | None = None
    ) -> Search:
        """The search for what the named passive forces do, with the named parameters given; it is kept by its owner."""
        slopes = spring_stiffness(robot, passive) + steepest_friction(robot, passive)
        root = np.sqrt(np.maximum(slopes, 0.0))  # what feeds energy in is not stiff
        shared = robot.tree.coordinates
        rates = None if shared is None else shared.matrix()
        seed = 0.3 * np.random.default_rng(0).normal(size=robot.nv)
        weights = [float(name in passive) for name in ("damping", "friction", "spring")]

        kept: Callable[[], Any] = weakref.ref(robot) if robot is owner else lambda: robot

        @cache
        def kernels() -> tuple[Callable[..., Any], Callable[..., Any]]:
            search: Any = compile_function(kept(), stiffest, parameters=parameters)
            return search, search.__self__.unchecked()

        return cls(root, rates, seed, weights, kernels, {})

    def rows(self, rounds: int, looks: int) -> tuple[Array, Array]:
        """Seeds and weights of all rounds."""
        rows = self.inputs.get((rounds, looks))
        if rows is None:
            if len(self.inputs) > _MOST_KEPT:
                self.inputs.clear()
            seeds = np.zeros((rounds * looks, len(self.seed)))
            seeds[::rounds] = self.seed
            rows = self.inputs[rounds, looks] = seeds, np.tile(self.passive, (len(seeds), 1))
        return rows


class Fastest:
    """The largest eigenvalue of M(q)⁻¹ Gᵀ C G, with C the steepest slopes of the named passive forces, at least zero.

    G gives the joints' rates. It is followed along a motion by power iteration (`kinetree.algorithms.stiffness`), whose
    rounds run in one kernel, those of several looks too. Each search begins near where the last one ended.
    """

    def __init__(
        self, search: Search, parameters: Mapping[str, Array] | None = None, slopes: Array | None = None
    ) -> None:
        """`slopes`: C of each motion (…, n), where that is a parameter; the diagonal alone."""
        self._search = search
        self._root = search.root if slopes is None else np.sqrt(np.maximum(slopes, 0.0))
        self._first = True
        self.direction: Array = np.zeros_like(search.seed)
        """Where the next search begins, (…, nv)."""
        self._found: Array
        self._parameters = [np.asarray(x, order="C") for x in parameters.values()] if parameters else []
        self.is_zero: bool = not self._root.any()

    def along(self, q: Array) -> Array:
        """The eigenvalue at each configuration of a motion (…, T, nq), of each sample of a batch by itself: (…, T).

        Not if it is zero everywhere.

        The next search begins where the last one of these ended, unless `begin_after` chooses another.
        """
        search = self._search
        rounds = _FIRST_ROUNDS if self._first else _ROUNDS
        self._first = False
        seeds, weights = search.rows(rounds, q.shape[-2])
        each = q.repeat(rounds, axis=-2)
        of_many, of_one = search.kernels()
        if q.ndim == 2:
            eigen = np.empty((len(each), len(self.direction) + 1))
            of_one(self.direction, _NOTHING, each, seeds, weights, *self._parameters, out=eigen)
        else:
            eigen = of_many(self.direction, _NOTHING, each, seeds, weights, *self._parameters)
        self._found = eigen[..., rounds - 1 :: rounds, :]
        self.direction = self._found[..., -1, :-1]
        return self._found[..., -1]

    def begin_after(self, look: int) -> None:
        """Let the next search begin where the one at configuration number `look` of the last call ended."""
        if not self.is_zero:
            self.direction = self._found[..., look, :-1]

    def begin_at(self, direction: Array) -> None:
        """Let the next search begin where an earlier one ended."""
        self.direction, self._first = direction, False

    def joint(self, sample: tuple[int, ...] = ()) -> int:
        """The degree of freedom of the joints that takes most part in where the next search begins."""
        rates, direction = self._search.rates, self.direction[sample]
        root = self._root if self._root.ndim == 1 else np.broadcast_to(
            self._root, (*self.direction.shape[:-1], self._root.shape[-1])
        )[sample]  # fmt: skip
        return int(np.argmax(np.abs(root * (direction if rates is None else rates @ direction))))
