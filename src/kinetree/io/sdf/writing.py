"""Robots as SDF 1.11: every number that the format has a place for, and a sentence on everything else.

Each joint is placed in its parent, each link in the joint that moves it, so that the numbers in the file are those of
the robot. A root that is fixed is held by a fixed joint on the world; one that floats has no joint.
"""

from __future__ import annotations

import math
from dataclasses import replace

from kinetree.errors import listed
from kinetree.io.chains import distinct_names, free_name
from kinetree.io.decimals import about_center_of_mass, roll_pitch_yaw
from kinetree.io.fit_inertias import moments_of, with_fit_inertias
from kinetree.io.free_on_world import with_free_joints_on_world
from kinetree.io.losses import Losses
from kinetree.io.sdf.writing_gearboxes import write_gearbox
from kinetree.io.sdf.writing_joints import has_word, write_joint
from kinetree.io.substitutes import with_substitutes
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import Fixed, Free, Placed
from kinetree.model.checks.masses import check_inertias
from kinetree.model.elements import Geometry
from kinetree.model.specs import JointSpec, LinkSpec, Parts
from kinetree.spatial import Inertia, Sym3, Transform, Vec3

__all__ = ["write_sdf"]

_VERSION = "1.11"
_GRAVITY = (0.0, 0.0, -9.81)
_WORLD = "world"
_HERE = Transform.identity()
_TOLERANCE = 0.9e-6
"""How far, relative to the largest, principal moments may violate the conditions of a body: less than readers allow."""
_NOISE = 1e-14
"""The size of rounding errors, relative to the entries about the origin, and to the mass times 1 m²."""


def write_sdf(parts: Parts, losses: Losses) -> str:
    """The text of an SDF file with these parts; anything it cannot hold goes into `losses`."""
    substituted = with_substitutes(with_free_joints_on_world(parts, losses), losses, has_word)
    fit = with_fit_inertias(substituted, losses, _is_refused, ", which SDF calls invalid")
    return _Writer(fit, losses).document()


def _is_refused(inertia: Inertia) -> bool:
    """Whether readers call it invalid, were it written.

    Far from the body's frame, rounding may spoil the entries about the centre of mass, which are those of the file.
    """
    if _is_point(inertia):
        return False
    _, I = about_center_of_mass(inertia)
    a, b, c = moments_of(Inertia(0.0, Vec3.zero(), I))
    allowed = _TOLERANCE * max(abs(float(x)) for x in I.components())
    return a < -allowed or c > a + b + allowed


def _is_point(inertia: Inertia) -> bool:
    """Whether it is a point mass, to rounding."""
    mass = float(inertia.mass)
    noise = _NOISE * (max(abs(float(x)) for x in inertia.I.components()) + mass)
    return mass > 0.0 and max(map(abs, moments_of(inertia))) <= noise


