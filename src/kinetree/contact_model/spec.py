"""The soft constraints of one robot, by names: everything that is known before a configuration is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinetree.algorithms.softness import Softness
from kinetree.collision import Shape
from kinetree.contact_model.held_spec import ConnectionSpec, LoopSpec, TendonRow
from kinetree.contact_model.overrides import (
    frictions_again,
    margin_again,
    mixed_again,
    placed_again,
    resized,
    softened_again,
)
from kinetree.contact_model.settings import Setting
from kinetree.expr import Scalar
from kinetree.model.extras import ContactParameters
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.spatial import Transform

__all__ = [
    "CouplingSpec",
    "FrictionSpec",
    "LimitSpec",
    "SoftConstraints",
    "TouchSpec",
    "TouchingShape",
    "Unsupported",
]

_RECORDED_OF_A_PAIR = 1500
"""Operations that each pair of shapes records in a step, at least."""


@record(frozen=True, slots=True)
class LimitSpec:
    """The position limits of one coordinate of a joint; or of a ball joint, whose only limit is an angle."""

    joint: str
    lower: Scalar
    """-inf without a limit."""
    upper: Scalar
    margin: Scalar
    """How far from a limit the limit begins to act."""
    softness: Softness
    coordinate: int | None = 0
    """The coordinate's place within the joint; None: the angle of a ball joint."""

    def with_parameters(self, numbers: GivenNumbers) -> LimitSpec:
        """The same with the ends, the margin and the softness that a call gives."""
        own = numbers.joints.get(self.joint, {})
        (lower,), (upper,) = own.get("lower", (self.lower,)), own.get("upper", (self.upper,))
        soft = softened_again(self.softness, own, "_limit")
        return replace(self, lower=lower, upper=upper, margin=margin_again(self.margin, own), softness=soft)


@record(frozen=True, slots=True)
class FrictionSpec:
    """Dry friction of one degree of freedom."""

    joint: str
    dof: int
    """Its number within the joint."""
    loss: float
    softness: Softness

    def with_parameters(self, numbers: GivenNumbers) -> FrictionSpec:
        """The same with the softness that a call gives."""
        return replace(self, softness=softened_again(self.softness, numbers.joints.get(self.joint, {}), "_friction"))


@record(frozen=True, slots=True)
class CouplingSpec:
    """A joint that follows another one softly, or is held: q1 - q1₀ = Σ coefficients[k] (q2 - q2₀)^k."""

    name: str
    joint1: str
    joint2: str | None
    coefficients: tuple[float, float, float, float, float]
    reference: tuple[float, float]
    """q1₀ and q2₀."""
    softness: Softness

    def with_parameters(self, numbers: GivenNumbers) -> CouplingSpec:
        """The same with the softness that a call gives."""
        return replace(self, softness=softened_again(self.softness, numbers.rows.get(self.name, {})))


@record(frozen=True, slots=True)
class TouchingShape:
    """A shape on a body, or fixed in the world."""

    body: str | None
    name: str
    shape: Shape
    placement: Transform
    """From the body's frame to the shape's."""
    number: int = 0
    """Its place in the body's `geometry`."""
    within: Transform | None = None
    """Its frame in the geometry's, if that is another."""

    def given(self, numbers: GivenNumbers) -> Mapping[str, Sequence[Scalar]]:
        """The values of its numbers that a call gives."""
        return {} if self.body is None else numbers.shapes.get((self.body, self.number), {})

    def with_parameters(self, numbers: GivenNumbers) -> TouchingShape:
        """The same with the size and the placement that a call gives."""
        own = self.given(numbers)
        return replace(self, shape=resized(self.shape, own), placement=placed_again(self.placement, self.within, own))


@record(frozen=True, slots=True)
class TouchSpec:
    """Two shapes that may touch, the first of them with the kind that comes first in `collision.KINDS`."""

    first: TouchingShape
    second: TouchingShape
    dimension: int
    """1, 3, 4 or 6 rows: the normal, sliding in two directions, torsion, rolling in two directions."""
    friction: tuple[Scalar, Scalar, Scalar, Scalar, Scalar]
    softness: Softness
    """With the inverse inertia of translations."""
    friction_reference: tuple[float, float]
    """The softness's reference in the rows across the normal, of elliptic cones; 0 0: as the normal's."""
    margin: Scalar
    """The distance below which a contact acts."""
    selection: Scalar
    """The distance below which points are candidates for the slots: the margin and the gap."""
    adhesion: float = 0.0
    surface_velocity: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    """How each shape's surface moves, in its axes: linear and angular, m/s and rad/s; empty if it does not move."""
    sides: tuple[ContactParameters, ContactParameters] | None = None
    """The parameters of the two shapes, mixed into those above; None where a pair or the options give these."""
    pair: str | None = None
    """The pair that says these, unless the options do."""

    def with_parameters(self, numbers: GivenNumbers) -> TouchSpec:
        """The same with the numbers that a call gives: those of two shapes mixed as ever, or those of the pair."""
        own = self.first.given(numbers), self.second.given(numbers)
        of_pair = {} if self.pair is None else numbers.rows.get(self.pair, {})
        if not any(own) and not of_pair:
            return self
        first, second = (side.with_parameters(numbers) for side in (self.first, self.second))
        friction, margin = frictions_again(self.friction, of_pair), margin_again(self.margin, of_pair)
        softness = softened_again(self.softness, of_pair)
        if (mixed := mixed_again(self.sides, own)) is not None:
            friction, margin = mixed.friction, mixed.margin
            softness = replace(softness, reference=mixed.solref, impedance=mixed.solimp)
        return replace(
            self, first=first, second=second, friction=friction, softness=softness, margin=margin,
            selection=margin + (self.selection - self.margin),
        )  # fmt: skip


