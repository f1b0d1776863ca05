"""Colours of COLLADA files: linear light of Blender, and transparency in its four ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinetree.appearance.mesh_files import file_mesh
from tests.unit.appearance.files import write_dae


def color(path: Path, old: str, new: str) -> tuple[int, ...]:
    """The colour of a cube of 0.5 blue whose file has something else in place of `old`."""
    text = write_dae(path).read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return tuple(file_mesh(path, 100).colors[0].tolist())


@pytest.mark.parametrize(
    ("tool", "blue"),
    [
        ("Blender 2.79.0 commit date:2018", 128),
        ("Blender 2.80.75 commit", 188),
        ("Blender 4.0.2 commit", 188),
        ("VCGLib | MeshLab", 128),
        ("Blender v:249 - Illusoft", 128),
    ],
)
def test_blender_s_linear_light_is_converted(tool: str, blue: int, tmp_path: Path) -> None:
    contributor = f"<asset><contributor><authoring_tool>{tool}</authoring_tool></contributor>"
    assert color(tmp_path / "cube.dae", "<asset>", contributor) == (0, 0, blue, 255)


@pytest.mark.parametrize(
    ("element", "opacity"),
    [
        ("", 255),
        ('<transparent opaque="A_ONE"><color>1 1 1 1</color></transparent>', 255),
        ('<transparent opaque="A_ONE"><color>1 1 1 0.4</color></transparent>', 102),
        ("<transparent><color>1 1 1 0.5</color></transparent><transparency><float>0.4</float></transparency>", 51),
        ('<transparent opaque="A_ZERO"><color>1 1 1 0.4</color></transparent>', 153),
        ('<transparent opaque="RGB_ZERO"><color>0.4 0.4 0.4 1</color></transparent>', 153),
        ('<transparent opaque="RGB_ONE"><color>0.4 0.4 0.4 1</color></transparent>', 102),
        ("<transparency><float>0.4</float></transparency>", 102),
        ("<transparency><float>1</float></transparency>", 255),
        ("<transparent><color>1 1 1 1</color></transparent><transparency><float>0</float></transparency>", 255),
        ('<transparent opaque="RGB_ZERO"><color>1 1 1 1</color></transparent>', 255),
        ("<transparent><texture texture='s'/></transparent>", 255),
        ("<transparent><color>1 1 1 nan</color></transparent>", 255),
    ],
)
def test_transparency(element: str, opacity: int, tmp_path: Path) -> None:
    assert color(tmp_path / "cube.dae", "</diffuse>", f"</diffuse>{element}") == (0, 0, 128, opacity)


def test_a_colour_that_is_none_is_left_out(tmp_path: Path) -> None:
    path = write_dae(tmp_path / "cube.dae")
    path.write_text(path.read_text().replace("0 0 0.5 1", "0 0 nan 1"))
    assert file_mesh(path, 100).is_bare.all()
