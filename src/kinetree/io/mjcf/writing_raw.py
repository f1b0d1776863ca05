"""Elements that kinetree does not interpret, written back as they were in their MJCF file."""

from __future__ import annotations

from kinetree.errors import listed
from kinetree.io.losses import Losses
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.mjcf.writing_known import Written
from kinetree.io.xml_text import Tag
from kinetree.model.extras import Unused

__all__ = ["Raw", "raw_tag"]

_SECTIONS = ("size", "statistic", "visual", "custom", "extension", "deformable")


def raw_tag(one: Unused) -> Tag:
    """An element as it is."""
    made = Tag(one.tag)
    pending = [(one, made)]
    while pending:
        held, tag = pending.pop()
        tag.attributes = dict(held.attributes)
        pending += [(child, tag.add(child.tag)) for child in held.children]
    return made


class Raw:
    """The raw elements of a robot, by where they belong; those that do not belong to MJCF are lost."""

    def __init__(self, unused: tuple[Unused, ...], written: Written, losses: Losses) -> None:
        self.compiler: list[Unused] = []
        self.assets: list[Unused] = []
        self._sections: list[Unused] = []
        self._in_bodies: dict[str, list[Unused]] = {}
        strange = []
        for one in unused:
            if not _fits(one):
                strange.append(one.tag)
            elif one.tag == "asset":
                self.assets += one.children
            elif one.tag == "body":
                self._in_bodies.setdefault(dict(one.attributes).get("name", ""), []).extend(one.children)
            else:
                (self._sections if one.tag in _SECTIONS else self.compiler).append(one)
        if strange:
            losses.unneeded["parts of files of other formats"] = [f"<{tag}>" for tag in dict.fromkeys(strange)]
        self._losses = losses
        for asset in self.assets:
            written.add(asset.tag, _name(asset))
        parts = [part for held in self._in_bodies.values() for part in held]
        for part in (*parts, *(part for one in self._sections if one.tag == "deformable" for part in one.children)):
            if part.tag in ("flex", "flexcomp"):
                written.add("flex", _name(part))
        for section in self._sections:
            for part in section.children if section.tag == "extension" else ():
                for instance in part.children:
                    written.add("instance", _name(instance))

    def named_assets(self) -> dict[tuple[str, str, tuple[float, ...]], str]:
        """The names of meshes and height fields, by tag, address and size or scale."""
        found: dict[tuple[str, str, tuple[float, ...]], str] = {}
        for asset in self.assets:
            attributes = dict(asset.attributes)
            if asset.tag in ("mesh", "hfield") and "file" in attributes:
                size = attributes.get("scale", "1 1 1") if asset.tag == "mesh" else attributes.get("size", "")
                numbers = tuple(map(float, size.split()))
                if asset.tag == "hfield":  # the records of shapes have lengths
                    numbers = (*(2.0 * x for x in numbers[:2]), *numbers[2:])
                found.setdefault((asset.tag, attributes["file"], numbers), _name(asset))
        return found

    def color(self, material: str) -> tuple[float, ...]:
        """The colour that a material gives to shapes without one."""
        for asset in self.assets:
            if asset.tag == "material" and _name(asset) == material:
                return tuple(float(x) for x in dict(asset.attributes).get("rgba", "1 1 1 1").split())
        return ()

    def write_sections(self, root: Tag) -> None:
        """Add the sections that are nowhere else."""
        root.children += [raw_tag(one) for one in self._sections]

    def write_body(self, element: Tag, name: str) -> None:
        """Add what was in a body."""
        element.children += [raw_tag(one) for one in self._in_bodies.pop(name, [])]

    def tell_homeless(self) -> None:
        """Lose what was in bodies that are not in the file."""
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
