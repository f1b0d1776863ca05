"""Motions beside MuJoCo, step after step: nothing differs, and what is planted is found where it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.comparison.steps import TERMS, compare_steps

SCENE = """<mujoco model="scene"><option timestep="0.002" cone="elliptic"/><worldbody>
  <geom name="floor" type="plane" size="1 1 1" euler="0 8 0" friction="0.5"/>
  <body name="ball" pos="0 0 0.11"><freejoint name="free"/><geom name="ball" size="0.1" mass="1" condim="6"/></body>
  <body name="door" pos="0 1 1"><joint name="hinge" axis="0 1 0" range="-10 10" damping="0.1" frictionloss="0.05"/>
    <geom name="door" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="0.5" contype="0" conaffinity="0"/></body>
</worldbody><actuator><position joint="hinge" kp="3"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> tuple[kt.Model, kt.Trajectory]:
    path = tmp_path_factory.mktemp("scene") / "scene.xml"
    path.write_text(SCENE)
    robot = kt.load(path)
    return robot, kt.simulate(robot, v=[0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 3.0], duration=0.3, dt=0.002, contact=True)


def test_all_terms_are_those_of_mujoco(scene: tuple[kt.Model, kt.Trajectory]) -> None:
    steps: list[tuple[int, int]] = []
    result = compare_steps(*scene, progress=lambda done, count: steps.append((done, count)))
    assert [*result.errors] == [*TERMS]
    for term, error in result.errors.items():
        assert error < 1e-9, term
    assert steps[-1] == (result.steps, 150)
    assert "mujoco reads scene.xml itself" in result.notes
    assert "actuators act on neither side" in result.notes


def test_steps_that_mujoco_does_not_have_are_not_compared(scene: tuple[kt.Model, kt.Trajectory]) -> None:
    robot, motion = scene
    result = compare_steps(robot, replace(motion, integrator="discrete"))
    assert result.parting is None
    assert any("no integrator with the numbers of 'discrete'" in note for note in result.notes)
    with pytest.raises(kt.errors.OptionError, match="compliant and rigid contacts are not MuJoCo's"):
        compare_steps(robot, motion, contact="rigid")


def test_motions_that_cannot_be_compared_are_refused(scene: tuple[kt.Model, kt.Trajectory]) -> None:
    robot, motion = scene
    for given, message in (
        (replace(motion, qdd=np.full_like(motion.qdd, np.nan)), r"needs accelerations, .* record=\[.accelerations.\]"),
        (
            replace(motion, time=10.0 * motion.time),
            "needs the state of every step, and whole ones: record every step",
        ),
        (replace(motion, q=motion.q[:, 1:]), "the motion has 7 coordinates, 'scene' 8"),
    ):
        with pytest.raises(kt.errors.OptionError, match=message):
            compare_steps(robot, given)


def test_a_robot_that_cannot_move_is_compared() -> None:
    builder = kt.ModelBuilder("stone")
    builder.add_body("stone", kt.solids.sphere(0.1, mass=1.0))
    stone = builder.build()
    assert compare_steps(stone, kt.simulate(stone, duration=0.003)).parting is None


def test_a_changed_robot_is_written_for_mujoco(scene: tuple[kt.Model, kt.Trajectory]) -> None:
    robot, motion = scene
    moved = robot.with_gravity((0.0, 0.0, -5.0))
    result = compare_steps(moved, motion)
    assert result.notes[0].startswith("mujoco reads the robot as kinetree writes it in MJCF")
    assert result.errors["bias forces"] < 1e-12
    assert result.parting is not None
    assert (result.parting.step, result.parting.term) == (0, "accelerations")  # the motion is that of another gravity


def test_the_first_step_and_the_first_term_that_differ_are_reported(
    scene: tuple[kt.Model, kt.Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, motion = scene
    qdd = motion.qdd.copy()
    qdd[7:, 6] *= 1.001
    result = compare_steps(robot, replace(motion, qdd=qdd), tolerance=1e-3 * 0.999)
    assert result.parting is None or result.parting.term == "accelerations"
    result = compare_steps(robot, replace(motion, qdd=qdd), tolerance=1e-7)
    assert result.parting is not None
    assert (result.parting.step, result.parting.term, result.steps) == (7, "accelerations", 8)
    assert result.parting.time == pytest.approx(0.014)
    assert "of 'hinge'" in str(result.parting)
    assert str(result).endswith(str(result.parting))

    def heavier(*given: Any, **options: Any) -> Any:
        return 1.01 * kt.mass_matrix(*given, **options)

    monkeypatch.setattr("kinetree.comparison.steps.mass_matrix", heavier)
    result = compare_steps(robot, replace(motion, qdd=qdd), tolerance=1e-7)
    assert result.parting is not None
    assert (result.parting.step, result.parting.term) == (0, "mass matrix")
    assert result.parting.error == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize(
    ("field", "place"),
    [("frictions", "of dry friction"), ("touches", "of limits and contacts; there 'floor' and 'ball' touch")],
)
def test_rows_that_one_side_lacks_are_counted(
    scene: tuple[kt.Model, kt.Trajectory], monkeypatch: pytest.MonkeyPatch, field: str, place: str
) -> None:
    robot, motion = scene
    lacking = replace(kt.contact.soft_constraints(robot), **{field: ()})  # type: ignore[arg-type]
    monkeypatch.setattr("kinetree.comparison.steps.contact_option", lambda *_: lacking)
    result = compare_steps(robot, motion)
    assert result.parting is not None
    assert (result.parting.term, result.parting.where) == ("number of rows", place)
    assert result.parting.ours < result.parting.theirs


def test_without_contacts_there_are_no_rows(scene: tuple[kt.Model, kt.Trajectory]) -> None:
    robot, _ = scene
    flight = kt.simulate(robot, q=[0, 0, 9, 0, 0, 0, 1, 0], duration=0.02, dt=0.002, passive=["damping"])
    result = compare_steps(robot, flight, contact=False, passive=["damping"])
    assert result.parting is None
    assert result.steps == 10
    assert str(result).endswith("all terms are the same to 1e-08 relative to the largest number of each")


def test_impossible_comparisons_are_reported(
    scene: tuple[kt.Model, kt.Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, motion = scene
    batch = replace(motion, q=np.array([motion.q, motion.q]))
    with pytest.raises(kt.errors.OptionError, match="compare_steps takes one motion, and this is a batch"):
        compare_steps(robot, batch)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(kt.errors.MissingPackageError, match="comparing steps needs mujoco: pip install mujoco"):
        compare_steps(robot, motion)
