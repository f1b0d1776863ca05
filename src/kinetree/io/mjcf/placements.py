"""Orientations in MJCF's five spellings, and the placements they are part of; elements in frames that are scaled.

In these, the numbers of an element are scaled by the dimension of each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.settings import Settings
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.rotations import from_axis_angle

__all__ = [
    "SPELLINGS",
    "UNSCALED",
    "Scale",
    "along_z",
    "from_euler",
    "from_quaternion",
    "orientation",
    "placed",
    "placement",
    "quaternion_of",
    "scale_of",
    "scaled",
]

SPELLINGS = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}
"""The attributes for orientations, and how many numbers each has."""
_SHORT = 1e-7
"""MuJoCo takes vectors shorter than this as zero."""
_IDENTITY = Mat3.identity()
_ORIGIN = (0.0, 0.0, 0.0)
_POSE = {"pos": "L"}
_LINEAR = {
    "armature": "m", "damping": "m m/l m/ll", "stiffness": "m m/l m/ll", "frictionloss": "ml", "actuatorfrcrange": "ml",
    "range": "L", "ref": "L", "springref": "L", "margin": "L", "springyield": "L", "solimplimit": "1 1 L 1 1",
    "solimpfriction": "1 1 L 1 1",
}  # fmt: skip
_TURNING = dict.fromkeys(("armature", "damping", "stiffness", "frictionloss", "actuatorfrcrange"), "mll")
_GEOM = {
    **_POSE, "size": "L", "fromto": "L", "mass": "M", "density": "M/LLL", "friction": "1 L L", "margin": "L",
    "gap": "L", "solimp": "1 1 L 1 1",
}  # fmt: skip
_DIMENSIONS = {
    "body": _POSE,
    "frame": _POSE,
    "replicate": {"offset": "L"},
    "inertial": {**_POSE, "mass": "M", "diaginertia": "MLL", "fullinertia": "MLL"},
    "geom": _GEOM,
    "camera": {**_POSE, "ipd": "L", "focal": "L", "principal": "L", "sensorsize": "L"},
    "light": {**_POSE, "bulbradius": "L", "range": "L", "attenuation": "1 1/L 1/LL"},
}
"""The dimensions of the numbers of each attribute; the last one stands for all that follow: L and M are factors of
lengths and masses, l and m those of them that forces follow as well."""
_DEFAULTS = {
    "geom": {"density": "1000", "friction": "1 0.005 0.0001", "solimp": "0.9 0.95 0.001 0.5 2"},
    "site": {"size": "0.005 0.005 0.005"},
    "camera": {"ipd": "0.068"},
    "slide": {"solimplimit": "0.9 0.95 0.001 0.5 2", "solimpfriction": "0.9 0.95 0.001 0.5 2"},
}
"""Defaults that are scaled though they are not written."""
_SITE_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2}
_REFUSED = {
    "geom": ("mesh", "hfield", "adhesion", "surfacevel"),
    "site": ("mesh",),
}


def placed(R: Mat3, r: Sequence[float] = _ORIGIN) -> Transform:
    """The placement whose axes are the columns of R, and whose origin is r."""
    return Transform(R.T, Vec3(*r))


def placement(a: Attributes, settings: Settings, position: str = "pos") -> Transform:
    """The placement of an element relative to the one around it, from its attributes."""
    return placed(orientation(a, settings), a.numbers(position, _ORIGIN))


def orientation(a: Attributes, settings: Settings) -> Mat3:
    """The rotation whose columns are the axes of an element.

    An element has at most one spelling, which replaces that of its defaults.
    """
    name = a.one_of(SPELLINGS)
    if name is None:
        return _IDENTITY
    values = a.numbers(name, (0.0,) * SPELLINGS[name])
    if name == "quat":
        if math.hypot(*values) < _SHORT:
            a.fail(
                "its quaternion has length zero, which is not an orientation; quat is w x y z, such as 1 0 0 0",
                "bad-placement",
            )
        return from_quaternion(values)
    if name == "axisangle":
        return _about(_unit(values[:3], a, name), settings.radians(values[3]))
    if name == "xyaxes":
        return _from_axes(values, a)
    if name == "zaxis":
        return along_z(_unit(values, a, name))
    return from_euler(values, settings)


def from_quaternion(wxyz: Sequence[float]) -> Mat3:
    """The rotation of a quaternion, which need not have length one; w comes first."""
    length = math.hypot(*wxyz)
    w, x, y, z = (c / length for c in wxyz)
    return _rows(
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


def from_euler(angles: Sequence[float], settings: Settings) -> Mat3:
    """Rotations in sequence, about axes that turn with the frame (small letters) or stay (capitals)."""
    R = _IDENTITY
    for angle, letter in zip(angles, settings.euler_sequence, strict=True):
        axis = [0.0, 0.0, 0.0]
        axis["xyz".index(letter.lower())] = 1.0
        turn = _about(axis, settings.radians(angle))
        R = R.times(turn) if letter.islower() else turn.times(R)
    return R


def along_z(direction: Sequence[float]) -> Mat3:
    """The smallest rotation that turns the z axis into a direction of length one."""
    x, y, z = direction
    sine = math.hypot(x, y)
    axis = (-y / sine, x / sine, 0.0) if sine >= 1e-10 else (1.0, 0.0, 0.0)
    return _about(axis, math.atan2(sine, z))


def _about(axis: Sequence[float], angle: float) -> Mat3:
    return from_axis_angle(Vec3(*axis), angle)


def _from_axes(values: Sequence[float], a: Attributes) -> Mat3:
    x = _unit(values[:3], a, "the x axis of xyaxes")
    along = sum(p * q for p, q in zip(x, values[3:], strict=True))
    y = _unit([q - along * p for p, q in zip(x, values[3:], strict=True)], a, "the y axis of xyaxes")
    z = (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
    return _rows(x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


def _rows(*e: float) -> Mat3:
    return Mat3(Vec3(*e[:3]), Vec3(*e[3:6]), Vec3(*e[6:]))


def _unit(vector: Sequence[float], a: Attributes, what: str) -> tuple[float, ...]:
    length = math.hypot(*vector)
    if length < _SHORT:
        a.fail(f"{what} is too short for a direction: {' '.join(f'{x:g}' for x in vector)}", "bad-axis")
    return tuple(x / length for x in vector)


def quaternion_of(R: Mat3) -> tuple[float, float, float, float]:
    """The quaternion w x y z of a rotation, with w not negative."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = map(float, R.components())
    squares = (1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz)
    largest = max(range(4), key=squares.__getitem__)
    s = math.sqrt(squares[largest])
    rows = (
        (s, (zy - yz) / s, (xz - zx) / s, (yx - xy) / s),
        ((zy - yz) / s, s, (xy + yx) / s, (xz + zx) / s),
        ((xz - zx) / s, (xy + yx) / s, s, (yz + zy) / s),
        ((yx - xy) / s, (xz + zx) / s, (yz + zy) / s, s),
    )
    w, x, y, z = (0.5 * c for c in rows[largest])
    return (w, x, y, z) if w >= 0.0 else (-w, -x, -y, -z)


