"""<actuator>: each under the word it had in its file, if that says the same, and otherwise as <general>.

How its force follows from its control is written as attributes: of its own word, or as gain, bias and dynamics.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.errors import ModelError
from kinetree.io.document import Element
from kinetree.io.losses import Losses
from kinetree.io.mjcf.actuators import activation_size, damping_ratio
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.mjcf.motor_laws import Law, law_of
from kinetree.io.mjcf.writing_values import Written, changed, limit, raw_numbers, raw_tag, trimmed
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.extras import Actuator, Extras

__all__ = ["write_actuators"]

_USUAL = Actuator("", "", "")
_PLAIN = {
    "crank_length": "cranklength", "velocity_range": "velrange", "feedforward_range": "ffrange",
    "length_range": "lengthrange", "armature": "armature", "group": "group", "samples": "nsample",
    "interpolation": "interp", "delay": "delay",
}  # fmt: skip
_ALWAYS_LIMITED = ("damper", "adhesion")
_MUSCLE = (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2)
_MUSCLE_NAMES = ("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax")

Text = dict[str, str]


def write_actuators(root: Tag, extras: Extras, written: Written, losses: Losses) -> list[Actuator]:
    """Add the section, and return the actuators that are in it."""
    section, tags = Tag("actuator"), []
    for actuator in extras.actuators:
        what = f"actuator {actuator.name!r}" if actuator.name else f"an actuator of {actuator.target!r}"
        other = "site" if actuator.transmission in ("site", "slidercrank") else actuator.transmission
        if not written.all_there(what, [(actuator.transmission, actuator.target), (other, actuator.reference)], losses):
            continue
        why = _why_not(actuator)
        element = None if why else _element(actuator, what, losses)
        if element is None:
            why = why or "no element of MJCF has all of its numbers together"
            losses.lost.append(f"{what} is left out: {why}")
            continue
        section.children.append(element)
        written.add("actuator", actuator.name)
        tags.append(actuator)
    if section.children:
        root.children.append(section)
    return tags


def _why_not(one: Actuator) -> str:
    """Why MuJoCo rejects an actuator; "" if it does not for any of these reasons."""
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
    """The element, or None if it is not written."""
    shortcut = _SHORTCUTS.get(one.kind)
    common = _common(one, what, losses)
    if one.plugin is not None:
        element = _checked(one, "plugin", {**common, **dict(one.plugin.attributes), **_general_law(one)})
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
    element = _checked(one, "general", common | _general_law(one))
    if element is not None and one.kind != "general":
        losses.changed.append(f"{what}, a <{one.kind}>, says more than that element can: in the file it is a <general>")
    return element


def _checked(one: Actuator, tag: str, attributes: dict[str, str]) -> Tag | None:
    """The element, if MJCF has it and it means this actuator."""
    texts = {name: text for name, text in attributes.items() if text is not None}
    for _ in range(2):
        if not texts.keys() <= SHAPES[f"actuator/{tag}"].attributes:
            return None
        element = Element(tag, texts, 0, None, "")
        try:
            law = law_of(element, ())
            size = activation_size(Attributes(element), law)
        except ModelError:
            return None
        if not _is_same(one, law):
            return None
        if size == one.activation_size:
            tag_made = Tag(tag)
            tag_made.attributes = texts
            return tag_made
        texts = {**texts, "actdim": str(one.activation_size)}
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


def _general_law(one: Actuator) -> Text:
    """Gain, bias and dynamics where they differ from MuJoCo's defaults."""
    attributes: Text = {}
    bias = _bias(one)
    for word, parameters, names in (
        ("dynamics", one.dynamics_parameters, ("dyntype", "dynprm")),
        ("gain", one.gain_parameters, ("gaintype", "gainprm")),
        ("bias", bias, ("biastype", "biasprm")),
    ):
        default = getattr(_USUAL, f"{word}_parameters")
        if getattr(one, word) != getattr(_USUAL, word):
            attributes[names[0]] = getattr(one, word)
        if parameters != default:
            attributes[names[1]] = trimmed(parameters, default)
    if one.inputs:
        attributes["input"] = " ".join(one.inputs)
    if one.acts_early:
        attributes["actearly"] = "true"
    return attributes


def _bias(one: Actuator) -> tuple[float, ...]:
    """The parameters of the bias, with the ratio of damping where MuJoCo has it."""
    p = one.bias_parameters
    return p if one.damping_ratio is None else (*p[:2], one.damping_ratio, *p[3:])


def _number(attributes: Text, name: str, value: float, default: float) -> None:
    if value != default:
        attributes[name] = shown_number(value)


