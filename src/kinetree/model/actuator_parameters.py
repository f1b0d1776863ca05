"""Numbers of a robot's actuators by name.

    actuator.NAME.kp                ()      stiffness of a position servo
    actuator.NAME.kd                ()      damping of a position or velocity servo
    actuator.NAME.gain_parameters   (3,)    force per control: constant, per length, per velocity
    actuator.NAME.bias_parameters   (3,)    force without control: constant, per length, per velocity
    actuator.NAME.gear              ()      length per coordinate: of a joint with one, a tendon or a slider-crank
    actuator.NAME.force_range       (2,)    smallest and largest force, where it is limited

A servo's kp is -∂f/∂ℓ: its gain and bias are scaled with it, so that each control means the position it meant before.
Its kd is -∂f/∂ℓ̇; that of a velocity servo is its gain as well. NAME is that of the file; without one its number there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kinetree.display import registered
from kinetree.expr import Scalar
from kinetree.model.checks.parts import hint
from kinetree.model.extras import Actuator
from kinetree.model.robot import Robot
from kinetree.records import record

__all__ = [
    "ActuatorOf",
    "find_actuator",
    "given_law",
    "names_of_actuators",
    "no_such_actuator",
    "nominal_of_actuator",
    "overlapping",
]

Three = tuple[Scalar, Scalar, Scalar]
_SCALAR = ("joint", "jointinparent", "tendon", "slidercrank")


@record(frozen=True, slots=True)
class ActuatorOf:
    """An actuator, by its number in the file."""

    number: int
    settings: Actuator


def names_of_actuators(model: Robot) -> Iterator[str]:
    """The names of all parameters of actuators."""
    for name, one in _named(model).items():
        yield from (f"actuator.{name}.{quantity}" for quantity in _quantities(model, one.settings))


def find_actuator(model: Robot, name: str, quantity: str) -> tuple[ActuatorOf, tuple[int, ...]] | None:
    """The actuator of this name, and the size of one of its quantities, if it has it."""
    one = _named(model).get(name)
    sizes = {} if one is None else _quantities(model, one.settings)
    return None if one is None or quantity not in sizes else (one, sizes[quantity])


def no_such_actuator(model: Robot, name: str, quantity: str) -> str:
    """A message about an unknown name, with the closest ones."""
    known = _named(model)
    if name not in known:
        return f"there is no actuator {name!r}; {hint(name, known)}"
    one, why = known[name].settings, ""
    if quantity in ("kp", "kd", "kv"):
        why = "kv is called kd; " if quantity == "kv" and _is_servo(one) else f"it is no {_SERVOS[quantity]} servo; "
    elif quantity == "force_range":
        why = "its force is not limited; "
    elif quantity == "gear":
        why = "its gear is an axis; "
    return f"{why}the actuator {name!r} ({one.kind}) has {', '.join(_quantities(model, one)) or 'none'}"


def nominal_of_actuator(model: Robot, one: ActuatorOf, quantity: str) -> Sequence[Scalar]:
    """The numbers of the file, and the damping of a servo whose file gives the ratio to the critical one."""
    settings = one.settings
    if quantity == "gear":
        return settings.gear[:1]
    if quantity == "force_range":
        return settings.force_range
    if quantity == "gain_parameters":
        return _own_gain(settings)
    c0, c1, c2 = _own_bias(settings)
    if settings.damping_ratio is not None and quantity in ("kd", "bias_parameters"):
        c2 = -registered("damping_of_servo")(model, one.number)
    return {"kp": (-c1,), "kd": (-c2,)}.get(quantity, (c0, c1, c2))


def overlapping(names: Sequence[str]) -> tuple[str, str] | None:
    """Two of these names that say the same number of an actuator."""
    for name in names:
        owner, _, quantity = name.rpartition(".")
        if owner.startswith("actuator.") and quantity in ("kp", "kd"):
            for other in (f"{owner}.gain_parameters", f"{owner}.bias_parameters"):
                if other in names:
                    return name, other
    return None


def given_law(one: Actuator, gain: Three, bias: Three, given: Mapping[str, Sequence[Scalar]]) -> tuple[Three, Three]:
    """Gain and bias of an actuator with the numbers that are given; `gain` and `bias` are its own."""
    if "gain_parameters" in given:
        gain = _three(given["gain_parameters"])
    if "bias_parameters" in given:
        bias = _three(given["bias_parameters"])
    if "kp" in given:
        (kp,), (own, c0, c1) = given["kp"], (_own_gain(one)[0], *_own_bias(one)[:2])
        part = own / -c1 if c1 else 1.0
        gain = (part * kp, 0.0, 0.0)
        bias = ((c0 / -c1) * kp if c0 else 0.0, -kp, bias[2])
    if "kd" in given:
        (kd,) = given["kd"]
        gain = gain if _is_position_servo(one) else (kd, 0.0, 0.0)
        bias = (bias[0], bias[1], -kd)
    return gain, bias


_SERVOS = {"kp": "position", "kd": "position or velocity", "kv": "position or velocity"}


def _named(model: Robot) -> dict[str, ActuatorOf]:
    return {one.name or str(k): ActuatorOf(k, one) for k, one in enumerate(model.extras.actuators)}


def _quantities(model: Robot, one: Actuator) -> Mapping[str, tuple[int, ...]]:
    sizes: dict[str, tuple[int, ...]] = {}
    if one.gain in ("fixed", "affine") and one.bias in ("none", "affine"):
        sizes = {"gain_parameters": (3,), "bias_parameters": (3,)}
        if _is_servo(one):
            sizes = {**({"kp": ()} if _is_position_servo(one) else {}), "kd": (), **sizes}
    has_joint = one.target in model.joints and one.transmission in ("joint", "jointinparent")
    if one.transmission in _SCALAR and (not has_joint or model.joints[one.target].kind.nv == 1):
        sizes["gear"] = ()
    return {**sizes, "force_range": (2,)} if one.force_limited else sizes


def _is_position_servo(one: Actuator) -> bool:
    """Whether its force is that of a spring between a position, which the control says, and the length."""
    is_so = one.gain == "fixed" and one.bias == "affine"
    c1 = one.bias_parameters[1]
    return is_so and (c1 < 0.0 < one.gain_parameters[0] or (one.kind == "position" and c1 == one.gain_parameters[0]))


def _is_servo(one: Actuator) -> bool:
    _, c1, c2 = one.bias_parameters[:3]
    is_so = one.gain == "fixed" and one.bias == "affine" and c1 == 0.0 and one.gain_parameters[0] == -c2
    return _is_position_servo(one) or (is_so and (c2 < 0.0 or one.kind == "velocity"))


def _own_gain(one: Actuator) -> tuple[float, float, float]:
    c0, c1, c2 = one.gain_parameters[:3]
    return (c0, c1, c2) if one.gain == "affine" else (c0, 0.0, 0.0)


def _own_bias(one: Actuator) -> tuple[float, float, float]:
    c0, c1, c2 = one.bias_parameters[:3]
    return (c0, c1, c2) if one.bias == "affine" else (0.0, 0.0, 0.0)


def _three(numbers: Sequence[Scalar]) -> Three:
    c0, c1, c2 = numbers
    return c0, c1, c2
