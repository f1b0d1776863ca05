"""Small mesh files, written by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

CORNERS = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
FACES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip
"""Of the unit cube, counter-clockwise from outside."""


def write_stl(path: Path, corners: np.ndarray = CORNERS, faces: np.ndarray = FACES) -> Path:
    facets = np.zeros(len(faces), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    facets["corners"] = corners[faces]
    path.write_bytes(bytes(80) + struct.pack("<I", len(faces)) + facets.tobytes())
    return path


def write_stl_text(path: Path) -> Path:
    lines = ["solid cube"]
    for face in FACES:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex {} {} {}".format(*CORNERS[k]) for k in face]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid"]))
    return path


def write_obj(path: Path, *, image: str = "") -> Path:
    """A cube of quadrilaterals, red but for one green face (or one with an image)."""
    lines = ["mtllib colors.mtl", *(f"v {x} {y} {z}" for x, y, z in CORNERS)]
    lines += ["vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1"]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    for k, quad in enumerate(quads):
        lines.append("usemtl red" if k else "usemtl green")
        lines.append("f " + " ".join(f"{corner + 1}/{j + 1}" for j, corner in enumerate(quad)))
    path.write_text("\n".join(lines))
    extra = f"map_Kd {image}\n" if image else ""
    path.with_name("colors.mtl").write_text(f"newmtl red\nKd 1 0 0\nnewmtl green\nKd 0 1 0\n{extra}")
    return path


def write_dae(path: Path, *, image: str = "", before: str = "") -> Path:
    """A cube in centimetres, 0.5 blue or with an image, moved by 2 m along x, turned about z by a quarter."""
    positions = " ".join(f"{100.0 * x:g}" for x in CORNERS.reshape(-1))
    indices = " ".join(f"{k} {j}" for face in FACES for j, k in enumerate(face))
    images = f'<library_images><image id="i"><init_from>{image}</init_from></image></library_images>'
    shade = '<texture texture="s" texcoord="u"/>' if image else "<color>0 0 0.5 1</color>"
    path.write_text(f"""<?xml version="1.0"?>{before}
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="0.01" name="centimeter"/><up_axis>Y_UP</up_axis></asset>{images if image else ""}
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="s"><sampler2D><source>f</source></sampler2D></newparam>
<technique sid="t"><phong><diffuse>{shade}</diffuse></phong></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="24">{positions}</float_array>
<technique_common><accessor source="#pa" count="8" stride="3"/></technique_common></source>
<source id="w"><float_array id="wa" count="6">0 0 1 0 1 1</float_array>
<technique_common><accessor source="#wa" count="3" stride="2"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="12" material="a"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="TEXCOORD" source="#w" offset="1"/><p>{indices}</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s1"><node><translate>200 0 0</translate><node><rotate>0 0 1 90</rotate>
<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="a" target="#m"/>
</technique_common></bind_material></instance_geometry></node></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s1"/></scene></COLLADA>""")
    return path


def write_png(path: Path, left: tuple[int, int, int] = (255, 0, 0), right: tuple[int, int, int] = (0, 0, 255)) -> Path:
    """64 by 64 pixels, the left half in one colour and the right half in another."""
    from PIL import Image

    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:, :32], pixels[:, 32:] = left, right
    Image.fromarray(pixels).save(path)
    return path
