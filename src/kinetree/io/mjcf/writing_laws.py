"""How an actuator's force follows from its control, as attributes: of its own word, or as gain, bias and dynamics."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.io.mjcf.writing_values import trimmed
from kinetree.io.xml_text import shown_number, shown_numbers
from kinetree.model.extras import Actuator

__all__ = ["SHORTCUTS", "general_law"]

_USUAL = Actuator("", "", "")
_MUSCLE = (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2)
_MUSCLE_NAMES = ("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax")

Text = dict[str, str]


def general_law(one: Actuator) -> Text:
    """Gain, bias and dynamics where they differ from MuJoCo's defaults."""
    made: Text = {}
    bias = _bias(one)
    for word, parameters, names in (
        ("dynamics", one.dynamics_parameters, ("dyntype", "dynprm")),
        ("gain", one.gain_parameters, ("gaintype", "gainprm")),
        ("bias", bias, ("biastype", "biasprm")),
    ):
        default = getattr(_USUAL, f"{word}_parameters")
        if getattr(one, word) != getattr(_USUAL, word):
            made[names[0]] = getattr(one, word)
        if parameters != default:
            made[names[1]] = trimmed(parameters, default)
    if one.inputs:
        made["input"] = " ".join(one.inputs)
    if one.acts_early:
        made["actearly"] = "true"
    return made


def _bias(one: Actuator) -> tuple[float, ...]:
    """The parameters of the bias, with the ratio of damping where MuJoCo has it."""
    p = one.bias_parameters
    return p if one.damping_ratio is None else (*p[:2], one.damping_ratio, *p[3:])


def _number(made: Text, name: str, value: float, default: float) -> None:
    if value != default:
        made[name] = shown_number(value)


def _servo(one: Actuator, kp: float) -> Text:
    """Stiffness and damping."""
    made: Text = {}
    _number(made, "kp", kp, 1.0)
    if one.damping_ratio is not None:
        made["dampratio"] = shown_number(one.damping_ratio)
    else:
        _number(made, "kv", -one.bias_parameters[2], 0.0)
    return made


def _motor(_one: Actuator) -> Text:
    return {}


def _position(one: Actuator) -> Text:
    made = _servo(one, one.gain_parameters[0])
    if one.dynamics == "filterexact":
        made["timeconst"] = shown_number(one.dynamics_parameters[0])
    elif one.dynamics_parameters != _USUAL.dynamics_parameters:
        made["timeconst"] = "0"
    return made


def _intvelocity(one: Actuator) -> Text:
    return _servo(one, one.gain_parameters[0])


def _velocity(one: Actuator) -> Text:
    made: Text = {}
    _number(made, "kv", one.gain_parameters[0], 1.0)
    return made


def _damper(one: Actuator) -> Text:
    made: Text = {}
    _number(made, "kv", -one.gain_parameters[2], 0.0)
    return made


def _cylinder(one: Actuator) -> Text:
    made: Text = {}
    _number(made, "area", one.gain_parameters[0], 1.0)
    _number(made, "timeconst", one.dynamics_parameters[0], 1.0)
    if any(one.bias_parameters[:3]):
        made["bias"] = shown_numbers(one.bias_parameters[:3])
    return made


def _muscle(one: Actuator) -> Text:
    made: Text = {}
    gain, dynamics = one.gain_parameters, one.dynamics_parameters
    if gain[:2] != _MUSCLE[:2]:
        made["range"] = shown_numbers(gain[:2])
    for name, value, default in zip(_MUSCLE_NAMES, gain[2:], _MUSCLE[2:], strict=False):
        _number(made, name, value, default)
    if dynamics[:2] != (0.01, 0.04):
        made["timeconst"] = shown_numbers(dynamics[:2])
    _number(made, "tausmooth", dynamics[2], 0.0)
    return made


def _adhesion(one: Actuator) -> Text:
    made: Text = {}
    _number(made, "gain", one.gain_parameters[0], 1.0)
    return made


def _orientation(one: Actuator) -> Text:
    made = _servo(one, one.gain_parameters[0])
    if one.inputs != ("expmap",):
        made["input"] = " ".join(one.inputs)
    return made


def _pid(one: Actuator) -> Text:
    made = _servo(one, -one.bias_parameters[1])
    _number(made, "ki", one.gain_parameters[0], 0.0)
    _number(made, "imax", one.dynamics_parameters[0], 0.0)
    _number(made, "slewmax", one.dynamics_parameters[1], 0.0)
    if one.inputs != ("pos", "vel"):
        made["input"] = " ".join(one.inputs)
    return made


def _dcmotor(one: Actuator) -> Text:
    gain, bias, dynamics = one.gain_parameters, one.bias_parameters, one.dynamics_parameters
    made = {"motorconst": shown_number(gain[1]), "resistance": shown_number(gain[0])}
    strongest = one.force_range[1] if one.force_limited else 0.0
    if strongest or dynamics[1]:
        made["saturation"] = trimmed((strongest, 0.0, dynamics[1]))
    if dynamics[0]:
        made["inductance"] = trimmed((0.0, dynamics[0]))
    if any(controller := (*gain[4:7], dynamics[7], dynamics[8], gain[7])):
        made["controller"] = trimmed(controller)
    if any(thermal := (dynamics[2], dynamics[3], 0.0, gain[2], gain[3], dynamics[4])):
        made["thermal"] = trimmed(thermal)
    if any(lugre := (dynamics[5], dynamics[6], *bias[3:6])):
        made["lugre"] = trimmed(lugre)
    if any(bias[:3]):
        made["cogging"] = trimmed(bias[:3])
    if one.inputs != ("voltage",):
        made["input"] = " ".join(one.inputs)
    return made


SHORTCUTS: dict[str, Callable[[Actuator], Text]] = {
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
