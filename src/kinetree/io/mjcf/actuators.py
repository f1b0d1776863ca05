"""<actuator>: transmissions of actuators, their ranges, and the law of their force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.leftovers import as_it_is, note_actuator
from kinetree.io.mjcf.motor_laws import Law, law_of
from kinetree.io.mjcf.names import Names, Reference, read_sections
from kinetree.io.mjcf.scopes import Namespace, Scope
from kinetree.io.mjcf.settings import Settings
from kinetree.io.mjcf.tendons import only_joint, warn_of_armature
from kinetree.io.mjcf.values import INTERPOLATIONS, chosen, limited, polynomial, user_data
from kinetree.io.notes import Notes
from kinetree.model.extras import Actuator, Tendon
from kinetree.model.problems import Problems

__all__ = ["Origins", "activation_size", "damping_ratio", "read_actuators"]

_TRANSMISSIONS = {
    "joint": "joint", "jointinparent": "joint", "tendon": "tendon", "site": "site", "cranksite": "site", "body": "body",
}  # fmt: skip
"""The attributes that name an actuator's transmission, and the kind of each."""
_ZERO = (0.0, 0.0)

Pair = tuple[float, float]


class Origins(dict[int, tuple[int, Namespace]]):
    """The element, by its identity, and the namespace that each actuator is from, by the actuator's identity."""


def read_actuators(
    scope: Scope, names: Names, tendons: Sequence[Tendon], notes: Notes, problems: Problems, origins: Origins
) -> list[Actuator]:
    """All actuators, in their order; `origins` is filled."""
    by_name = {tendon.name: tendon for tendon in tendons}

    def read(element: Element, reference: Reference) -> Actuator:
        actuator = _actuator(element, reference, by_name)
        if actuator.transmission == "tendon" and only_joint(by_name[actuator.target]) is None:
            warn_of_armature(element, f"actuator on the tendon {actuator.target!r}", actuator.armature, notes)
        note_actuator(element, actuator, notes)
        origins[id(actuator)] = id(element), reference.space
        return actuator

    return read_sections(scope, "actuator", names, notes, read, problems)


def _actuator(element: Element, reference: Reference, tendons: Mapping[str, Tendon]) -> Actuator:
    scope = reference.scope
    chain = scope.defaults.of(element, "actuator")
    a, settings = Attributes(element, chain), scope.settings
    transmission, target, other = _transmission(a, reference)
    law = law_of(element, chain)
    if transmission == "joint" and law.gain == "so3" and _joint_type(reference.names, target) != "ball":
        a.fail(
            f"it turns a joint into an orientation, but {target!r} is not a ball joint; name one, or give refsite",
            "wrong-kind",
        )
    ratio, bias = damping_ratio(law)
    force_limited, force_range = _force(a, settings, law)
    control_limited, control_range = _controls(a, settings, law, transmission, target, reference.names, tendons)
    activation_limited, activation_range = _activation(a, settings, law, transmission, target, reference.names, tendons)
    samples, delay = a.whole("nsample"), a.number("delay")
    if delay > 0.0 and samples <= 0:
        a.fail(
            'it has a delay, which needs a buffer; add nsample="…", the number of samples that it holds',
            "missing-attribute",
        )
    plugin = as_it_is(element, keep=("plugin", "instance")) if element.tag == "plugin" else None
    damping, armature = polynomial(a, "damping"), a.number("armature")
    if transmission not in ("joint", "jointinparent", "tendon") and (any(damping) or armature):
        a.fail(
            "damping and armature are those of a joint or tendon; remove them, or let it act on one", "not-allowed-here"
        )
    name = reference.space.of(element.attributes.get("name", ""))
    reference.names.add("actuator", name, element)
    return Actuator(
        name,
        transmission,
        target,
        other,
        gear=a.numbers("gear", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), least=1),
        crank_length=a.number("cranklength"),
        kind=element.tag,
        dynamics=law.dynamics,
        dynamics_parameters=law.dynamics_parameters,
        gain=law.gain,
        gain_parameters=law.gain_parameters,
        bias=law.bias,
        bias_parameters=bias,
        damping_ratio=ratio,
        inputs=law.inputs,
        control_limited=control_limited,
        control_range=control_range,
        velocity_range=_pair(a, "velrange"),
        feedforward_range=_pair(a, "ffrange"),
        force_limited=force_limited,
        force_range=force_range,
        activation_limited=activation_limited,
        activation_range=activation_range,
        activation_size=activation_size(a, law),
        acts_early=law.acts_early,
        length_range=_pair(a, "lengthrange"),
        damping=damping,
        armature=armature,
        group=a.whole("group"),
        samples=samples,
        interpolation=a.word("interp", INTERPOLATIONS, "zoh"),
        delay=delay,
        user=user_data(a),
        plugin=plugin,
    )


