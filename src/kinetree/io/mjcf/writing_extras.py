"""Extras as MJCF: options of the simulation with their flags, contact pairs and exclusions."""

from __future__ import annotations

from dataclasses import fields

from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.extras import Extras, SimulationFlags, SimulationOptions
from kinetree.model.extras.contacts import ContactExclusion, ContactPair
from kinetree.model.specs import Parts

__all__ = ["write_contacts", "write_options"]

_GRAVITY = (0.0, 0.0, -9.81)
_NAMES = {
    "override_margin": "o_margin", "override_solref": "o_solref", "override_solimp": "o_solimp",
    "override_friction": "o_friction", "disabled_actuator_groups": "actuatorgroupdisable",
    "solref_friction": "solreffriction", "shape1": "geom1", "shape2": "geom2",
}  # fmt: skip
"""MJCF's names where they are others."""


def write_options(root: Tag, parts: Parts) -> None:
    """Add <option>, if anything in it differs from MuJoCo's defaults or the robot has options."""
    options = parts.extras.options
    if options is None:
        if parts.gravity != _GRAVITY:
            root.add("option", gravity=shown_numbers(parts.gravity))
        return
    element = root.add("option")
    element.attributes = _changed(options, SimulationOptions())
    pull = options.gravity if parts.gravity == (0.0, 0.0, 0.0) and not options.flags.gravity else parts.gravity
    element.attributes["gravity"] = shown_numbers(pull)
    flags = _changed(options.flags, SimulationFlags())
    if flags:
        element.add("flag").attributes = flags


def write_contacts(root: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add <contact>, if there are pairs or exclusions."""
    section = Tag("contact")
    for pair in extras.contact_pairs:
        what = (
            f"contact pair {pair.name!r}" if pair.name else f"the contact pair of {pair.shape1!r} and {pair.shape2!r}"
        )
        if written.all_there(what, [("geom", pair.shape1), ("geom", pair.shape2)], losses):
            section.add("pair").attributes = _changed(pair, ContactPair("", ""))
    for exclusion in extras.contact_exclusions:
        what = f"the exclusion of contacts between {exclusion.body1!r} and {exclusion.body2!r}"
        if written.all_there(what, [("body", exclusion.body1), ("body", exclusion.body2)], losses):
            section.add("exclude").attributes = _changed(exclusion, ContactExclusion("", ""))
    if section.children:
        root.children.append(section)


def _changed(record: object, usual: object) -> dict[str, str]:
    """The fields of a record that are not as usual, as attributes."""
    found: dict[str, str] = {}
    for entry in fields(record):  # type: ignore[arg-type]
        value = getattr(record, entry.name)
        if value == getattr(usual, entry.name) or isinstance(value, SimulationFlags):
            continue
        if isinstance(value, bool):
            text = "enable" if value else "disable"
        elif isinstance(value, str):
            text = value
        else:
            text = shown_numbers(value) if isinstance(value, tuple) else shown_number(value)
        found[_NAMES.get(entry.name, entry.name)] = text
    return found
