"""Values of records as attributes: only those that differ from MuJoCo's defaults; placements as pos and quat.

The names of objects in the file, so that nothing in it refers to a missing one; and elements that kinetree does not
interpret, written back as they were in their MJCF file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.errors import listed
from kinetree.io.losses import Losses
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.xml_text import Tag, flag, shown_number, shown_numbers
from kinetree.model.extras import Unused
from kinetree.spatial import Transform, Vec3

__all__ = ["Raw", "Written", "changed", "limit", "pose", "raw_numbers", "raw_tag", "trimmed", "vector"]

_HERE = Transform.identity()
_ALIASES = {"xbody": "body", "subtree": "body", "jointinparent": "joint", "slidercrank": "site"}
_WORDS = {"geom": "shape", "flex": "deformable body"}
_SECTIONS = ("size", "statistic", "visual", "custom", "extension", "deformable")


def _text_of(value: object) -> str:
    """A word, flag, number, or several words or numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return flag(value)
    if isinstance(value, tuple):
        is_text = bool(value) and isinstance(value[0], str)
        return " ".join(value) if is_text else shown_numbers(value)
    assert isinstance(value, int | float)
    return shown_number(value)


def changed(record: object, usual: object, attributes: Mapping[str, str]) -> dict[str, str]:
    """The fields of a record that are not as usual; `attributes` are their names in MJCF by their own."""
    pairs = ((name, getattr(record, field), getattr(usual, field)) for field, name in attributes.items())
    return {name: _text_of(value) for name, value, default in pairs if value != default}


def trimmed(numbers: Sequence[float], default: Sequence[float] = ()) -> str:
    """Numbers without those at the end that are as by default, which is zero if it is not given; at least one."""
    last = len(numbers)
    while last > 1 and numbers[last - 1] == (default[last - 1] if default else 0.0):
        last -= 1
    return shown_numbers(numbers[:last])


def limit(
    flag_name: str, attribute: str, is_limited: bool, bounds: tuple[float, float], losses: Losses, what: str
) -> dict[str, str]:
    """The attributes of a range that may be in force; by itself it is if there is one."""
    if is_limited and bounds[0] >= bounds[1]:
        losses.lost.append(
            f"{what}: its {attribute} {shown_numbers(bounds)} would be in force, but the first number is not the "
            "smaller one, which MuJoCo refuses: it has none"
        )
        return {}
    has_range = bounds != (0.0, 0.0)
    attributes = {attribute: shown_numbers(bounds)} if has_range else {}
    if is_limited != has_range:
        attributes[flag_name] = flag(is_limited)
    return attributes


def raw_numbers(numbers: Sequence[float]) -> str | None:
    """Any count of numbers; None without any."""
    return shown_numbers(numbers) if numbers else None


def pose(X: Transform) -> dict[str, str]:
    """The attributes of a placement; none of an identity."""
    attributes = {}
    if any(X.r.components()):
        attributes["pos"] = vector(X.r)
    if X.E != _HERE.E:
        x, y, z, w = map(float, X.quaternion)
        attributes["quat"] = shown_numbers([w, x, y, z])
    return attributes


def vector(a: Vec3) -> str:
    """Three numbers."""
    return shown_numbers([float(x) for x in a.components()])


class Written:
    """Names by kind: "body", "joint", "geom", "site", "camera", "tendon", "actuator", "sensor", "material" …"""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {"body": {"world"}}

    def add(self, kind: str, name: str) -> None:
        """Remember a name, if it is one."""
        if name:
            self._names.setdefault(kind, set()).add(name)

    def has(self, kind: str, name: str) -> bool:
        """Whether there is something of this kind and name."""
        return name in self._names.get(_ALIASES.get(kind, kind), ())

    def all_there(self, what: str, needed: list[tuple[str, str]], losses: Losses) -> bool:
        """Whether the file has all of these kinds and names; if not, `what` names them and is lost."""
        missing = [(kind, name) for kind, name in needed if name and not self.has(kind, name)]
        if missing:
            names = ", ".join(f"{_word(kind)} {name!r}" for kind, name in missing)
            losses.lost.append(f"{what} is left out: there is no {names} in the file")
        return not missing

    def optional(self, what: str, kind: str, name: str, losses: Losses) -> str | None:
        """The name if there is such a thing; otherwise it is lost."""
        if not name or self.has(kind, name):
            return name or None
        losses.lost.append(f"{what}: its {_word(kind)} {name!r} is not in the file, and is left out")
        return None


