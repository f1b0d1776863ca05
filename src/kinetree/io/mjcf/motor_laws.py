"""How an actuator's force follows from its control: the shortcuts in terms of gain, bias and dynamics.

Each shortcut is lowered as MuJoCo's compiler lowers it. Its own attributes come from elements of the same tag in its
default classes; missing ones come from <general> elements there, if their gain is of the same type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.values import same, words
from kinetree.records import record

__all__ = ["Law", "law_of"]

_DYNAMICS = same("none", "integrator", "filter", "filterexact", "pid", "dcmotor", "muscle", "user")
_GAINS = same("fixed", "affine", "muscle", "dcmotor", "pid", "so3", "user")
_BIASES = same("none", "affine", "muscle", "dcmotor", "so3", "user")
_COUNT = 10
_UNIT = (1.0, *(0.0,) * (_COUNT - 1))
_ZERO = (0.0,) * _COUNT
_SETPOINTS = ("pos", "vel", "ff")
_CHARTS = ("expmap", "quat")
_MUSCLE = {
    "force": 2, "scale": 3, "lmin": 4, "lmax": 5, "vmax": 6, "fpmax": 7, "fvmax": 8,
}  # fmt: skip


@record(frozen=True, slots=True)
class Law:
    """Gain, bias and dynamics."""

    dynamics: str = "none"
    dynamics_parameters: tuple[float, ...] = _UNIT
    gain: str = "fixed"
    gain_parameters: tuple[float, ...] = _UNIT
    bias: str = "none"
    bias_parameters: tuple[float, ...] = _ZERO
    inputs: tuple[str, ...] = ()
    activation_size: int = -1
    """-1: as the dynamics have it."""
    acts_early: bool = False
    inherited_range: float = 0.0
    force_range: tuple[float, float] | None = None
    """The range of forces after a motor's saturation; None if it does not limit it."""


def law_of(element: Element, chain: Sequence[Element]) -> Law:
    """The law of an actuator with these defaults, the outermost first."""
    tag = element.tag
    if tag in ("general", "plugin"):
        last = next((k for k in reversed(range(len(chain))) if chain[k].tag not in ("general", "plugin")), None)
        if last is None:
            return _general(Attributes(element, chain), Law())
        base = law_of(chain[last], chain[:last])
        return _general(Attributes(element, chain[last + 1 :]), base)
    generals = [part for part in chain if part.tag == "general"]
    base = _general(Attributes(generals[-1], generals[:-1]), Law()) if generals else Law()
    return _LAWS[tag](Attributes(element, [one for one in chain if one.tag == tag]), base)


def _general(a: Attributes, base: Law) -> Law:
    gain = a.word("gaintype", _GAINS, base.gain)
    inputs = base.inputs if gain == base.gain else ()
    if "input" in a:
        text = a.text("input").split()
        inputs = tuple(text) if text in (["none"], ["expmap"], ["quat"]) else words(
            a, "input", (*_SETPOINTS, "voltage", "pressure"), ()
        )  # fmt: skip
    return Law(
        a.word("dyntype", _DYNAMICS, base.dynamics),
        a.numbers("dynprm", base.dynamics_parameters, least=1),
        gain,
        a.numbers("gainprm", base.gain_parameters, least=1),
        a.word("biastype", _BIASES, base.bias),
        a.numbers("biasprm", base.bias_parameters, least=1),
        inputs,
        a.whole("actdim", base.activation_size),
        a.flag("actearly", base.acts_early),
        a.number("inheritrange", base.inherited_range),
    )


def _padded(*values: float) -> tuple[float, ...]:
    return (*values, *(0.0,) * (_COUNT - len(values)))


def _not_negative(a: Attributes, attribute: str, default: float) -> float:
    value = a.number(attribute, default)
    if value < 0.0 and attribute in a:
        a.fail(f"{attribute} is {value:g}, but it cannot be negative", "bad-number")
    return value


def _damping(a: Attributes, default: float) -> float:
    """The third parameter of a servo's bias: minus kv, or the ratio of damping, whichever is given nearest."""
    if "kv" in a.element.attributes and "dampratio" in a.element.attributes:
        a.fail("it has both kv and dampratio, which give its damping twice; remove one of them", "conflict")
    kv, ratio = a.owner("kv"), a.owner("dampratio")
    if kv is None and ratio is None:
        return default
    if ratio is None or (kv is not None and a.is_nearer("kv", "dampratio")):
        return -_not_negative(a, "kv", 0.0)
    return _not_negative(a, "dampratio", 0.0)


def _motor(_a: Attributes, _base: Law) -> Law:
    return Law()