@record(frozen=True, slots=True)
class Scale:
    """The factors of an element's numbers from the frames around it."""

    length: float = 1.0
    mass: float = 1.0
    force_length: float = 1.0
    """The factor of lengths by which forces are scaled as well."""
    force_mass: float = 1.0

    def factor(self, dimension: str) -> float:
        """The factor of a dimension such as MLL or 1/L."""
        above, _, below = dimension.partition("/")
        factors = {"L": self.length, "M": self.mass, "l": self.force_length, "m": self.force_mass, "1": 1.0}
        return math.prod(factors[letter] for letter in above) / math.prod(factors[letter] for letter in below)


UNSCALED = Scale()


def scale_of(element: Element, around: Scale) -> Scale:
    """The scale in a frame."""
    a = Attributes(element)
    words = a.text("scale", "1").split()
    factors = a.numbers("scale", (1.0, 1.0, 1.0), least=1)
    if len(words) == 1:
        factors = (factors[0],) * 3
    elif len(words) == 2:
        element.fail("scale holds 2 numbers; expected 1 or 3", "bad-number")
    length, mass = factors[0], a.number("massscale")
    if min(factors) <= 0.0 or mass < 0.0:
        element.fail("scale and massscale cannot be negative, and a scale cannot be zero")
    is_similar = a.word("scaling", {"similar": True, "geometry": False}, True)
    if len(set(factors)) > 1:
        if is_similar:
            element.fail('a scale of three numbers that are not the same needs scaling="geometry"', "conflict")
        element.fail(
            "scales that are not the same in all directions are not read yet: scale the numbers inside by hand, or "
            "load and save the file with MuJoCo",
            "not-allowed-here",
        )
    if length == 1.0 and mass in (0.0, 1.0):
        return around
    mass = mass or length**3
    if not is_similar:
        return Scale(around.length * length, around.mass * mass, around.force_length, around.force_mass)
    return Scale(
        around.length * length, around.mass * mass, around.force_length * length, around.force_mass * mass
    )  # fmt: skip


def scaled(a: Attributes, tag: str, scale: Scale) -> Attributes:
    """The attributes of an element as they are in frames of this scale."""
    if scale is UNSCALED:
        return a
    kind = a.text("type", "hinge" if tag == "joint" else "sphere")
    names = [name for name in _REFUSED.get(tag, ()) if name in a and a.text(name) != "none"]
    if names or kind in ("mesh", "hfield", "sdf") or tag in ("flexcomp", "plugin", "tactile"):
        what = f"with {names[0]}" if names else f"of the type {kind}" if tag in ("geom", "site") else f"<{tag}>"
        a.fail(
            f"elements {what} in a frame with scale or massscale are not read yet: scale them by hand, or load and "
            "save the file with MuJoCo",
            "not-allowed-here",
        )
    dimensions = _dimensions(tag, kind)
    if tag == "geom" and a.flag("shellinertia"):
        dimensions = {**dimensions, "density": "M/LL"}
    if not dimensions:
        return a
    base = _DEFAULTS.get("slide" if tag == "joint" and kind == "slide" else tag, {})

    def change(element: Element) -> Element:
        attributes = {
            name: _times(text, dimensions[name], scale) if name in dimensions else text
            for name, text in element.attributes.items()
        }
        copy = Element(element.tag, attributes, element.line, element.parent, element.file)
        copy.children, copy.content = element.children, element.content
        return copy

    unwritten = Element(a.element.tag, dict(base), a.element.line, a.element.parent, a.element.file)
    return a.changed(change, unwritten)


def _dimensions(tag: str, kind: str) -> dict[str, str]:
    if tag == "joint":
        if kind == "free":
            return {}
        return {**_POSE, **(_LINEAR if kind == "slide" else _TURNING)}
    if tag == "site":
        count = _SITE_SIZES.get(kind, 3)
        return {**_POSE, "fromto": "L", "size": " ".join(["L"] * count + ["1"])}
    return _DIMENSIONS.get(tag, {})


def _times(text: str, dimensions: str, scale: Scale) -> str:
    """Numbers times the factors of their dimensions; those that are not finite stay, and are rejected later."""
    factors = [scale.factor(one) for one in dimensions.split()]
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return text
    if not all(map(math.isfinite, values)):
        return text
    return " ".join(repr(x * factors[min(k, len(factors) - 1)]) for k, x in enumerate(values))