def _word(kind: str) -> str:
    kind = _ALIASES.get(kind, kind)
    return _WORDS.get(kind, kind)


def raw_tag(one: Unused) -> Tag:
    """An element as it is."""
    root = Tag(one.tag)
    pending = [(one, root)]
    while pending:
        element, tag = pending.pop()
        tag.attributes = dict(element.attributes)
        pending += [(child, tag.add(child.tag)) for child in element.children]
    return root


class Raw:
    """The raw elements of a robot, by where they belong; those that do not belong to MJCF are lost."""

    def __init__(self, unused: tuple[Unused, ...], written: Written, losses: Losses) -> None:
        self.compiler: list[Unused] = []
        self.assets: list[Unused] = []
        self._sections: list[Unused] = []
        self._in_bodies: dict[str, list[Unused]] = {}
        strange = []
        for element in unused:
            if not _fits(element):
                strange.append(element.tag)
            elif element.tag == "asset":
                self.assets += element.children
            elif element.tag == "body":
                self._in_bodies.setdefault(dict(element.attributes).get("name", ""), []).extend(element.children)
            else:
                (self._sections if element.tag in _SECTIONS else self.compiler).append(element)
        if strange:
            losses.unneeded["parts of files of other formats"] = [f"<{tag}>" for tag in dict.fromkeys(strange)]
        self._losses = losses
        for asset in self.assets:
            written.add(asset.tag, _name(asset))
        parts = [part for elements in self._in_bodies.values() for part in elements]
        for part in (*parts, *(part for one in self._sections if one.tag == "deformable" for part in one.children)):
            if part.tag in ("flex", "flexcomp"):
                written.add("flex", _name(part))
        for section in self._sections:
            for part in section.children if section.tag == "extension" else ():
                for instance in part.children:
                    written.add("instance", _name(instance))

    def named_assets(self) -> dict[tuple[str, str, tuple[float, ...]], str]:
        """The names of meshes and height fields, by tag, address and size or scale."""
        names: dict[tuple[str, str, tuple[float, ...]], str] = {}
        for asset in self.assets:
            attributes = dict(asset.attributes)
            if asset.tag in ("mesh", "hfield") and "file" in attributes:
                size = attributes.get("scale", "1 1 1") if asset.tag == "mesh" else attributes.get("size", "")
                numbers = tuple(map(float, size.split()))
                if asset.tag == "hfield":  # the records of shapes have lengths
                    numbers = (*(2.0 * x for x in numbers[:2]), *numbers[2:])
                names.setdefault((asset.tag, attributes["file"], numbers), _name(asset))
        return names

    def color(self, material: str) -> tuple[float, ...]:
        """The colour that a material gives to shapes without one."""
        for asset in self.assets:
            if asset.tag == "material" and _name(asset) == material:
                return tuple(float(x) for x in dict(asset.attributes).get("rgba", "1 1 1 1").split())
        return ()

    def write_sections(self, root: Tag) -> None:
        """Add the sections that are nowhere else."""
        root.children += [raw_tag(section) for section in self._sections]

    def write_body(self, element: Tag, name: str) -> None:
        """Add the elements of a body."""
        element.children += [raw_tag(one) for one in self._in_bodies.pop(name, [])]

    def report_homeless(self) -> None:
        """Lose the elements of bodies that are not in the file."""
        for body, parts in self._in_bodies.items():
            tags = listed(f"<{part.tag}>" for part in parts)
            self._losses.lost.append(f"robot.extras.unused: {tags} of body {body!r}, which is not in the file")


def _fits(one: Unused) -> bool:
    """Whether an element is one that the reader of MJCF keeps."""
    if one.tag == "body":
        return all(name == "name" for name, _ in one.attributes) and _children_fit(one, "body")
    path = one.tag if one.tag in (*_SECTIONS, "asset") else f"compiler/{one.tag}"
    return path in SHAPES and _is_known(one, path)


def _is_known(one: Unused, path: str) -> bool:
    if one.text or not all(name in SHAPES[path].attributes for name, _ in one.attributes):
        return False
    return _children_fit(one, path)


def _children_fit(one: Unused, path: str) -> bool:
    inside = SHAPES[path].children
    return all(child.tag in inside and _is_known(child, inside[child.tag]) for child in one.children)


def _name(one: Unused) -> str:
    """Its name, or that of its file, which MuJoCo takes if it has none."""
    attributes = dict(one.attributes)
    stem = attributes.get("file", "").replace("\\", "/").rpartition("/")[2]
    return attributes.get("name") or stem.rpartition(".")[0] or stem
