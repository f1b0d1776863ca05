"""<compiler>: settings that the meaning of the rest of the file depends on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.records import record

__all__ = ["Settings", "read_settings"]


@record(frozen=True, slots=True)
class Settings:
    """The settings that have a meaning for a robot's motion, and where files are."""

    degrees: bool
    euler_sequence: str
    autolimits: bool
    inertia_from_geoms: bool | None
    """None: where a body has no <inertial>."""
    inertia_groups: tuple[int, int]
    bound_mass: float
    bound_inertia: float
    balance_inertia: bool
    total_mass: float
    """Negative or zero: as the bodies' masses are."""
    fit_boxes: bool
    align_free: bool
    strip_paths: bool
    mesh_folder: str
    texture_folder: str
    fuse_static: bool
    discard_visual: bool

    def radians(self, angle: float) -> float:
        """An angle of the file in radians."""
        return angle / 180.0 * math.pi if self.degrees else angle


def read_settings(sections: Sequence[Element], root: Element) -> Settings:
    """All <compiler> sections together; the last that has an attribute decides."""
    last = sections[-1] if sections else Element("compiler", {}, root.line, root, root.file)
    a = Attributes(last, sections[:-1])
    if a.word("coordinate", {"local": False, "global": True}, False):
        a.fail("global coordinates are no longer MJCF: load and save the file with MuJoCo 2.3.3 or older", "bad-value")
    sequence = a.text("eulerseq", "xyz")
    if len(sequence) != 3 or not set(sequence) <= set("xyzXYZ"):
        (a.owner("eulerseq") or last).fail(
            f'eulerseq="{sequence:.20}" must be three letters of x, y, z (axes that turn with the frame) and X, Y, Z '
            "(axes of the parent)"
        )
    groups = a.numbers("inertiagrouprange", (0.0, 5.0))
    meshes = textures = ""
    for section in sections:
        folder = section.attributes.get("assetdir")
        meshes = section.attributes.get("meshdir", meshes if folder is None else folder)
        textures = section.attributes.get("texturedir", textures if folder is None else folder)
    return Settings(
        degrees=a.word("angle", {"degree": True, "radian": False}, True),
        euler_sequence=sequence,
        autolimits=a.flag("autolimits", True),
        inertia_from_geoms=a.choice("inertiafromgeom"),
        inertia_groups=(int(groups[0]), int(groups[1])),
        bound_mass=a.number("boundmass"),
        bound_inertia=a.number("boundinertia"),
        balance_inertia=a.flag("balanceinertia"),
        total_mass=a.number("settotalmass", -1.0),
        fit_boxes=a.flag("fitaabb"),
        align_free=a.flag("alignfree"),
        strip_paths=a.flag("strippath"),
        mesh_folder=meshes,
        texture_folder=textures,
        fuse_static=a.flag("fusestatic"),
        discard_visual=a.flag("discardvisual"),
    )
