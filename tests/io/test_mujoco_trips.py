"""Real robots as MJCF, in MuJoCo itself. docs/round_trips.md has all of them."""

from __future__ import annotations

import pytest

from tests.robots import load_robot, robot_path

pytest.importorskip("mujoco")

from tests.io.mujoco_trips import trip


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
@pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    "name", ["go1", "anymal_c_simple_description/urdf/anymal.urdf", "icub", "romeo", "allegro_left_hand", "ur5_robot"]
)
def test_mujoco_computes_the_same_of_a_real_robot(name: str, floating_base: bool) -> None:
    """Massless links, point masses, inertias that no body has, followers, a root called "world"."""
    robot = load_robot(name, floating_base=floating_base, mimic=True)
    errors = trip(robot, samples=1).beside_robot
    assert errors is not None
    assert max(errors) < 1e-9


@pytest.mark.parametrize("name", ["panda", "solo12"])
def test_mujoco_computes_the_same_of_the_original_file(name: str) -> None:
    errors = trip(load_robot(name, mimic=True), robot_path(name), samples=1).beside_original
    assert errors is not None
    assert max(errors) < 1e-9


@pytest.mark.filterwarnings("ignore::kinetree.errors.ModelWarning")
def test_the_one_robot_that_mjcf_cannot_hold_is_reported() -> None:
    result = trip(load_robot("romeo_small", mimic=True), samples=1)
    assert result.beside_robot is not None
    assert result.beside_robot.mass_matrix > 1e-3
    assert any("'RShoulderYawLink' has an inertia that no body can have" in loss for loss in result.losses)
