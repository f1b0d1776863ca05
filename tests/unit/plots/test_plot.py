"""The picture of a trajectory."""

from __future__ import annotations

import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from kinetree import zoo
from kinetree.charts.style import widen
from kinetree.errors import MissingPackageError
from kinetree.model import ModelBuilder
from kinetree.plots.choice import choice_of
from kinetree.plots.coordinates import coordinate_panels, turned
from kinetree.plots.moments import seen_of
from kinetree.plots.panels import divided, group_sizes, panels_of, worth_drawing
from kinetree.sim import Trajectory, plot, simulate
from tests.robots import load_robot


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
        ("ragdoll", [("base position, m", [0, 1, 2]), ("joint angle, rad", [19, 24, 25, 30, 35, 36])]),
    ],
)
def test_coordinates_are_sorted_into_panels(name: str, panels: list[tuple[str, list[int]]]) -> None:
    motion = short_motion(name)
    found = sorted_into(motion)
    turns = [("turned since\nthe start, rad", [name for name, _ in motion.quaternions])] if motion.quaternions else []
    assert found == [(label, [motion.q_names[k] for k in columns]) for label, columns in panels] + turns


def sorted_into(motion: Trajectory) -> list[tuple[str, list[str]]]:
    choice = choice_of(motion, None, None, None)
    panels = coordinate_panels(motion, seen_of(motion, choice), choice)
    return [(panel.label, [line.name for line in panel.lines]) for panel in panels]


def test_quaternions_are_drawn_as_how_far_theyturned() -> None:
    motion = short_motion("ragdoll")
    turns = motion.quaternions
    assert [name for name, _ in turns][:3] == ["root_joint", "waist", "neck"]
    assert [k for _, k in turns] == [part.start for part in zoo.load("ragdoll").quaternions.values()]
    angle = np.linspace(0.0, 3.0, 7)
    about_z = np.stack([0.0 * angle, 0.0 * angle, np.sin(angle / 2), np.cos(angle / 2)], axis=1)
    np.testing.assert_allclose(turned(2.0 * about_z), angle, atol=1e-15)
    np.testing.assert_allclose(turned(-about_z), angle, atol=1e-15)


def test_coordinates_without_a_unit_have_a_panel() -> None:
    motion = replace(short_motion("double_pendulum"), q_units=("", "rad"))
    assert sorted_into(motion) == [("joint angle, rad", ["elbow"]), ("coordinate", ["shoulder"])]


def drawn(motion: Trajectory, **options: Any) -> list[tuple[str, list[str]]]:
    """(label, names of its lines) of each panel, without those of energies unless they are asked for."""
    return [(label, names) for label, names in shown(motion, **{"what": "positions"} | options)[0]]


def shown(motion: Trajectory, **options: Any) -> tuple[list[tuple[str, list[str]]], dict[str, list[str]]]:
    """Also the names of what is left out, by word."""
    choice = choice_of(motion, options.get("what"), options.get("joints"), options.get("samples"))
    panels, idle = worth_drawing(panels_of(motion, seen_of(motion, choice), choice), choice)
    return [(panel.label, [line.name for line in panel.lines]) for panel in divided(panels)], idle


def test_rounding_errors_and_what_does_not_move_have_no_panel() -> None:
    """In free fall nothing turns: joints and base do so by 1e-17 rad."""
    dog = zoo.load("quadruped")
    motion = simulate(dog, duration=0.5)
    assert 0.0 < np.ptp(motion.q[:, 7:]) < 1e-15
    assert drawn(motion) == [("base position, m", ["root_joint.z"])]
    assert len(shown(motion, what="positions")[1]["positions"]) == 2 + 12 + 1
    hanging = simulate(zoo.load("double_pendulum"), duration=0.01)
    assert drawn(hanging) == [("joint angle, rad", ["shoulder", "elbow"])]
    assert shown(hanging, what="positions")[1] == {}


def test_fingers_that_stay_have_no_panel() -> None:
    panda = load_robot("panda", mimic=True)
    motion = simulate(panda, q=np.append(panda.random(1)[:7], 0.0), duration=0.01, integrator="semi_implicit_euler")
    motion = replace(
        motion, q=np.column_stack([motion.q[:, :7] + motion.time[:, None], motion.q[:1, 7:].repeat(11, 0)])
    )
    assert drawn(motion) == [("joint angle, rad", [f"panda_joint{k}" for k in range(1, 8)])]


def test_many_joints_are_divided_among_panels_by_their_names() -> None:
    names = load_robot("talos_full_v2", mimic=True).q_names
    sizes = group_sizes(names)
    assert max(sizes) <= 8
    starts = np.cumsum([0, *sizes[:-1]])
    assert {"arm_left_1_joint", "arm_right_1_joint", "leg_right_1_joint"} <= {names[k] for k in starts}
    assert group_sizes([]) == []
    assert group_sizes(["a"]) == [1]
    assert len(group_sizes([f"j{k}" for k in range(1000)])) <= 9


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0 + 1e-16), (-1e-17, 1e-19), (0.0, 0.0), (2.0, 2.0)])
def test_no_panel_is_finer_than_its_floor(low: float, high: float) -> None:
    ax = Figure().subplots()
    ax.plot([0.0, 1.0], [low, high])
    widen(ax, 1e-3)
    bottom, top = ax.get_ylim()
    assert top - bottom >= 1e-3 * (1.0 - 1e-9)
    assert bottom <= low <= high <= top


def test_what_moves_enough_keeps_its_scale() -> None:
    ax = Figure().subplots()
    ax.plot([0.0, 1.0], [0.0, 0.1])
    before = ax.get_ylim()
    widen(ax, 1e-3)
    assert ax.get_ylim() == before


def test_odd_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    motion = replace(short_motion("double_pendulum"), robot="a$b_$c", q_names=("_hidden$", "関節"))
    assert png_size(plot(motion, tmp_path / "odd.png"))[0] > 1000


def test_infinite_energies_are_left_out_of_a_picture(tmp_path: Path) -> None:
    motion = short_motion("double_pendulum")
    infinite = replace(motion, kinetic=np.where(motion.time > 0.02, np.inf, motion.kinetic))
    assert plot(infinite, tmp_path / "fast").is_file()
    assert not np.isfinite(infinite.balance_error[-1])


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
    with pytest.raises(MissingPackageError, match=r"pip install 'kinetree\[plot\]'"):
        plot(motion, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
