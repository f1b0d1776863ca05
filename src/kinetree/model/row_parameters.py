"""Numbers of a robot's pairs, limits, dry friction and equalities by name: how hard their rows push.

    pair.NAME.friction      (5,)     sliding twice, torsional (m), rolling twice (m), of an explicit pair of shapes
    pair.NAME.solref        (2,)     time constant, s, and damping ratio; or stiffness and damping, both negative
    pair.NAME.solimp        (5,)     impedance at the surface and from the width on, width, midpoint, power
    pair.NAME.margin        ()       the distance below which its contacts act, m
    equality.NAME.solref, equality.NAME.solimp
    tendon.NAME.friction    ()       its dry friction, N, if it has any
    tendon.NAME.solref_limit, .solimp_limit, .margin, .solref_friction, .solimp_friction
    joint.NAME.solref_limit, .solimp_limit, .margin, .solref_friction, .solimp_friction

NAME is that of the file; without one, of a pair, equality or tendon, it is its number there, from 0 on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kinetree.expr import Scalar
from kinetree.model.checks.parts import hint
from kinetree.model.elements import Joint
from kinetree.model.extras import JointSettings
from kinetree.model.robot import Robot
from kinetree.records import record

__all__ = [
    "KINDS",
    "RowsOf",
    "find_rows",
    "names_of_rows",
    "no_such_rows",
    "nominal_of_joint_rows",
    "nominal_of_rows",
    "rows_of_joint",
    "settings_of",
]

_SOFT = {"solref": (2,), "solimp": (5,)}
_LIMIT: Mapping[str, tuple[int, ...]] = {"solref_limit": (2,), "solimp_limit": (5,), "margin": ()}
_FRICTION: Mapping[str, tuple[int, ...]] = {"solref_friction": (2,), "solimp_friction": (5,)}
_OF_A_PAIR: Mapping[str, tuple[int, ...]] = {"friction": (5,), **_SOFT, "margin": ()}
KINDS = ("pair", "equality", "tendon")


@record(frozen=True, slots=True)
class RowsOf:
    """A pair, an equality or a tendon."""

    what: str
    """One of `KINDS`."""
    number: int
    """Its place in the file."""
    settings: Any
    """The record of the file."""

    @property
    def key(self) -> str:
        """The name of its rows."""
        return self.settings.name or f"{self.what}[{self.number}]"


def names_of_rows(model: Robot) -> Iterator[str]:
    """The names of all parameters of pairs, equalities and tendons."""
    for what in KINDS:
        for name, one in _named(model, what).items():
            yield from (f"{what}.{name}.{quantity}" for quantity in _quantities(one))


def find_rows(model: Robot, what: str, name: str, quantity: str) -> tuple[RowsOf, tuple[int, ...]] | None:
    """The rows of this name, and the size of one of their quantities, if any."""
    one = _named(model, what).get(name)
    sizes = {} if one is None else _quantities(one)
    return None if one is None or quantity not in sizes else (one, sizes[quantity])


def no_such_rows(model: Robot, what: str, name: str) -> str:
    """A message about an unknown name, with the closest ones."""
    known = _named(model, what)
    if name not in known:
        return f"there is no {what} {name!r}; {hint(name, known)}"
    has = ", ".join(_quantities(known[name]))
    return (
        f"the {what} {name!r} has {has or 'nothing that pushes: it is not active, or has neither limit nor friction'}"
    )


def nominal_of_rows(rows: RowsOf, quantity: str) -> Sequence[Scalar]:
    """The numbers of the file."""
    return _numbers(rows.settings, quantity)


def rows_of_joint(model: Robot, joint: Joint) -> Mapping[str, tuple[int, ...]]:
    """The quantities of a joint's limits and dry friction, if it has them, and their sizes."""
    limits = joint.limits
    has_limit = any(map(math.isfinite, (*limits.lower, *limits.upper))) or settings_of(model, joint).limited
    return {**(_LIMIT if has_limit else {}), **(_FRICTION if any(joint.friction) else {})}


def nominal_of_joint_rows(model: Robot, joint: Joint, quantity: str) -> Sequence[Scalar]:
    """The numbers of the file, or the usual ones."""
    return _numbers(settings_of(model, joint), quantity)


def settings_of(model: Robot, joint: Joint) -> JointSettings:
    """The settings of a joint in the file, or the usual ones."""
    return next((one for one in model.extras.joints if one.joint == joint.name), JointSettings(joint.name))


def _numbers(settings: Any, quantity: str) -> Sequence[Scalar]:
    numbers: float | tuple[float, ...] = getattr(settings, quantity)
    return numbers if isinstance(numbers, tuple) else (numbers,)


def _named(model: Robot, what: str) -> dict[str, RowsOf]:
    """The records of the file by the name in parameters."""
    extras = model.extras
    records: dict[str, Sequence[Any]] = {
        "pair": extras.contact_pairs, "equality": extras.equalities, "tendon": extras.tendons
    }  # fmt: skip
    return {one.name or str(k): RowsOf(what, k, one) for k, one in enumerate(records[what])}


def _quantities(one: RowsOf) -> Mapping[str, tuple[int, ...]]:
    if one.what == "pair":
        return _OF_A_PAIR
    if one.what == "equality":
        return _SOFT if one.settings.active else {}
    own = {"friction": (), **_FRICTION} if one.settings.friction else {}
    return {**(_LIMIT if one.settings.limited else {}), **own}
