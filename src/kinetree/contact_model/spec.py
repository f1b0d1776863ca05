"""The soft constraints of one robot, by names: everything that is known before a configuration is."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import compress

from kinetree.algorithms.softness import Softness
from kinetree.announcement import PAIRS
from kinetree.contact_model.held_spec import ConnectionSpec, LoopSpec, TendonRow
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.contact_model.mixing import softness
from kinetree.contact_model.overrides import margin_again, softened_again
from kinetree.contact_model.settings import Rigid, Setting
from kinetree.contact_model.touches import TouchSpec, are_plain, count_of_shapes, kinds_of
from kinetree.expr import Scalar
from kinetree.model import Body, Joint, Model
from kinetree.model.by_identity import ByIdentity
from kinetree.model.extras import JointSettings
from kinetree.model.parameters import ROWS, GivenNumbers, find
from kinetree.model.row_parameters import settings_of
from kinetree.records import record

__all__ = [
    "CouplingSpec",
    "FrictionSpec",
    "LimitSpec",
    "SoftConstraints",
    "Unsupported",
]

MANY_POINTS = 60
"""Points of contact from which on they are gone through in loops of the program."""
_ALL_TOUCH = 10_000
"""Pairs of shapes up to which there is room for all of them: 20 MB for one sample."""
_NEIGHBOURS = 16
_CALLING = (".alternative", ".friction")
"""How names end that call for parts which a robot does not have by itself."""
_EASE: ByIdentity[dict[tuple[str, int], float]] = ByIdentity()
"""Inverse inertias of degrees of freedom that had no dry friction of their own."""
_RECORDED_OF_A_PAIR = 1500
"""Operations that a pair of shapes that is written out records in a step, at least."""


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
        """A copy with the ends, the margin and the softness that a call gives."""
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
    loss: Scalar
    softness: Softness

    @classmethod
    def of(cls, settings: JointSettings, dof: int, loss: float, inverse: float, period: float) -> FrictionSpec:
        """The dry friction of a joint, whose degree of freedom has this inverse inertia."""
        soft = softness(settings.solref_friction, settings.solimp_friction, inverse, period)
        return cls(settings.joint, dof, loss, soft)

    def with_parameters(self, numbers: GivenNumbers) -> FrictionSpec:
        """A copy with the friction and the softness that a call gives."""
        own = numbers.joints.get(self.joint, {})
        loss = own["friction"][self.dof] if "friction" in own else self.loss
        return replace(self, loss=loss, softness=softened_again(self.softness, own, "_friction"))


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
        """A copy with the softness that a call gives."""
        return replace(self, softness=softened_again(self.softness, numbers.rows.get(self.name, {})))


@record(frozen=True, slots=True)
class Unsupported:
    """Something of the robot's file that has no constraint here."""

    what: str
    """"shape", "pair", "limit", "equality", "tendon", "body" or "option"; "overlap": shapes that overlap at rest."""
    name: str
    reason: str