def _servo(a: Attributes, base: Law, dynamics: str, dynamics_parameters: tuple[float, ...], inputs: str) -> Law:
    is_alike = base.gain == "fixed"
    kp = a.number("kp", base.gain_parameters[0] if is_alike else 1.0)
    damping = _damping(a, base.bias_parameters[2] if is_alike else 0.0)
    return Law(
        dynamics,
        dynamics_parameters,
        "fixed",
        _padded(kp),
        "affine",
        _padded(0.0, -kp, damping),
        (inputs,),
        inherited_range=a.number("inheritrange", base.inherited_range),
    )


def _position(a: Attributes, base: Law) -> Law:
    dynamics, parameters = "none", _UNIT
    if "timeconst" in a:
        time = _not_negative(a, "timeconst", 0.0)
        dynamics, parameters = "filterexact" if time else "none", _padded(time)
    elif base.dynamics == "filterexact":
        dynamics, parameters = base.dynamics, _padded(base.dynamics_parameters[0])
    return _servo(a, base, dynamics, parameters, "pos")


def _intvelocity(a: Attributes, base: Law) -> Law:
    return _servo(a, base, "integrator", _UNIT, "vel")


def _velocity(a: Attributes, base: Law) -> Law:
    kv = a.number("kv", base.gain_parameters[0] if base.gain == "fixed" else 1.0)
    return Law(gain_parameters=_padded(kv), bias="affine", bias_parameters=_padded(0.0, 0.0, -kv), inputs=("vel",))


def _damper(a: Attributes, base: Law) -> Law:
    kv = _not_negative(a, "kv", -base.gain_parameters[2] if base.gain == "affine" else 0.0)
    return Law(gain="affine", gain_parameters=_padded(0.0, 0.0, -kv))


def _cylinder(a: Attributes, base: Law) -> Law:
    is_alike = base.gain == "fixed"
    area = a.number("area", base.gain_parameters[0] if is_alike else 1.0)
    if "diameter" in a and ("area" not in a or "diameter" in a.element.attributes or a.is_nearer("diameter", "area")):
        diameter = a.number("diameter")
        area = 0.25 * math.pi * diameter * diameter if diameter >= 0.0 else area
    time = a.number("timeconst", base.dynamics_parameters[0] if is_alike else 1.0)
    bias = a.numbers("bias", base.bias_parameters[:3] if is_alike else (0.0, 0.0, 0.0))
    return Law("filter", _padded(time), "fixed", _padded(area), "affine", _padded(*bias), ("pressure",))


def _muscle(a: Attributes, base: Law) -> Law:
    is_alike = base.gain == "muscle"
    gain = list(base.gain_parameters if is_alike else (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2, 0.0))
    dynamics = list(base.dynamics_parameters if is_alike else _padded(0.01, 0.04))
    for k, value in enumerate(a.numbers("range", (-1.0, -1.0))):
        gain[k] = value if value >= 0.0 else gain[k]
    for name, k in _MUSCLE.items():
        value = a.number(name, -1.0)
        gain[k] = value if value >= 0.0 else gain[k]
    for k, value in enumerate(a.numbers("timeconst", (-1.0, -1.0))):
        dynamics[k] = value if value >= 0.0 else dynamics[k]
    dynamics[2] = _not_negative(a, "tausmooth", dynamics[2])
    parameters = tuple(gain)
    return Law("muscle", tuple(dynamics), "muscle", parameters, "muscle", parameters)


def _adhesion(a: Attributes, base: Law) -> Law:
    return Law(
        gain_parameters=_padded(_not_negative(a, "gain", base.gain_parameters[0] if base.gain == "fixed" else 1.0))
    )


def _orientation(a: Attributes, base: Law) -> Law:
    is_alike = base.gain == "so3"
    kp = a.number("kp", base.gain_parameters[0] if is_alike else 1.0)
    damping = _damping(a, base.bias_parameters[2] if is_alike else 0.0)
    chart = a.word("input", same(*_CHARTS, ""), "") or "expmap"
    return Law(
        gain="so3", gain_parameters=_padded(kp), bias="so3", bias_parameters=_padded(0.0, -kp, damping), inputs=(chart,)
    )


def _pid(a: Attributes, base: Law) -> Law:
    is_alike = base.gain == "pid"
    kp = a.number("kp", -base.bias_parameters[1] if is_alike else 1.0)
    damping = _damping(a, base.bias_parameters[2] if is_alike else 0.0)
    was_pid = base.dynamics == "pid"
    ki = a.number("ki", base.gain_parameters[0] if was_pid else 0.0)
    largest = a.number("imax", base.dynamics_parameters[0] if was_pid else 0.0)
    slew = _not_negative(a, "slewmax", base.dynamics_parameters[1] if was_pid else 0.0)
    has_state = ki != 0.0 or slew != 0.0
    return Law(
        "pid" if has_state else "none",
        _padded(largest if ki else 0.0, slew),
        "pid",
        _padded(ki),
        "affine",
        _padded(0.0, -kp, damping),
        words(a, "input", _SETPOINTS, base.inputs if is_alike else ()) or ("pos", "vel"),
        (slew > 0.0) + (ki > 0.0) if has_state else -1,
        inherited_range=a.number("inheritrange", base.inherited_range),
    )