def _servo(one: Actuator, kp: float) -> Text:
    """Stiffness and damping."""
    attributes: Text = {}
    _number(attributes, "kp", kp, 1.0)
    if one.damping_ratio is not None:
        attributes["dampratio"] = shown_number(one.damping_ratio)
    else:
        _number(attributes, "kv", -one.bias_parameters[2], 0.0)
    return attributes


def _motor(_one: Actuator) -> Text:
    return {}


def _position(one: Actuator) -> Text:
    attributes = _servo(one, one.gain_parameters[0])
    if one.dynamics == "filterexact":
        attributes["timeconst"] = shown_number(one.dynamics_parameters[0])
    elif one.dynamics_parameters != _USUAL.dynamics_parameters:
        attributes["timeconst"] = "0"
    return attributes


def _intvelocity(one: Actuator) -> Text:
    return _servo(one, one.gain_parameters[0])


def _velocity(one: Actuator) -> Text:
    attributes: Text = {}
    _number(attributes, "kv", one.gain_parameters[0], 1.0)
    return attributes


def _damper(one: Actuator) -> Text:
    attributes: Text = {}
    _number(attributes, "kv", -one.gain_parameters[2], 0.0)
    return attributes


def _cylinder(one: Actuator) -> Text:
    attributes: Text = {}
    _number(attributes, "area", one.gain_parameters[0], 1.0)
    _number(attributes, "timeconst", one.dynamics_parameters[0], 1.0)
    if any(one.bias_parameters[:3]):
        attributes["bias"] = shown_numbers(one.bias_parameters[:3])
    return attributes


def _muscle(one: Actuator) -> Text:
    attributes: Text = {}
    gain, dynamics = one.gain_parameters, one.dynamics_parameters
    if gain[:2] != _MUSCLE[:2]:
        attributes["range"] = shown_numbers(gain[:2])
    for name, value, default in zip(_MUSCLE_NAMES, gain[2:], _MUSCLE[2:], strict=False):
        _number(attributes, name, value, default)
    if dynamics[:2] != (0.01, 0.04):
        attributes["timeconst"] = shown_numbers(dynamics[:2])
    _number(attributes, "tausmooth", dynamics[2], 0.0)
    return attributes


def _adhesion(one: Actuator) -> Text:
    attributes: Text = {}
    _number(attributes, "gain", one.gain_parameters[0], 1.0)
    return attributes


def _orientation(one: Actuator) -> Text:
    attributes = _servo(one, one.gain_parameters[0])
    if one.inputs != ("expmap",):
        attributes["input"] = " ".join(one.inputs)
    return attributes


def _pid(one: Actuator) -> Text:
    attributes = _servo(one, -one.bias_parameters[1])
    _number(attributes, "ki", one.gain_parameters[0], 0.0)
    _number(attributes, "imax", one.dynamics_parameters[0], 0.0)
    _number(attributes, "slewmax", one.dynamics_parameters[1], 0.0)
    if one.inputs != ("pos", "vel"):
        attributes["input"] = " ".join(one.inputs)
    return attributes


def _dcmotor(one: Actuator) -> Text:
    gain, bias, dynamics = one.gain_parameters, one.bias_parameters, one.dynamics_parameters
    attributes = {"motorconst": shown_number(gain[1]), "resistance": shown_number(gain[0])}
    strongest = one.force_range[1] if one.force_limited else 0.0
    if strongest or dynamics[1]:
        attributes["saturation"] = trimmed((strongest, 0.0, dynamics[1]))
    if dynamics[0]:
        attributes["inductance"] = trimmed((0.0, dynamics[0]))
    if any(controller := (*gain[4:7], dynamics[7], dynamics[8], gain[7])):
        attributes["controller"] = trimmed(controller)
    if any(thermal := (dynamics[2], dynamics[3], 0.0, gain[2], gain[3], dynamics[4])):
        attributes["thermal"] = trimmed(thermal)
    if any(lugre := (dynamics[5], dynamics[6], *bias[3:6])):
        attributes["lugre"] = trimmed(lugre)
    if any(bias[:3]):
        attributes["cogging"] = trimmed(bias[:3])
    if one.inputs != ("voltage",):
        attributes["input"] = " ".join(one.inputs)
    return attributes


_SHORTCUTS: dict[str, Callable[[Actuator], Text]] = {
    "motor": _motor,
    "position": _position,
    "velocity": _velocity,
    "intvelocity": _intvelocity,
    "damper": _damper,
    "cylinder": _cylinder,
    "muscle": _muscle,
    "adhesion": _adhesion,
    "orientation": _orientation,
    "pid": _pid,
    "dcmotor": _dcmotor,
}
"""The attributes that the element of each word gives a law by; whether that is all of it must be checked."""
