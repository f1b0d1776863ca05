"""Tendons: weighted sums of joint coordinates, and strings through sites and around shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Pulley", "Tendon", "TendonJoint", "TendonShape", "TendonSite"]


@record(frozen=True, slots=True, repr=False)
class TendonJoint:
    """One term of a fixed tendon's length: a joint's coordinate times a number."""

    REFERS: ClassVar[Mapping[str, str]] = {"joint": "joint"}

    joint: str
    coefficient: float = 0.0

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class TendonSite:
    """A point that a tendon passes through."""

    REFERS: ClassVar[Mapping[str, str]] = {"site": "site"}

    site: str

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class TendonShape:
    """A sphere or cylinder that a tendon wraps around, on the side of a site if one is named."""

    REFERS: ClassVar[Mapping[str, str]] = {"shape": "geom", "side_site": "site"}

    shape: str
    side_site: str = ""

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class Pulley:
    """Where a tendon's next part begins; that part's length counts divided by the divisor."""

    REFERS: ClassVar[Mapping[str, str]] = {}

    divisor: float

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class Tendon:
    """A length that depends on the configuration, with limits, a spring and friction."""

    REFERS: ClassVar[Mapping[str, str]] = {"name": "own", "path": "records"}

    name: str
    kind: str
    """"fixed", a weighted sum of joint coordinates, or "spatial", a shortest way through sites and around shapes."""
    path: tuple[TendonJoint | TendonSite | TendonShape | Pulley, ...] = ()
    limited: bool = False
    range: tuple[float, float] = (0.0, 0.0)
    """Smallest and largest length."""
    margin: float = 0.0
    """How far from a limit the limit begins to act."""
    force_limited: bool = False
    force_range: tuple[float, float] = (0.0, 0.0)
    """Range of the sum of its actuators' forces, N."""
    stiffness: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Coefficients of the linear, quadratic and cubic force of its spring."""
    spring_length: tuple[float, float] | None = None
    """Lengths between which its spring exerts no force; None: the length in the reference configuration of springs."""
    spring_yield: float = 0.0
    """How far the spring is stretched before it yields; 0: never."""
    damping: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Coefficients of the linear, quadratic and cubic damping force."""
    friction: float = 0.0
    """Dry friction, N."""
    armature: float = 0.0
    """Inertia of its velocity, kg."""
    solref_limit: tuple[float, float] = (0.02, 1.0)
    solimp_limit: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    solref_friction: tuple[float, float] = (0.02, 1.0)
    solimp_friction: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    group: int = 0
    width: float = 0.003
    """Its thickness in pictures, m."""
    material: str = ""
    color: tuple[float, ...] = (0.5, 0.5, 0.5, 1.0)
    user: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)
