"""The elements and attributes that kinetree knows are those of MuJoCo's own schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mujoco
import pytest

import kinetree as kt
from kinetree.io.mjcf.grammar import SHAPES

_RECURSIVE = {"default", "body", "frame", "replicate", "worldbody", "include"}


def _schema() -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Paths of elements, with their attributes, from the text that MuJoCo prints."""
    path: list[str] = []
    attributes: set[str] = set()
    for line in mujoco.mj_printSchema(False, True).splitlines():
        text = line.rstrip()
        depth = (len(text) - len(text.lstrip())) // 3
        head, _, rest = text.strip().partition(" (")
        if rest[1:2] == ")":
            if path:
                yield tuple(path), attributes
            path = [*path[:depth], *head.split()]
            attributes = set(rest[2:].split())
        elif text:
            attributes |= set(text.split())
    yield tuple(path), attributes


def test_the_grammar_is_that_of_mujoco() -> None:
    found = dict(_schema())
    assert len(found) > 150
    for path, attributes in found.items():
        shape = "mujoco"
        for tag in path[1:]:
            shape = SHAPES[shape].children[tag.replace("(world)", "world")]
        known = SHAPES["body" if shape == "worldbody" else shape]
        assert known.attributes == attributes, path
        below = {one[len(path)] for one in found if one[: len(path)] == path and len(one) == len(path) + 1}
        assert set(known.children) - _RECURSIVE == below - _RECURSIVE - {"(world)body"}, path


@pytest.mark.parametrize("element", ['frame psos="1 2 3"', 'replicate count="2" offfset="1 0 0"'])
def test_unknown_attributes_of_frames_are_refused_though_mujoco_ignores_them(tmp_path: Path, element: str) -> None:
    tag = element.split()[0]
    path = tmp_path / "robot.xml"
    path.write_text(f'<mujoco><worldbody><{element}><geom size="1"/></{tag}></worldbody></mujoco>', encoding="utf-8")
    assert mujoco.MjModel.from_xml_path(str(path)).ngeom > 0
    with pytest.raises(kt.errors.ModelError, match=f"<{tag}> has no attribute|no attribute"):
        kt.load(path)
