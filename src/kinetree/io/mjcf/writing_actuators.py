"""<actuator>: each under the word it had in its file, if that says the same, and otherwise as <general>."""

from __future__ import annotations

from kinetree.errors import ModelError
from kinetree.io.document import Element
from kinetree.io.losses import Losses
from kinetree.io.mjcf.actuators import activation_size, damping_ratio
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.mjcf.motor_laws import Law, law_of
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.mjcf.writing_laws import SHORTCUTS, general_law
from kinetree.io.mjcf.writing_raw import raw_tag
from kinetree.io.mjcf.writing_values import changed, limit, raw_numbers, trimmed
from kinetree.io.xml_text import Tag
from kinetree.model.extras import Actuator, Extras

__all__ = ["write_actuators"]

_USUAL = Actuator("", "", "")
_PLAIN = {
    "crank_length": "cranklength", "velocity_range": "velrange", "feedforward_range": "ffrange",
    "length_range": "lengthrange", "armature": "armature", "group": "group", "samples": "nsample",
    "interpolation": "interp", "delay": "delay",
}  # fmt: skip
_ALWAYS_LIMITED = ("damper", "adhesion")


def write_actuators(root: Tag, extras: Extras, written: Written, losses: Losses) -> list[Actuator]:
    """Add the section, and return the actuators that are in it."""
    section, made = Tag("actuator"), []
    for one in extras.actuators:
        what = f"actuator {one.name!r}" if one.name else f"an actuator of {one.target!r}"
        other = "site" if one.transmission in ("site", "slidercrank") else one.transmission
        if not written.all_there(what, [(one.transmission, one.target), (other, one.reference)], losses):
            continue
        why = _why_not(one)
        element = None if why else _element(one, what, losses)
        if element is None:
            why = why or "no element of MJCF has all of its numbers together"
            losses.lost.append(f"{what} is left out: {why}")
            continue
        section.children.append(element)
        written.add("actuator", one.name)
        made.append(one)
    if section.children:
        root.children.append(section)
    return made


def _why_not(one: Actuator) -> str:
    """Why MuJoCo refuses an actuator; "" if it does not for any of these reasons."""
    if one.activation_limited and one.dynamics == "none" and one.plugin is None:
        return "its activation is limited, but it has none"
    if one.delay > 0.0 and one.samples <= 0:
        return "it has a delay, but no samples that are kept for it"
    if one.transmission == "slidercrank" and one.crank_length <= 0.0:
        return "a slider-crank needs a rod, a crank_length"
    if one.transmission not in ("joint", "jointinparent", "tendon") and (any(one.damping) or one.armature):
        return "its damping and armature are those of a joint or tendon, and it acts on neither"
    return ""


def _element(one: Actuator, what: str, losses: Losses) -> Tag | None:
    """The element, or None if there is none."""
    shortcut = SHORTCUTS.get(one.kind)
    common = _common(one, what, losses)
    if one.plugin is not None:
        element = _checked(one, "plugin", {**common, **dict(one.plugin.attributes), **general_law(one)})
        if element is not None:
            element.children += [raw_tag(child) for child in one.plugin.children]
        return element
    if shortcut is not None:
        own = common | shortcut(one)
        if one.kind in _ALWAYS_LIMITED:
            own.pop("ctrllimited", None)
        if one.kind == "dcmotor":
            own.pop("forcerange", None)
        element = _checked(one, one.kind, own)
        if element is not None:
            return element
    element = _checked(one, "general", common | general_law(one))
    if element is not None and one.kind != "general":
        losses.changed.append(f"{what}, a <{one.kind}>, says more than that element can: in the file it is a <general>")
    return element


def _checked(one: Actuator, tag: str, attributes: dict[str, str]) -> Tag | None:
    """The element, if MJCF has it and it means this actuator."""
    given = {name: text for name, text in attributes.items() if text is not None}
    for _ in range(2):
        if not given.keys() <= SHAPES[f"actuator/{tag}"].attributes:
            return None
        element = Element(tag, given, 0, None, "")
        try:
            law = law_of(element, ())
            size = activation_size(Attributes(element), law)
        except ModelError:
            return None
        if not _is_same(one, law):
            return None
        if size == one.activation_size:
            made = Tag(tag)
            made.attributes = given
            return made
        given = {**given, "actdim": str(one.activation_size)}
    return None


def _is_same(one: Actuator, law: Law) -> bool:
    """Whether an actuator has this law."""
    own = (
        one.dynamics, one.dynamics_parameters, one.gain, one.gain_parameters, one.bias, one.bias_parameters, one.inputs,
        one.acts_early,
    )  # fmt: skip
    ratio, bias = damping_ratio(law)
    if ratio != one.damping_ratio:
        return False
    if law.force_range is not None and (one.force_limited, one.force_range) != (any(law.force_range), law.force_range):
        return False
    return own == (
        law.dynamics, law.dynamics_parameters, law.gain, law.gain_parameters, law.bias, bias, law.inputs,
        law.acts_early,
    )  # fmt: skip


def _common(one: Actuator, what: str, losses: Losses) -> dict[str, str]:
    """All but the law of its force."""
    if one.transmission == "slidercrank":
        attributes = {"cranksite": one.target, "slidersite": one.reference}
    else:
        attributes = {one.transmission: one.target}
        if one.reference:
            attributes["refsite"] = one.reference
    if one.name:
        attributes = {"name": one.name, **attributes}
    if one.gear != _USUAL.gear:
        attributes["gear"] = trimmed(one.gear, _USUAL.gear)
    attributes |= changed(one, _USUAL, _PLAIN)
    attributes |= limit("ctrllimited", "ctrlrange", one.control_limited, one.control_range, losses, what)
    attributes |= limit("forcelimited", "forcerange", one.force_limited, one.force_range, losses, what)
    attributes |= limit("actlimited", "actrange", one.activation_limited, one.activation_range, losses, what)
    if one.gain == "dcmotor" and not one.activation_limited and "actlimited" in attributes:
        del attributes["actlimited"]  # the activation of such a motor has no limits
    if any(one.damping):
        attributes["damping"] = trimmed(one.damping)
    if user := raw_numbers(one.user):
        attributes["user"] = user
    return attributes
