"""<sensor>: what is to be measured."""

from __future__ import annotations

from kinetree.io.losses import Losses
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.mjcf.writing_raw import raw_tag
from kinetree.io.mjcf.writing_values import changed, raw_numbers, trimmed
from kinetree.io.xml_text import Tag
from kinetree.model.extras import Extras, Sensor

__all__ = ["write_sensors"]

_USUAL = Sensor("", "")
_PLAIN = {
    "reduction": "reduce", "count": "num", "cutoff": "cutoff", "noise": "noise", "samples": "nsample",
    "interpolation": "interp", "delay": "delay", "size": "dim", "data_type": "datatype", "stage": "needstage",
}  # fmt: skip
_NUMBERED = ("distance", "normal", "fromto", "contact")
"""Sensors between two things, whose attributes end in 1 and 2."""


def write_sensors(root: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add the section, if there are any."""
    section = Tag("sensor")
    for one in extras.sensors:
        what = f"sensor {one.name!r}" if one.name else f"a sensor <{one.kind}> without a name"
        ends = [(one.object_type, one.object), (one.reference_type, one.reference)]
        if not written.all_there(what, ends, losses):
            continue
        attributes = _attributes(one)
        known = SHAPES[f"sensor/{one.kind}"].attributes
        if strange := [name for name in attributes if name not in known]:
            losses.lost.append(f"{what}: a <{one.kind}> of MJCF has no {', '.join(strange)}")
        element = section.add(one.kind)
        element.attributes = {name: text for name, text in attributes.items() if name in known}
        if one.plugin is not None:
            element.children = [raw_tag(child) for child in one.plugin.children]
        written.add("sensor", one.name)
    if section.children:
        root.children.append(section)


def _attributes(one: Sensor) -> dict[str, str]:
    attributes = {"name": one.name} if one.name else {}
    attributes |= _ends(one)
    if one.plugin is not None:
        attributes |= dict(one.plugin.attributes)
    if one.data and one.data != {"contact": ("found",), "rangefinder": ("dist",)}.get(one.kind):
        attributes["data"] = " ".join(one.data)
    attributes |= changed(one, _USUAL, _PLAIN)
    if one.kind == "user":
        attributes["dim"] = str(one.size)
    if any(one.interval):
        attributes["interval"] = trimmed(one.interval)
    if user := raw_numbers(one.user):
        attributes["user"] = user
    return attributes


def _ends(one: Sensor) -> dict[str, str]:
    """What it is on, and what that is measured relative to, each under the attributes of its kind of sensor."""
    known = SHAPES[f"sensor/{one.kind}"].attributes
    made = {}
    for kind, name, number, word in (
        (one.object_type, one.object, "1", "obj"),
        (one.reference_type, one.reference, "2", "ref"),
    ):
        if not kind:
            continue
        if one.kind in _NUMBERED and kind != "site":
            made[f"{kind}{number}"] = name
        elif kind in known and (word == "ref" or f"{word}type" not in known):
            made[kind] = name
        else:
            made |= {f"{word}type": kind, f"{word}name": name}
    return made