def _pair(a: Attributes, attribute: str) -> Pair:
    low, high = a.numbers(attribute, _ZERO)
    return low, high


def _transmission(a: Attributes, reference: Reference) -> tuple[str, str, str]:
    """The actuator's transmission: its kind, its name, and the name of the other site if it has one."""
    names = [name for name in _TRANSMISSIONS if name in a.element.attributes]
    if not names:
        a.fail(
            'it acts on nothing; name what it acts on, such as joint="…", tendon="…" or site="…"', "missing-attribute"
        )
    if len(names) > 1:
        a.fail(f"it acts on two things, {names[0]} and {names[1]}; remove one of them", "conflict")
    attribute = names[0]
    for one, only in (("refsite", "site"), ("slidersite", "cranksite"), ("cranklength", "cranksite")):
        if one in a.element.attributes and attribute != only:
            a.fail(f"{one} goes with {only}, but it acts on a {attribute}; remove it", "not-allowed-here")
    target = reference(a, attribute, _TRANSMISSIONS[attribute], alone=True)
    if attribute == "cranksite":
        if "slidersite" not in a:
            a.fail('a slider-crank needs the site of its slider; add slidersite="…"', "missing-attribute")
        if a.number("cranklength") <= 0.0:
            a.fail("a slider-crank needs a rod; give cranklength, a positive length", "bad-number")
        return "slidercrank", target, reference(a, "slidersite", "site", alone=True)
    other = reference(a, "refsite", "site", alone=True) if "refsite" in a else ""
    return attribute, target, other


def _joint_type(names: Names, joint: str) -> str:
    part = names.joints[joint][0]
    return "free" if part.element.tag == "freejoint" else part.attributes.text("type", "hinge")


def damping_ratio(law: Law) -> tuple[float | None, tuple[float, ...]]:
    """A servo's ratio of damping, which is stored in its bias as a positive number, and the bias without it."""
    bias, kp = law.bias_parameters, law.gain_parameters[0]
    if bias[2] <= 0.0 or law.gain not in ("fixed", "pid", "so3") or (law.gain != "pid" and kp != -bias[1]):
        return None, bias
    return bias[2], (*bias[:2], 0.0, *bias[3:])


def _force(a: Attributes, settings: Settings, law: Law) -> tuple[bool, Pair]:
    if law.force_range is not None:
        return any(law.force_range), law.force_range
    if a.element.tag != "dcmotor" and law.gain != "dcmotor":
        return limited(a, settings, "forcelimited", "forcerange")
    bounds = _pair(a, "forcerange")
    return chosen(a, settings, "forcelimited", "forcerange", bounds), bounds


def _controls(
    a: Attributes, settings: Settings, law: Law, transmission: str, target: str, names: Names,
    tendons: Mapping[str, Tendon],
) -> tuple[bool, Pair]:  # fmt: skip
    attribute = "posrange" if "posrange" in a and not a.is_nearer("ctrlrange", "posrange") else "ctrlrange"
    bounds = _pair(a, attribute)
    if law.dynamics != "integrator" and _inherits(a, law, attribute):
        bounds = _inherited(a, law, transmission, target, names, tendons)
    if a.element.tag in ("damper", "adhesion"):
        if min(bounds) < 0.0:
            a.fail(
                f"the control of this actuator cannot be negative, but its ctrlrange is {bounds[0]:g} to {bounds[1]:g}",
                "bad-limits",
            )
        if bounds[0] >= bounds[1]:
            a.fail(f'a <{a.element.tag}> needs a ctrlrange, such as ctrlrange="0 1"; add it', "bad-limits")
        return True, bounds
    return chosen(a, settings, "ctrllimited", attribute, bounds), bounds