@record(frozen=True, slots=True)
class Unsupported:
    """Something of the robot's file that has no constraint here."""

    what: str
    """"shape", "pair", "limit", "equality", "tendon", "body" or "option"; "overlap": shapes that overlap at rest."""
    name: str
    reason: str


@record(frozen=True, slots=True)
class SoftConstraints:
    """All of them, in the order of the file."""

    limits: tuple[LimitSpec, ...] = ()
    frictions: tuple[FrictionSpec, ...] = ()
    couplings: tuple[CouplingSpec, ...] = ()
    touches: tuple[TouchSpec, ...] = ()
    is_elliptic: bool = False
    """Whether friction cones are elliptic; otherwise they are pyramids."""
    friction_ratio: float = 1.0
    """MuJoCo's impratio: how much stiffer friction is than the normal direction."""
    unsupported: tuple[Unsupported, ...] = ()
    """Other parts of the file; without them the robot moves another way."""
    connections: tuple[ConnectionSpec, ...] = ()
    tendons: tuple[TendonRow, ...] = ()
    loops: tuple[LoopSpec, ...] = ()
    remarks: tuple[str, ...] = ()
    """Simplifications: hulls of meshes with fewer corners."""
    setting: Setting = None
    """The law by which all of them push; None: MuJoCo's, with the numbers of each."""

    def with_parameters(self, numbers: GivenNumbers) -> SoftConstraints:
        """The same with the numbers of shapes, pairs, limits, dry friction and equalities that a call gives."""
        return replace(
            self,
            limits=tuple(limit.with_parameters(numbers) for limit in self.limits),
            frictions=tuple(friction.with_parameters(numbers) for friction in self.frictions),
            couplings=tuple(coupling.with_parameters(numbers) for coupling in self.couplings),
            touches=tuple(touch.with_parameters(numbers) for touch in self.touches),
            connections=tuple(connection.with_parameters(numbers) for connection in self.connections),
            tendons=tuple(row.with_parameters(numbers) for row in self.tendons),
        )

    def sizes(self) -> dict[str, tuple[int, int]]:
        """How many pairs of shapes may touch, and how many other rows there are, with the operations of each."""
        rows = (self.limits, self.frictions, self.couplings, self.connections, self.tendons, self.loops)
        return {
            "pairs of shapes": (len(self.touches), _RECORDED_OF_A_PAIR),
            "limits, equalities and frictions": (sum(map(len, rows)), 0),
        }

    def __hash__(self) -> int:
        """A quick one: calls look kernels up by it, and a robot has few of these."""
        counts = (
            len(self.limits), len(self.frictions), len(self.couplings), len(self.touches), len(self.connections),
            len(self.tendons), len(self.loops),
        )  # fmt: skip
        return hash((counts, self.is_elliptic, self.friction_ratio, self.setting))

    def __str__(self) -> str:
        cones = "elliptic cones" if self.is_elliptic else "pyramids"
        counts = [
            f"{len(self.touches)} pairs of shapes that may touch (friction in {cones})",
            f"{len(self.limits)} limited joints",
            f"{len(self.frictions)} degrees of freedom with dry friction",
            f"{len(self.couplings)} couplings",
            f"{len(self.connections)} connections and welds",
            f"{len(self.tendons)} rows of tendons",
            f"{len(self.loops)} closed loops and held frames",
        ]
        kinds = Counter(f"{touch.first.shape.kind} and {touch.second.shape.kind}" for touch in self.touches)
        lines = [", ".join(counts)] if self.setting is None else [", ".join(counts), f"  {self.setting}"]
        lines += [f"  {count:5d} {kind}" for kind, count in kinds.most_common()]
        lines += [f"  not computed: {x.what} {x.name!r}: {x.reason}" for x in self.unsupported]
        lines += [f"  {remark}" for remark in self.remarks]
        return "\n".join(lines)
