"""Extras as MJCF: options of the simulation with their flags, contact pairs and exclusions."""

from __future__ import annotations

from dataclasses import fields

from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_numbers import pose
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import Fixed
from kinetree.model.extras import SimulationFlags, SimulationOptions
from kinetree.model.extras.bodies import Site
from kinetree.model.extras.contacts import ContactExclusion, ContactPair
from kinetree.model.specs import FrameSpec, Parts

__all__ = ["write_contacts", "write_options"]

_GRAVITY = (0.0, 0.0, -9.81)
_HELD = frozenset(("options", "sites", "contact_pairs", "contact_exclusions", "reference_configuration"))
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


def write_site(body: Tag, frame: FrameSpec, site: Site | None, losses: Losses) -> None:
    """Add a frame as a site, with the shape of the site that it was, if it was one."""
    element = body.add("site", name=frame.name if site is None else site.name)
    if site is not None:
        if site.material or site.mesh or site.shape == "mesh":
            losses.lost.append(f"robot.extras.sites: {site.name!r} has a material or mesh, which is not written")
        usual = Site("", "", "")
        for attribute, value, default in (
            ("type", site.shape, usual.shape),
            ("size", shown_numbers(site.size), shown_numbers(usual.size)),
            ("group", str(site.group), "0"),
            ("rgba", shown_numbers(site.color), shown_numbers(usual.color)),
            ("user", shown_numbers(site.user), ""),
        ):
            if value != default and value != "mesh":
                element.attributes[attribute] = value
    element.attributes |= pose(frame.placement)


def write_contacts(root: Tag, parts: Parts, losses: Losses) -> None:
    """Add <contact>, and lose all other extras."""
    extras = parts.extras
    if extras.contact_pairs or extras.contact_exclusions:
        section = root.add("contact")
        for pair in extras.contact_pairs:
            section.add("pair").attributes = _changed(pair, ContactPair("", ""))
        for exclusion in extras.contact_exclusions:
            section.add("exclude").attributes = _changed(exclusion, ContactExclusion("", ""))
    reference = extras.reference_configuration
    if reference is not None:
        neutral = {joint.name: joint.kind.neutral() for joint in parts.joints if not isinstance(joint.kind, Fixed)}
        if any(tuple(state.q) != neutral.get(state.joint) or any(state.v) for state in reference.joints):
            losses.lost.append("robot.extras.reference_configuration is not neutral, and the file places bodies there")
    losses.lose_extras(extras, held=_HELD)


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