class _Writer:
    def __init__(self, parts: Parts, losses: Losses) -> None:
        self._parts = parts
        self._losses = losses
        self._above = {joint.child: joint for joint in parts.joints}
        self._root = next(link for link in parts.links if link.name not in self._above)
        self._on_world = self._root.name == _WORLD and not parts.floating_base
        """Whether the root is the world, which is not a link in SDF."""
        self._names = {link.name for link in parts.links} | {frame.name for frame in parts.frames}
        self._joint_names: dict[str, str] = {}
        self._plain_names: set[str] = set()

    def document(self) -> str:
        parts = self._parts
        self._check_names()
        self._check_inertias()
        sdf = Tag("sdf", version=_VERSION)
        if any(any(joint.armature) for joint in parts.joints):
            sdf.attributes["xmlns:drake"] = "http://drake.mit.edu"
        if parts.gravity != _GRAVITY:
            self._losses.lost.append(
                f"gravity is ({', '.join(map(shown_number, parts.gravity))}), which is a world's in SDF and not a "
                "model's: readers take (0, 0, -9.81), or that of the world they put it in"
            )
        model = sdf.add("model", name=parts.name)
        if self._on_world:
            self._lose_world()
        for link in parts.links:
            if link is not self._root or not self._on_world:
                self._link(model, link)
        if not parts.floating_base and not self._on_world:
            self._hold(model)
        for joint in parts.joints:
            self._joint(model, joint)
        for frame in parts.frames:
            if self._on_world and frame.body == _WORLD:
                self._losses.lost.append(
                    f"frame {frame.name!r} is on the world, and frames of a model are on its links in SDF"
                )
                continue
            element = model.add("frame", name=frame.name, attached_to=frame.body)
            _write_pose(element, frame.placement)
        joints = {joint.name: joint for joint in parts.joints}
        for coupling in parts.couplings:
            write_gearbox(model, coupling, joints, self._above, self._joint_names, self._names, self._losses)
        self._losses.lose_extras(parts.extras, unneeded=("safety_limits", "calibrations"))
        return sdf.document()

    def _lose_world(self) -> None:
        """Lose objects on the world, which a model only names."""
        root = self._root
        if len(self._parts.links) == 1:
            self._losses.impossible.append("the robot has no body but the world, and a model in SDF needs a link")
        if root.geometry:
            names = listed(repr(shape.name) if shape.name else f"a {shape.shape}" for shape in root.geometry)
            self._losses.lost.append(f"shapes of the world ({names}) have no place in SDF's models")
        if root.inertia != Inertia.zero():
            self._losses.lost.append("the body 'world' has mass or inertia, which SDF's world does not have")

    def _hold(self, model: Tag) -> None:
        """The joint that fixes the root to the world."""
        name = free_name(f"{self._root.name}_to_world", {*self._names, *self._joint_names.values()})
        joint = model.add("joint", name=name, type="fixed")
        joint.add("parent", _WORLD)
        joint.add("child", self._root.name)
        self._losses.changed.append(
            f"the root {self._root.name!r} is held by a fixed joint {name!r} on SDF's world, which is a body 'world' "
            "when the file is read"
        )

    def _check_names(self) -> None:
        """Names of joints are those of SDF too, unless a link or frame has the same one."""
        parts, names = self._parts, self._names - {_WORLD}
        self._check_name("robot", parts.name)
        for what, specs in (("body", parts.links), ("frame", parts.frames)):
            for spec in specs:
                if spec is not self._root or not self._on_world:
                    self._check_name(what, spec.name)
        for joint in parts.joints:
            name = joint.name if joint.name not in names else free_name(f"{joint.name}_joint", names)
            if name != joint.name:
                sentence = f"joint {joint.name!r} has the name of a body or frame, so in SDF it is called {name!r}"
                (self._losses.changed if isinstance(joint.kind, Fixed) else self._losses.lost).append(sentence)
            self._check_name("joint", name)
            names.add(name)
            self._joint_names[joint.name] = name

    def _check_name(self, what: str, name: str) -> None:
        plain, is_part = name.strip(), what != "robot"
        if "::" in name or plain == _WORLD or (plain.startswith("__") and plain.endswith("__")):
            self._losses.impossible.append(f"the name of {what} {name!r} has another meaning in SDF; rename it")
        elif is_part and plain in self._plain_names:
            self._losses.impossible.append(
                f"the name of {what} {name!r} is another part's without blanks around it, which are not kept; rename it"
            )
        elif not self._losses.refuse_long(what, name) and name != plain:
            self._losses.lost.append(f"the name of {what} {name!r} begins or ends with blanks, which are not kept")
        if is_part:
            self._plain_names.add(plain)

    def _check_inertias(self) -> None:
        """Lose inertias that SDF calls invalid: readers reject them or replace them."""
        links = [replace(link, where="") for link in self._parts.links if link is not self._root or not self._on_world]
        suspicions, indefinite = check_inertias(links)
        self._losses.lost += [f"{sentence}; SDF calls that invalid" for sentence in suspicions]
        self._losses.impossible += [f"{sentence}; SDF calls that invalid" for sentence in indefinite.values()]
        self._losses.impossible += [
            f"body {link.name!r} has its centre of mass so far from its frame that rounding makes its inertia one that "
            "no body can have, which SDF calls invalid"
            for link in links
            if link.name not in indefinite and _is_refused(link.inertia)
        ]

    def _link(self, model: Tag, link: LinkSpec) -> None:
        element = model.add("link", name=link.name)
        joint = self._above.get(link.name)
        if joint is not None and type(joint.kind) is not Free:
            after = joint.kind.after if isinstance(joint.kind, Placed) else _HERE
            _write_pose(element, after, relative_to=self._joint_names[joint.name])
        _write_inertia(element, link.inertia)
        for shape, name in zip(link.geometry, shape_names(link, self._losses), strict=True):
            tag = write_geometry(element, shape, name, link, self._losses)
            if tag is not None:
                _write_pose(tag, shape.placement, first=True)
        self._losses.lose_contacts(link)

    def _joint(self, model: Tag, joint: JointSpec) -> None:
        if type(joint.kind) is Free:
            self._free(joint)
            return
        name, before = self._joint_names[joint.name], _HERE
        if isinstance(joint.kind, Placed):
            before = joint.kind.before
        around = "__model__" if self._on_world and joint.parent == _WORLD else joint.parent
        element = model.add("joint", name=name)
        _write_pose(element, (before @ joint.placement).plain(), relative_to=around)
        write_joint(element, joint, self._joint_names, self._losses)

    def _free(self, joint: JointSpec) -> None:
        """A link without a joint floats, if its parent is the world."""
        lose = self._losses.lost.append
        if not self._on_world or joint.parent != _WORLD:
            self._losses.impossible.append(
                f"joint {joint.name!r} (free) has neither a word in SDF nor a substitute, except on a body at rest"
            )
            return
        joints = sum(other.parent == _WORLD for other in self._parts.joints)
        if joints == 1:
            self._losses.changed.append(
                f"joint {joint.name!r} is not in the file, as {joint.child!r} floats, and the body 'world' has no "
                "other part: when the file is read the base floats, without that body"
            )
        elif joint.name != f"{joint.child}_joint":
            lose(f"joint {joint.name!r} is not in the file, as {joint.child!r} floats: its name is lost")
        if joint != JointSpec.bare(joint.name, joint.kind, joint.parent, joint.child, joint.placement):
            lose(f"joint {joint.name!r} is not in the file, as {joint.child!r} floats: all its numbers are lost")