def _dcmotor(a: Attributes, base: Law) -> Law:
    is_alike = base.gain == "dcmotor"
    gain, bias, dynamics = (
        (base.gain_parameters, base.bias_parameters, base.dynamics_parameters) if is_alike else (_ZERO, _ZERO, _ZERO)
    )
    Kt, Ke = a.numbers("motorconst", (gain[1], 0.0), least=1)
    R = a.number("resistance", gain[0])
    voltage, stall, speed = a.numbers("nominal", (0.0, 0.0, 0.0), least=1)
    if voltage > 0.0 and Ke <= 0.0 and speed > 0.0:
        Ke = _back_emf(voltage, stall, speed, R, a.numbers("damping", (0.0, 0.0, 0.0), least=1)[0])
    K = math.sqrt(Kt * Ke) if Kt > 0.0 and Ke > 0.0 else Kt if Kt > 0.0 else Ke
    if R == 0.0 and voltage > 0.0 and stall > 0.0 and K > 0.0:
        R = K * voltage / stall
    text = a.text("input").split()
    inputs = ("none",) if text == ["none"] else words(a, "input", (*_SETPOINTS, "voltage"), ())
    inputs = inputs or (base.inputs if is_alike else ()) or ("voltage",)
    if K <= 0.0 and inputs != ("none",):
        a.fail(
            "its motor constant is not positive; give motorconst, or nominal with a voltage and a no-load speed",
            "bad-number",
        )
    if R <= 0.0:
        a.fail(
            "its resistance is not positive; give resistance, or nominal with a voltage and a stall torque",
            "bad-number",
        )
    kp, ki, kd, slew, largest, v_max = a.numbers(
        "controller", (gain[4], gain[5], gain[6], dynamics[7], dynamics[8], gain[7]), least=1
    )
    torque, current, rate = a.numbers("saturation", (0.0, 0.0, dynamics[1]), least=1)
    strongest = torque or K * max(current, 0.0)
    force_range = None
    if "saturation" in a:
        force_range = (-strongest, strongest) if strongest > 0.0 else (0.0, 0.0)
    L, time = a.numbers("inductance", (0.0, dynamics[0]), least=1)
    if L < 0.0 or time < 0.0:
        a.fail("inductance and its time constant cannot be negative", "bad-number")
    time = L / R if L > 0.0 else time
    cogging = a.numbers("cogging", bias[:3], least=1)
    resistance, capacity, constant, coefficient, reference, ambient = a.numbers(
        "thermal", (dynamics[2], dynamics[3], 0.0, gain[2], gain[3], dynamics[4]), least=1
    )
    is_thermal = resistance > 0.0 or capacity > 0.0 or constant > 0.0
    if is_thermal:
        if constant > 0.0 and resistance > 0.0:
            capacity = constant / resistance
        elif constant > 0.0 and capacity > 0.0:
            resistance = constant / capacity
        if resistance <= 0.0 or capacity <= 0.0:
            a.fail("thermal needs two of resistance, capacitance and time constant, all positive", "bad-number")
    else:
        resistance = capacity = coefficient = reference = ambient = 0.0
    lugre = a.numbers("lugre", (dynamics[5], dynamics[6], *bias[3:6]), least=1)
    lugre = lugre if lugre[0] > 0.0 else _ZERO[:5]
    size = sum((time > 0.0, slew > 0.0, ki > 0.0, is_thermal, lugre[0] > 0.0))
    return Law(
        "dcmotor",
        _padded(time, max(rate, 0.0), resistance, capacity, ambient, *lugre[:2], slew, largest),
        "dcmotor",
        _padded(R, K, coefficient, reference, kp, ki, kd, max(v_max, 0.0)),
        "dcmotor",
        _padded(*cogging, *lugre[2:]),
        inputs,
        size,
        acts_early=True,
        force_range=force_range,
    )


def _back_emf(voltage: float, stall: float, speed: float, R: float, damping: float) -> float:
    """The constant of the back-EMF from a motor's nominal voltage, stall torque and no-load speed."""
    plain = voltage / speed
    if damping > 0.0 and R > 0.0:
        discriminant = voltage * voltage - 4.0 * R * damping * speed * speed
        return (voltage + math.sqrt(discriminant)) / (2.0 * speed) if discriminant > 0.0 else plain
    if damping > 0.0 and stall > 0.0:
        exact = plain - voltage * damping / stall
        return exact if exact > 0.0 else plain
    return plain


_LAWS: dict[str, Callable[[Attributes, Law], Law]] = {
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
