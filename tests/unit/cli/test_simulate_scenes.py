"""`kinetree simulate` on a ground, from many starts, and with the settings of contacts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import zoo
from kinetree.cli.start import scattered
from kinetree.sim import Trajectory
from tests.laws.reference import reference
from tests.robots import every_joint

from .conftest import Command

QUICK = ("--duration", "0.02", "--quiet")

BALL = """<mujoco model="ball"><worldbody><body pos="0 0 0.05"><freejoint/>
<geom size="0.1" mass="1"/></body></worldbody></mujoco>"""


class Asked:
    """What would be simulated."""

    robot: kt.Model
    settings: dict[str, Any]

    def __call__(self, robot: kt.Model, **settings: Any) -> None:
        self.robot, self.settings = robot, settings
        raise kt.errors.SimulationError("this is enough")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """In place of a simulation."""
    instead = Asked()
    monkeypatch.setattr("kinetree.sim.simulate", instead)
    return instead


def lowest_foot(robot: kt.Model, q: Any, slope: float) -> float:
    """The distance of the lower end of the lowest foot from a slope through the origin."""
    found = np.inf
    for side in ("left", "right"):
        for x in (-0.025, 0.145):  # the ends of a capsule of radius 4 cm
            T = reference(kt.frame_placement, robot, q, frame=f"{side}_foot").reshape(4, 4)
            p = T @ [x, 0.0, -0.035, 1.0]
            found = min(found, float(p[0] * np.sin(slope) + p[2] * np.cos(slope)) - 0.04)
    return found


@pytest.mark.parametrize("arguments", [(), ("ragdoll",)])
def test_the_ragdoll_begins_above_a_slope_unless_something_else_is_said(
    kinetree: Command, asked: Asked, arguments: tuple[str, ...]
) -> None:
    assert kinetree("simulate", *arguments).err == "error: this is enough\n"
    scene, q = asked.robot, asked.settings["q"]
    assert scene == zoo.load("ragdoll").on_slope(0.35)
    assert asked.settings["contact"] is True
    assert lowest_foot(scene, q, 0.35) == pytest.approx(0.1)
    assert 0.0 < np.abs(scene.difference(scene.neutral(), q)[3:]).max() < 0.35
    kinetree("simulate", *arguments)
    assert (asked.settings["q"] == q).all()


def test_a_robot_is_on_nothing_unless_it_is_said(kinetree: Command, asked: Asked) -> None:
    for arguments in (
        ("quadruped",),
        ("ragdoll", "--on", "nothing"),
        ("ragdoll", "--fixed-base"),
        (str(zoo.path("ragdoll")),),
    ):
        kinetree("simulate", *arguments)
        assert "contact" not in asked.settings
        assert not any(shape.name == "ground" for body in asked.robot.bodies.values() for shape in body.geometry)


@pytest.mark.parametrize(
    ("arguments", "scene"),
    [
        (("--on", "ground"), zoo.load("ragdoll").on_ground()),
        (("--on", "slope", "--angle", "-0.2"), zoo.load("ragdoll").on_slope(-0.2)),
        (("--on", "terrain", "--seed", "3"), zoo.load("ragdoll").on_terrain(seed=3)),
    ],
)
def test_what_a_robot_is_put_on(kinetree: Command, asked: Asked, arguments: tuple[str, ...], scene: kt.Model) -> None:
    kinetree("simulate", "ragdoll", "--contact", "partial", *arguments)
    assert asked.robot == scene
    assert asked.settings["contact"] == "partial"


def test_a_base_is_where_it_is_said(kinetree: Command, asked: Asked) -> None:
    kinetree("simulate", "ragdoll", "--q", "root_joint.z=0.3")
    assert asked.settings["q"][:7].tolist() == [0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]
    kinetree("simulate", "ragdoll", "--q", "left_knee=0.5")
    assert asked.settings["q"][2] > 0.9
    assert lowest_foot(asked.robot, asked.settings["q"], 0.35) == pytest.approx(0.1)


def test_starts_of_samples_are_near_each_other_and_the_same_for_a_seed(kinetree: Command, asked: Asked) -> None:
    starts = {}
    for seed in ("1", "2"):
        kinetree("simulate", "ragdoll", "--samples", "20", "--seed", seed, "--spread", "0.2")
        starts[seed] = asked.settings["q"]
    kinetree("simulate", "ragdoll", "--samples", "3", "--seed", "2", "--spread", "0.2")
    assert (asked.settings["q"] == starts["2"][:3]).all()
    assert starts["1"].shape == (20, asked.robot.nq)
    assert (starts["1"] != starts["2"]).any(axis=-1).all()
    away = np.array([asked.robot.difference(asked.robot.neutral(), q)[6:] for q in starts["1"]])
    for column, (low, high) in enumerate(zip(away.min(axis=0), away.max(axis=0), strict=True)):
        assert -0.2 <= low <= high <= 0.2, column
        assert high - low > 0.1
    kinetree("simulate", "quadruped", "--samples", "4", "--random")
    assert asked.settings["q"].shape == (4, 19)
    assert np.ptp(asked.settings["q"][:, 7]) > 0.3


def test_scattered_starts_keep_limits_and_places() -> None:
    for robot in (zoo.load("cart_pole"), zoo.load("quadruped"), every_joint()):
        q = robot.random(3)
        for seed in range(5):
            moved = scattered(robot, q, 0.3, np.random.default_rng(seed))
            robot.check_configuration(moved)
            assert (np.minimum(q, robot.lower) <= moved).all()
            assert (moved <= np.maximum(q, robot.upper)).all()
    dog = zoo.load("quadruped")
    assert (scattered(dog, dog.neutral(), 0.3, np.random.default_rng(0))[:3] == 0.0).all()


@pytest.mark.parametrize(
    ("arguments", "contact"),
    [
        (("--contact", "double_pendulum"), True),
        (("double_pendulum", "--contact"), True),
        (("--contact", "--dt", "0.01", "double_pendulum"), True),
        (("--contact", "all", "double_pendulum"), True),
        (("double_pendulum", "--contact", "rigid"), "rigid"),
        (("double_pendulum", "--contact=mujoco"), "mujoco"),
    ],
)
def test_the_setting_of_contacts_may_be_left_out(
    kinetree: Command, asked: Asked, arguments: tuple[str, ...], contact: object
) -> None:
    kinetree("simulate", *arguments)
    assert asked.robot.name == "double_pendulum"
    assert asked.settings["contact"] == contact


def test_invalid_choices_are_reported_in_one_sentence(kinetree: Command) -> None:
    result = kinetree("simulate", "double_pendulum", "--on", "water")
    assert result.code == 2
    message = " ".join(result.err.replace("│", " ").split())
    assert "Invalid value for '--on': 'water' is not one of 'nothing', 'ground', 'slope', 'terrain'" in message
    message = " ".join(kinetree("simulate", "double_pendulum", "--contact", "soft").err.replace("│", " ").split())
    assert "--contact: 'soft' is not one of all, partial, mujoco, compliant, rigid, and not a robot" in message
    message = kinetree("simulate", "double_pendulum", "--contact", "rigid", "--compare", "mujoco").err
    assert "compare with --contact mujoco" in " ".join(message.replace("│", " ").split())
    message = kinetree("simulate", "double_pendulum", "--on", "slope", "--angle", "3").err
    assert "'--angle': it must be a number between -1.5708 and 1.5708, not 3.0" in message


@pytest.mark.usefixtures("drawn")
def test_many_balls_on_a_slope(kinetree: Command) -> None:
    Path("ball.xml").write_text(BALL, encoding="utf-8")
    result = kinetree("simulate", "ball.xml", "--on", "slope", "--samples", "25", "--duration", "0.3", "--dt", "0.002")
    assert (result.code, result.err) == (0, "")
    assert "raised by up to 0.163 m, to start at least 0.1 m above the ground" in result.out
    assert "ball: 25 motions of 0.3 s, semi_implicit_euler, 150 steps of 0.002 s" in result.out
    words = result.out.replace("│", " ").split()
    assert ["motion", "19"] in [words[k : k + 2] for k in range(len(words))]
    assert "… 5 more" in result.out
    assert "lost to friction and contacts" in " ".join(words)
    motions = Trajectory.load("ball.npz")
    assert motions.q.shape == (25, 151, 7)
    assert (motions.v[:, -1, :3] != 0.0).any(axis=-1).all()
    assert Path("ball.png").read_bytes().startswith(b"\x89PNG")


def test_a_motion_compared_with_mujoco(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    result = kinetree("simulate", "double_pendulum", "--compare", "mujoco", "--passive", "none", *QUICK[:2])
    assert "double_pendulum compared with mujoco" in result.out
    assert "all terms are the same to 1e-08 relative to the largest number of each" in result.out
    assert result.code == 0

    def other(*given: Any) -> Any:
        return kt.bias_forces(*given) + 1.0

    monkeypatch.setattr("kinetree.comparison.steps.bias_forces", other)
    result = kinetree("simulate", "double_pendulum", "--compare", "mujoco", "--passive", "none", *QUICK)
    assert (result.code, result.out) == (1, "")
    result = kinetree("simulate", "double_pendulum", "--compare", "mujoco", "--passive", "none", *QUICK[:2])
    assert "they part at step 0, t = 0 s, in the bias forces of '" in result.out
    monkeypatch.setattr("kinetree.cli.simulate.find_spec", lambda _: None)
    result = kinetree("simulate", "double_pendulum", "--compare", "mujoco")
    assert result.code == 2
    assert "mujoco is not installed (pip install mujoco)" in " ".join(result.err.replace("│", " ").split())