def _write_inertia(link: Tag, inertia: Inertia) -> None:
    """Always written: a link without it has a mass of 1 kg."""
    element = link.add("inertial")
    com, I = about_center_of_mass(inertia)
    if _is_point(inertia):
        I = Sym3.zero()
    if any(com.components()):
        _write_pose(element, Transform(_HERE.E, com))
    element.add("mass", shown_number(float(inertia.mass)))
    matrix = element.add("inertia")
    entries = dict(zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), I.components(), strict=True))
    for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
        matrix.add(name, shown_number(float(entries[name])))


def _write_pose(element: Tag, X: Transform, relative_to: str | None = None, *, first: bool = False) -> None:
    """Nothing for an identity, unless it is relative to something; `first` among the children if asked for."""
    if X == _HERE and relative_to is None:
        return
    rpy = roll_pitch_yaw(X.E.T) if X.E != _HERE.E else (0.0, 0.0, 0.0)
    numbers = [*(float(x) for x in X.r.components()), *rpy]
    assert all(map(math.isfinite, numbers))
    element.add("pose", shown_numbers(numbers), relative_to=relative_to)
    if first:
        element.children.insert(0, element.children.pop())


_LISTS = {"box": "size", "sphere": "radius", "ellipsoid": "radii", "plane": "size"}
"""Shapes whose lengths are in one element."""
_ROUND = ("capsule", "cone", "cylinder")


def write_geometry(link: Tag, shape: Geometry, name: str, body: LinkSpec, losses: Losses) -> Tag | None:
    """Add a shape under a name, without its pose, and return its element; None if SDF has no such shape."""
    role, kind, lose = shape.role, shape.shape, losses.lost.append
    what = f"body {body.name!r}: the {role} shape {name!r}"
    if losses.lose_unfit(shape, what):
        return None
    is_known = kind in _LISTS or kind in _ROUND or kind in ("mesh", "heightfield")
    if not is_known or not all(map(math.isfinite, shape.size)):
        lose(f"{what} is of kind {kind!r}{' without bounds' if is_known else ''}, which SDF does not have")
        return None
    element = link.add(role, name=name)
    inside = element.add("geometry").add("heightmap" if kind == "heightfield" else kind)
    if kind == "mesh":
        inside.add("uri", shape.mesh)
        if shape.size != (1.0, 1.0, 1.0):
            inside.add("scale", shown_numbers(shape.size))
    elif kind == "heightfield":
        inside.add("uri", shape.mesh)
        inside.add("size", shown_numbers(shape.size[:3]))
        if any(shape.size[3:]):
            lose(f"{what}: the depth of the ground below a heightfield has no place in SDF")
    elif kind in _LISTS:
        inside.add(_LISTS[kind], shown_numbers(shape.size))
    else:
        for tag, length in zip(("radius", "length"), shape.size, strict=True):
            inside.add(tag, shown_number(length))
    if shape.color is not None:
        if role == "visual":
            material = element.add("material")
            material.add("ambient", shown_numbers(shape.color))
            material.add("diffuse", shown_numbers(shape.color))
        else:
            losses.leave_out("colours of collision shapes", f"{name!r} of {body.name!r}")
    return element


def shape_names(link: LinkSpec, losses: Losses) -> list[str]:
    """A name for each shape of a link: SDF requires one, which no other shape of the same role has."""
    names = [""] * len(link.geometry)
    for role in dict.fromkeys(shape.role for shape in link.geometry):
        places = [k for k, shape in enumerate(link.geometry) if shape.role == role]
        places.sort(key=lambda k: not link.geometry[k].name.strip())  # own names come first
        for k, name in zip(
            places, distinct_names([link.geometry[k].name.strip() or role for k in places]), strict=True
        ):
            names[k] = name
    for shape, name in zip(link.geometry, names, strict=True):
        own = shape.name.strip()
        if name != own:
            losses.changed.append(
                f"body {link.name!r}: a {shape.role} shape gets the name {name!r}, as SDF wants each to differ"
            )
        elif own != shape.name:
            losses.lost.append(f"body {link.name!r}: blanks around the name of the shape {shape.name!r} are not kept")
    return names
