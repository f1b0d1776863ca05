"""Features of MJCF files' actuators that are not computed here."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.errors import OptionError, quoted
from kinetree.model.extras import Actuator, Tendon

__all__ = ["refuse_unknown"]

_GAINS, _BIASES = ("fixed", "affine"), ("none", "affine")
_DYNAMICS = ("none", "integrator", "filter", "filterexact")
_TRANSMISSIONS = {
    "body": "adhesion, the transmission that is a body's contacts",
}


def refuse_unknown(robot: str, number: int, one: Actuator, tendon: Tendon | None) -> None:
    """Raise an error that names the unsupported feature of an actuator."""
    for feature in _unknown(one, tendon):
        who = quoted(one.name) if one.name else f"number {number}"
        raise OptionError(
            f"{robot!r}: the actuator {who} ({one.kind}) has {feature}, which is not computed; give it a fixed or "
            "affine gain and bias on joints, fixed tendons or sites, or compute its force yourself and give it as tau"
        )


def _unknown(one: Actuator, tendon: Tendon | None) -> Iterator[str]:
    if one.plugin is not None or one.kind == "plugin":
        yield "a plugin"
    if one.transmission in _TRANSMISSIONS:
        yield _TRANSMISSIONS[one.transmission]
    if tendon is not None and tendon.kind != "fixed":
        yield f"a spatial tendon, {tendon.name!r},"
    if one.dynamics == one.gain == one.bias == "muscle":
        yield from _of_muscles(one)
        return
    for word, known, what in (
        (one.dynamics, _DYNAMICS, "dynamics"), (one.gain, _GAINS, "a gain"), (one.bias, _BIASES, "a bias")
    ):  # fmt: skip
        if word not in known:
            yield f"{what} of the kind {word!r}"
    if one.activation_size != int(one.dynamics != "none"):
        yield f"an activation of {one.activation_size} numbers"
    if one.delay:
        yield "a delay of its control"


def _of_muscles(one: Actuator) -> Iterator[str]:
    if one.length_range == (0.0, 0.0):
        yield "no lengthrange, which MuJoCo finds by simulation,"
    if one.gain_parameters[:9] != one.bias_parameters[:9]:
        yield "other parameters of its gain than of its bias"
    if one.acts_early:
        yield "a muscle that acts early"
    if one.delay:
        yield "a delay of its control"
