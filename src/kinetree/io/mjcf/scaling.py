"""Elements in frames that are scaled: their numbers, by the dimension of each."""

from __future__ import annotations

import math

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.records import record

__all__ = ["UNSCALED", "Scale", "scale_of", "scaled"]

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
"""The dimensions of the numbers of each attribute, the last of which stands for all that follow: L and M are factors of
lengths and masses, l and m those of them that forces follow as well."""
_DEFAULTS = {
    "geom": {"density": "1000", "friction": "1 0.005 0.0001", "solimp": "0.9 0.95 0.001 0.5 2"},
    "site": {"size": "0.005 0.005 0.005"},
    "camera": {"ipd": "0.068"},
    "slide": {"solimplimit": "0.9 0.95 0.001 0.5 2", "solimpfriction": "0.9 0.95 0.001 0.5 2"},
}
"""What is scaled though it is not written."""
_SITE_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2}
_REFUSED = {
    "geom": ("mesh", "hfield", "adhesion", "surfacevel"),
    "site": ("mesh",),
}


@record(frozen=True, slots=True)
class Scale:
    """What the frames around an element multiply its numbers with."""

    length: float = 1.0
    mass: float = 1.0
    force_length: float = 1.0
    """The factor of lengths by which forces are scaled as well."""
    force_mass: float = 1.0

    def factor(self, dimension: str) -> float:
        """The factor of a dimension such as MLL or 1/L."""
        above, _, below = dimension.partition("/")
        known = {"L": self.length, "M": self.mass, "l": self.force_length, "m": self.force_mass, "1": 1.0}
        return math.prod(known[letter] for letter in above) / math.prod(known[letter] for letter in below)


UNSCALED = Scale()


def scale_of(element: Element, around: Scale) -> Scale:
    """The scale in a frame."""
    a = Attributes(element)
    words = a.text("scale", "1").split()
    factors = a.numbers("scale", (1.0, 1.0, 1.0), least=1)
    if len(words) == 1:
        factors = (factors[0],) * 3
    elif len(words) == 2:
        element.fail("scale holds 2 numbers, but 1 or 3 must stand there", "bad-number")
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
    held = [name for name in _REFUSED.get(tag, ()) if name in a and a.text(name) != "none"]
    if held or kind in ("mesh", "hfield", "sdf") or tag in ("flexcomp", "plugin", "tactile"):
        what = f"with {held[0]}" if held else f"of the type {kind}" if tag in ("geom", "site") else f"<{tag}>"
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
        made = Element(element.tag, attributes, element.line, element.parent, element.file)
        made.children, made.content = element.children, element.content
        return made

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
    """Numbers times the factors of their dimensions; numbers that are not finite stay as they are, and are refused later."""
    factors = [scale.factor(one) for one in dimensions.split()]
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return text
    if not all(map(math.isfinite, values)):
        return text
    return " ".join(repr(x * factors[min(k, len(factors) - 1)]) for k, x in enumerate(values))
