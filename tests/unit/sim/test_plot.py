"""The picture of a trajectory."""

from __future__ import annotations

import struct
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinetree import zoo
from kinetree.errors import MissingPackageError
from kinetree.model import ModelBuilder
from kinetree.sim import Trajectory, plot, simulate
from kinetree.sim.plot import _coordinate_panels, _quaternions, _turned


def short_motion(name: str) -> Trajectory:
    robot = zoo.load(name)
    return simulate(robot, q=robot.random(1), duration=0.05)


def png_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


@pytest.mark.parametrize("name", ["double_pendulum", "humanoid"])
def test_a_picture_is_written(name: str, tmp_path: Path) -> None:
    path = plot(short_motion(name), tmp_path / name)
    assert path == tmp_path / f"{name}.png"
    width, height = png_size(path)
    assert width > 1000
    assert height > 700


@pytest.mark.parametrize(
    ("name", "panels"),
    [
        ("double_pendulum", [("joint angle, rad", [0, 1])]),
        ("cart_pole", [("joint angle, rad", [1]), ("joint position, m", [0])]),
        ("quadruped", [("base position, m", [0, 1, 2]), ("joint angle, rad", list(range(7, 19)))]),
        ("ragdoll", [("base position, m", [0, 1, 2]), ("joint angle, rad", [19, 28, 37, 46])]),
    ],
)
def test_coordinates_are_sorted_into_panels(name: str, panels: list[tuple[str, list[int]]]) -> None:
    assert _coordinate_panels(short_motion(name)) == panels


def test_quaternions_are_drawn_as_how_far_they_turned() -> None:
    motion = short_motion("ragdoll")
    turns = _quaternions(motion)
    assert [name for name, _ in turns][:3] == ["root_joint", "waist", "neck"]
    assert [k for _, k in turns] == [part.start for part in zoo.load("ragdoll").quaternions.values()]
    angle = np.linspace(0.0, 3.0, 7)
    about_z = np.stack([0.0 * angle, 0.0 * angle, np.sin(angle / 2), np.cos(angle / 2)], axis=1)
    np.testing.assert_allclose(_turned(2.0 * about_z), angle, atol=1e-15)
    np.testing.assert_allclose(_turned(-about_z), angle, atol=1e-15)


def test_coordinates_without_a_unit_have_a_panel() -> None:
    motion = replace(short_motion("double_pendulum"), q_units=("", "rad"))
    assert _coordinate_panels(motion) == [("joint angle, rad", [1]), ("coordinate", [0])]


def test_odd_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    motion = replace(short_motion("double_pendulum"), robot="a$b_$c", q_names=("_hidden$", "関節"))
    assert png_size(plot(motion, tmp_path / "odd.png"))[0] > 1000


def test_a_robot_without_joints_has_its_energy_drawn(tmp_path: Path) -> None:
    builder = ModelBuilder("statue")
    builder.add_body("stone")
    assert plot(simulate(builder.build(), duration=0.01), tmp_path / "statue").is_file()


def test_long_motions_are_thinned_but_keep_their_end(tmp_path: Path) -> None:
    motion = short_motion("double_pendulum")
    rows = 30_001
    stretched = replace(
        motion,
        time=np.linspace(0.0, 30.0, rows),
        **{
            name: np.resize(getattr(motion, name), (rows, *getattr(motion, name).shape[1:]))
            for name in ("q", "v", "tau", "kinetic", "potential", "work", "dissipated")
        },
    )
    assert plot(stretched, tmp_path / "long").is_file()


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    motion = short_motion("double_pendulum")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install kinetree\[plot\]"):
        plot(motion, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
