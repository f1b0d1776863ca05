"""<equality>: constraints that are enforced softly."""

from __future__ import annotations

from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.mjcf.writing_values import changed, trimmed
from kinetree.io.xml_text import Tag, shown_numbers
from kinetree.model.extras import Equality, Extras

__all__ = ["write_equalities"]

_USUAL = Equality("", "", "", "")
_PLAIN = {"active": "active", "solref": "solref", "solimp": "solimp"}


def write_equalities(section: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add all constraints to the section."""
    for one in extras.equalities:
        what = f"equality constraint {one.name!r}" if one.name else f"a {one.kind} constraint of {one.first!r}"
        if written.all_there(what, [(one.between, one.first), (one.between, one.second)], losses):
            element = section.add(one.kind, name=one.name or None)
            element.attributes |= _own(one) | changed(one, _USUAL, _PLAIN)


def _own(one: Equality) -> dict[str, str]:
    """What it holds together, and how."""
    if one.between == "flex":
        return {"flex": one.first, **({"cell": shown_numbers(one.cell)} if one.cell else {})}
    made = {f"{one.between}1": one.first}
    if one.second and (one.between, one.second) != ("body", "world"):
        made[f"{one.between}2"] = one.second
    if one.between == "body" and (one.kind == "connect" or any(one.anchor)):
        made["anchor"] = shown_numbers(one.anchor)
    if one.relative_position is not None and one.relative_rotation is not None:
        x, y, z, w = one.relative_rotation
        made["relpose"] = shown_numbers([*one.relative_position, w, x, y, z])
    if one.torque_scale != _USUAL.torque_scale:
        made["torquescale"] = shown_numbers([one.torque_scale])
    if one.coefficients != _USUAL.coefficients:
        made["polycoef"] = trimmed(one.coefficients, _USUAL.coefficients)
    return made
