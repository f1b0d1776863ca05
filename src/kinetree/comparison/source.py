"""The file that other libraries read: its format, and the form of a URDF file in which they can read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as etree
from xml.parsers import expat

from kinetree.io import FORMATS
from kinetree.io.document import read_bytes, root_of
from kinetree.io.native import is_native
from kinetree.model import Model
from kinetree.records import record

__all__ = ["MOVING_WORLD", "Source", "format_of", "without_shapes"]

MOVING_WORLD = "world_that_moves"
"""The name in `without_shapes` of a link named "world" that moves, as MuJoCo takes one of that name for the world."""


@record(frozen=True, slots=True)
class Source:
    """A robot file, and kinetree's robot of it."""

    file: Path
    format: str
    """"URDF", "MJCF" or "SDF"; "" for any other format."""
    robot: Model
    package_roots: tuple[Path, ...] = ()

    @property
    def root_joint(self) -> str:
        """The joint of a floating base."""
        return next(iter(self.robot.joints))


def format_of(file: Path) -> str:
    """The format of a robot file that kinetree has accepted; "" for kinetree's own text."""
    data = read_bytes(file)
    return "" if is_native(data) else {x.root: x.title for x in FORMATS.values()}.get(root_of(file, data).tag, "")


def without_shapes(
    file: Path, settings: Mapping[str, str], floating_base: bool, root_joint: str | None = "root_of_the_benchmark"
) -> str:
    """A URDF file in a form that MuJoCo can read: without meshes, and with a floating root as a joint of the file.

    `settings` are attributes of MuJoCo's element `compiler`; they come after those of the file's own. Without
    `root_joint` the root only gets another name if it is called "world" and moves.
    """
    robot = _parsed(read_bytes(file).strip())
    for link in robot.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    if settings:
        compiler = _child(_child(robot, "mujoco"), "compiler")
        for name, value in settings.items():
            compiler.set(name, value)
    if floating_base:
        _set_afloat(robot, root_joint)
    return etree.tostring(robot, encoding="unicode")


def _parsed(data: bytes) -> etree.Element:
    """The document, whose prefixes need no namespaces. kinetree's reader has accepted it, so it has no entities."""
    builder, parser = etree.TreeBuilder(), expat.ParserCreate()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(data, True)
    return builder.close()


def _child(element: etree.Element, tag: str) -> etree.Element:
    first = element.find(tag)
    return etree.SubElement(element, tag) if first is None else first


def _set_afloat(robot: etree.Element, root_joint: str | None) -> None:
    children = {child.get("link") for child in robot.iter("child")}
    root = next(str(link.get("name")) for link in robot.findall("link") if link.get("name") not in children)
    if root == "world":
        root = MOVING_WORLD
        for element in robot.iter():
            for attribute in ("name", "link"):
                if element.tag in ("link", "parent") and element.get(attribute) == "world":
                    element.set(attribute, root)
    if root_joint is not None:
        etree.SubElement(robot, "link", name="world_around_the_robot")
        joint = etree.SubElement(robot, "joint", name=root_joint, type="floating")
        etree.SubElement(joint, "parent", link="world_around_the_robot")
        etree.SubElement(joint, "child", link=root)