@record(frozen=True, slots=True)
class SoftConstraints:
    """All soft constraints of a robot, in the order of the file."""

    limits: tuple[LimitSpec, ...] = ()
    frictions: tuple[FrictionSpec, ...] = ()
    couplings: tuple[CouplingSpec, ...] = ()
    touches: Sequence[TouchSpec] = ()
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
    absent: Sequence[TouchSpec] = ()
    """Pairs with shapes of objects that are not in the world unless a parameter says so (`Model.with_alternatives`)."""
    capacity: int | None = None
    """The most pairs of shapes that may touch at once where contacts are gone through in loops; None: as many as fit
    into memory, or as touch in a heap (`room`)."""
    friction_period: float | None = None
    """The shortest time constant of dry friction, s, of joints that have it by a parameter; None: it does not act."""
    sleep: float | None = None
    """The speed, m/s, below which bodies at rest on each other sleep after some time of a motion; None: none do."""

    def called_for(self, model: Model, names: Iterable[str]) -> SoftConstraints:
        """A copy with the parts that these parameters call for: pairs of all objects that a body may be, and dry
        friction of joints."""
        given = [find(model, name.removesuffix(ROWS)) for name in names if name.removesuffix(ROWS).endswith(_CALLING)]
        bodies = [one.owner.name for one in given if isinstance(one.owner, Body) and one.quantity == "alternative"]
        joints = [one.owner for one in given if isinstance(one.owner, Joint) and one.quantity == "friction"]
        return self._with_absent(bodies)._with_frictions(model, joints)

    def _with_absent(self, bodies: Collection[str]) -> SoftConstraints:
        may_be_there = [
            all(side.is_present or side.body in bodies for side in (touch.first, touch.second)) for touch in self.absent
        ]
        if not any(may_be_there):
            return self
        rest = tuple(compress(self.absent, map(operator.not_, may_be_there)))
        return replace(self, touches=(*self.touches, *compress(self.absent, may_be_there)), absent=rest)

    def _with_frictions(self, model: Model, joints: Sequence[Joint]) -> SoftConstraints:
        own = {(friction.joint, friction.dof) for friction in self.frictions}
        missing = [(joint, k) for joint in joints for k in range(joint.kind.nv) if (joint.name, k) not in own]
        if not missing or self.friction_period is None:
            return self
        if model not in _EASE:
            _EASE[model] = {}
        known = _EASE[model]
        if any((joint.name, k) not in known for joint, k in missing):
            weights = InverseWeights(model)
            known |= {(joint.name, k): weights.of_joint(joint.name, k) for joint, k in missing}
        more = (
            FrictionSpec.of(settings_of(model, joint), k, 0.0, known[joint.name, k], self.friction_period)
            for joint, k in missing
        )
        return replace(self, frictions=(*self.frictions, *more))

    def with_parameters(self, numbers: GivenNumbers) -> SoftConstraints:
        """A copy with the numbers of shapes, pairs, limits, dry friction and equalities that a call gives."""
        return replace(
            self,
            limits=tuple(limit.with_parameters(numbers) for limit in self.limits),
            frictions=tuple(friction.with_parameters(numbers) for friction in self.frictions),
            couplings=tuple(coupling.with_parameters(numbers) for coupling in self.couplings),
            touches=tuple(touch.with_parameters(numbers) for touch in self.touches),
            connections=tuple(connection.with_parameters(numbers) for connection in self.connections),
            tendons=tuple(row.with_parameters(numbers) for row in self.tendons),
        )

    @property
    def are_looped(self) -> bool:
        """Whether contacts are gone through in loops of the program: many are, or all where bodies may sleep; but no
        rigid ones."""
        from kinetree.collision import slots

        if isinstance(self.setting, Rigid):
            return False
        points = sum(count * slots(*kind.split(" and ")) for kind, count in kinds_of(self.touches).items())
        return points >= MANY_POINTS or (self.sleep is not None and points > 0)

    @property
    def may_be_looped(self) -> bool:
        """Whether contacts are all in loops of the program, apart from limits and dry friction of joints."""
        rows = (self.couplings, self.connections, self.tendons, self.loops)
        return not any(rows) and self.are_looped and are_plain(self.touches)

    @property
    def room(self) -> int:
        """How many pairs may touch at once in loops: `capacity`, or all of them, or as many as in a heap of the shapes.

        In a heap at rest a body has six neighbours of its own, half of twelve, if contacts with friction just hold it;
        spheres that are packed as closely as they can be have six, and cubes in a row, a column and a layer thirteen.
        Three more are with bodies that touch many, such as a floor and walls.
        """
        count = len(self.touches)
        if self.capacity is not None:
            return min(self.capacity, count)
        if count <= _ALL_TOUCH:
            return count
        return min(max(_ALL_TOUCH, _NEIGHBOURS * count_of_shapes(self.touches)), count)

    def sizes(self) -> dict[str, tuple[int, int]]:
        """How many pairs of shapes may touch, and how many other rows there are, with the operations of each."""
        rows = (self.limits, self.frictions, self.couplings, self.connections, self.tendons, self.loops)
        return {
            PAIRS: (len(self.touches), 0 if self.are_looped else _RECORDED_OF_A_PAIR),
            "limits, equalities and frictions": (sum(map(len, rows)), 0),
        }

    def __hash__(self) -> int:
        """A quick one: calls look kernels up by it, and a robot has few of these."""
        counts = (
            len(self.limits), len(self.frictions), len(self.couplings), len(self.touches), len(self.connections),
            len(self.tendons), len(self.loops),
        )  # fmt: skip
        return hash((counts, self.is_elliptic, self.friction_ratio, self.setting, self.capacity, self.sleep))

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
            *([f"room for {self.room} pairs that touch"] if self.room < len(self.touches) and self.are_looped else []),
            *([] if self.sleep is None else [f"bodies slower than {self.sleep:g} m/s may sleep"]),
            *([f"{len(self.absent)} pairs of shapes of objects that are absent"] if self.absent else []),
        ]
        lines = [", ".join(counts)] if self.setting is None else [", ".join(counts), f"  {self.setting}"]
        lines += [f"  {count:5d} {kind}" for kind, count in kinds_of(self.touches).most_common()]
        lines += [f"  not computed: {x.what} {x.name!r}: {x.reason}" for x in self.unsupported]
        lines += [f"  {remark}" for remark in self.remarks]
        return "\n".join(lines)