def _activation(
    a: Attributes, settings: Settings, law: Law, transmission: str, target: str, names: Names,
    tendons: Mapping[str, Tendon],
) -> tuple[bool, Pair]:  # fmt: skip
    bounds = _pair(a, "actrange")
    if law.dynamics == "integrator" and _inherits(a, law, "actrange"):
        bounds = _inherited(a, law, transmission, target, names, tendons)
    if law.gain == "dcmotor":
        return False, bounds
    is_limited = chosen(a, settings, "actlimited", "actrange", bounds)
    if is_limited and law.dynamics == "none" and a.element.tag != "plugin":
        a.fail(
            'it has actrange, but no activation: its dyntype is "none"; remove actrange, or give it dynamics',
            "conflict",
        )
    return is_limited, bounds


def _inherits(a: Attributes, law: Law, attribute: str) -> bool:
    """Whether a range is inherited from the actuator's joint or tendon, and not given nearer to it."""
    if law.inherited_range <= 0.0 or not _is_servo(law):
        return False
    return a.one_of((attribute, "inheritrange")) == "inheritrange"


def _is_servo(law: Law) -> bool:
    """Whether its control is a coordinate of its joint or tendon, so that the range of that is its range."""
    if law.bias != "affine":
        return False
    return law.gain == "pid" or (law.gain == "fixed" and law.gain_parameters[0] == -law.bias_parameters[1])


def _inherited(
    a: Attributes, law: Law, transmission: str, target: str, names: Names, tendons: Mapping[str, Tendon]
) -> Pair:
    """The range of the joint or tendon it acts on, times a number."""
    low = high = 0.0
    if transmission == "joint":
        part = names.joints[target][0]
        if _joint_type(names, target) not in ("hinge", "slide"):
            a.fail(
                f"inheritrange needs the range of a hinge or slide joint, and {target!r} is another; give ctrlrange",
                "wrong-kind",
            )
        low, high = _pair(part.attributes, "range")
        if _joint_type(names, target) == "hinge":
            low, high = part.scope.settings.radians(low), part.scope.settings.radians(high)
    elif transmission == "tendon":
        low, high = tendons[target].range
    else:
        a.fail(
            "inheritrange needs a joint or tendon with a range, and it acts on neither; give ctrlrange", "wrong-kind"
        )
    if low == high:
        a.fail(
            f"inheritrange needs a range of {target!r}, which has none; give it one, or give ctrlrange here",
            "bad-limits",
        )
    middle, radius = 0.5 * (high + low), 0.5 * (high - low) * law.inherited_range
    return middle - radius, middle + radius


def activation_size(a: Attributes, law: Law) -> int:
    """How many numbers its activation has."""
    size, dynamics = law.activation_size, law.dynamics
    if a.element.tag == "plugin":
        return max(size, 0 if dynamics == "none" else 1)
    if law.gain == "so3" and dynamics == "integrator":
        return 3
    if dynamics == "pid":
        parameters = law.dynamics_parameters
        return (parameters[1] > 0.0) + (law.gain_parameters[0] > 0.0)
    if dynamics == "dcmotor" and size < 0:
        p = law.dynamics_parameters
        return sum((p[0] > 0.0, p[7] > 0.0, law.gain_parameters[5] > 0.0, p[2] > 0.0, p[5] > 0.0))
    if size < 0:
        return int(dynamics != "none")
    if size > 1 and dynamics not in ("user", "dcmotor"):
        a.fail(f'actdim is {size}, but an activation of several numbers needs dyntype="user"', "conflict")
    if size == 1 and dynamics == "none":
        a.fail('actdim is 1, but it has no activation: its dyntype is "none"', "conflict")
    if size == 0 and dynamics not in ("none", "dcmotor"):
        a.fail(f'actdim is 0, but dyntype="{dynamics}" has an activation; remove actdim', "conflict")
    return size
