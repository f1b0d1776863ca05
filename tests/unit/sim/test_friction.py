"""Friction: what it takes from the motion, and what it asks of the integrator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import zoo
from kinetree.errors import StiffFrictionError
from kinetree.functions.dynamics import crba
from kinetree.functions.stiffness import Fastest, Search, steepest_friction
from kinetree.joints import Prismatic, Revolute
from kinetree.model import Mimic, Model, ModelBuilder
from kinetree.sim import simulate
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from kinetree.tree.drive import FRICTION_SPEED

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

BOTH = ("damping", "friction")


def wheel(inertia: float = 0.5, damping: float = 0.0, friction: float = 0.0) -> Model:
    """A balanced wheel: nothing acts on it but friction and torques."""
    builder = ModelBuilder("wheel")
    builder.add_body("stand")
    builder.add_body("disc", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(inertia)))
    builder.add_joint(
        "axle", Revolute([0, 0, 1]), "stand", "disc", Transform.identity(), damping=[damping], friction=[friction]
    )
    return builder.build()


def fastest(search: Fastest, q: NDArray[np.float64]) -> tuple[float, int]:
    """The rate at a configuration, and the joint's number."""
    (rate,) = search.along(q[None])
    return float(rate), search.joint()


@pytest.mark.parametrize(("integrator", "tolerance"), [("rk4", 1e-10), ("semi_implicit_euler", 2e-3)])
def test_viscous_damping_decays_exponentially(integrator: str, tolerance: float) -> None:
    motion = simulate(wheel(0.5, damping=0.4), v=[3.0], duration=2.0, integrator=integrator)
    np.testing.assert_allclose(motion.v[:, 0], 3.0 * np.exp(-0.8 * motion.time), rtol=tolerance)
    assert motion.dissipated[-1] == pytest.approx(0.25 * (9.0 - motion.v[-1, 0] ** 2), rel=2 * tolerance)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_coulomb_friction_brakes_evenly_and_then_holds(integrator: str) -> None:
    motion = simulate(wheel(0.5, friction=0.2), v=[1.0], duration=4.0, integrator=integrator)
    sliding = motion.time < 2.0
    np.testing.assert_allclose(motion.v[sliding, 0], 1.0 - 0.4 * motion.time[sliding], atol=1e-3)
    assert np.abs(motion.v[motion.time > 3.0]).max() < 1e-6
    assert motion.dissipated[-1] == pytest.approx(0.25, rel=1e-3)


def test_a_joint_loaded_below_its_friction_creeps_slower_than_the_smoothing_speed() -> None:
    motion = simulate(wheel(0.5, friction=0.2), tau=[0.1], duration=3.0)
    assert motion.v[-1, 0] == pytest.approx(FRICTION_SPEED * np.arctanh(0.5), rel=1e-9)
    assert motion.work[-1] == pytest.approx(0.1 * motion.q[-1, 0], rel=1e-9)


def test_euler_books_work_and_friction_at_the_velocity_that_a_step_leads_to() -> None:
    """Σ h τ v₊ and Σ h v₊ᵀ c v₊, with the c of the velocity that the step began with."""
    robot, tau, dt = gripper(mimic=False), np.array([0.4, -0.3]), 0.01
    braking = ["damping", "friction"]
    motion = simulate(
        robot, v=[2.0, -1.0], tau=tau, duration=0.2, dt=dt, integrator="semi_implicit_euler", passive=braking
    )
    before, after = motion.v[:-1], motion.v[1:]
    rest = np.zeros_like(before)
    coefficient = -kt.dynamics.passive_forces(robot, rest, before, passive=braking) / before
    np.testing.assert_allclose(motion.dissipated[1:], np.cumsum(dt * coefficient * after**2, axis=0).sum(axis=1))
    np.testing.assert_allclose(motion.work[1:], np.cumsum(dt * after @ tau), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["arm6", "arm7", "cart_pole"])
@pytest.mark.parametrize(("integrator", "tolerance"), [("rk4", 1e-5), ("semi_implicit_euler", 2e-2)])
def test_friction_only_dissipates_and_the_balance_closes(name: str, integrator: str, tolerance: float) -> None:
    robot = zoo.load(name)
    motion = simulate(robot, q=robot.random(3), duration=1.0, integrator=integrator)
    assert (np.diff(motion.dissipated) >= 0.0).all()
    assert motion.dissipated[-1] > 1e-4
    assert motion.total[-1] < motion.total[0]
    assert np.abs(motion.balance_error).max() < tolerance * np.ptp(motion.potential)


@pytest.mark.parametrize("passive", [False, [], ["spring"]])
def test_friction_can_be_left_out(passive: Any) -> None:
    motion = simulate(wheel(damping=0.4, friction=0.2), v=[1.0], duration=0.1, passive=passive)
    np.testing.assert_array_equal(motion.v, 1.0)


def test_one_sort_of_friction_can_be_left_out() -> None:
    robot = wheel(0.5, damping=0.4, friction=0.2)
    viscous = simulate(robot, v=[3.0], duration=0.5, passive=["damping"])
    np.testing.assert_allclose(viscous.v[:, 0], 3.0 * np.exp(-0.8 * viscous.time), rtol=1e-10)
    coulomb = simulate(robot, v=[3.0], duration=0.5, passive=["friction"])
    np.testing.assert_allclose(coulomb.v[:, 0], 3.0 - 0.4 * coulomb.time, rtol=1e-10)


def test_friction_is_steepest_at_rest() -> None:
    robot = gripper(mimic=False)
    steepest = steepest_friction(robot, BOTH)
    np.testing.assert_allclose(steepest, [0.3 + 0.2 / 0.01, 0.1 + 0.5 / 0.05], rtol=1e-15)
    slow = np.full(2, 1e-9)
    np.testing.assert_allclose(
        kt.dynamics.passive_forces(robot, [0.0, 0.0], slow, passive=BOTH) / -slow, steepest, rtol=1e-12
    )
    np.testing.assert_array_equal(steepest_friction(robot, ["damping"]), [0.3, 0.1])
    np.testing.assert_array_equal(steepest_friction(robot, ["spring"]), 0.0)


def gripper(mimic: bool = True) -> Model:
    """A finger, and one that follows it in the mirror at twice the rate; both with friction of their own."""
    builder = ModelBuilder("gripper")
    builder.add_body("palm")
    for k, name in enumerate(("left", "right")):
        builder.add_body(name, Inertia.from_com(1.0 + k, Vec3(0.1, 0.0, 0.0), Sym3.scalar(0.02)))
        builder.add_joint(
            f"{name}_knuckle", Revolute([0, 0, 1]), "palm", name, damping=[(0.3, 0.1)[k]], friction=[(0.2, 0.5)[k]],
            friction_speed=[(0.01, 0.05)[k]], stiffness=[(0.0, 2.0)[k]], rest=[(0.0, 0.4)[k]],
            mimic=Mimic("left_knuckle", -2.0) if mimic and k else None,
        )  # fmt: skip
    return builder.build()


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_what_a_follower_has_acts_on_its_leader(integrator: str) -> None:
    """It moves as one wheel with d = d1 + m² d2, and so on; Coulomb friction of the follower counts |m| times."""
    one = ModelBuilder("one", gravity=(0.0, 0.0, 0.0))
    one.add_body("stand")
    inertia = (0.02 + 0.01) + 4.0 * (0.02 + 2.0 * 0.01)
    one.add_body("disc", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(inertia)))
    one.add_joint(
        "axle", Revolute([0, 0, 1]), "stand", "disc", damping=[0.3 + 4.0 * 0.1], stiffness=[4.0 * 2.0], rest=[-0.2]
    )
    chosen = ["damping", "spring"]
    motion = simulate(gripper(), v=[1.5], duration=0.3, integrator=integrator, passive=chosen)
    expected = simulate(one.build(), v=[1.5], duration=0.3, integrator=integrator, passive=chosen)
    np.testing.assert_allclose(motion.q, expected.q, atol=1e-12)
    np.testing.assert_allclose(motion.dissipated, expected.dissipated, atol=1e-12)
    np.testing.assert_allclose(motion.potential, expected.potential, atol=1e-12)
    whole = simulate(gripper(), v=[1.5], duration=0.3, integrator=integrator)
    assert whole.dissipated[-1] > 0.1
    assert np.abs(whole.balance_error).max() < (1e-5 if integrator == "rk4" else 5e-2)
    sliding = kt.dynamics.passive_forces(gripper(), [0.0], [1.0], passive=["friction"])
    np.testing.assert_allclose(sliding, [-(0.2 + 2.0 * 0.5)], rtol=1e-12)


def test_a_follower_can_be_the_stiff_one() -> None:
    builder = ModelBuilder("pair")
    builder.add_body("stand")
    for k, damping in enumerate((0.0, 2.0)):
        builder.add_body(f"disc{k}", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.5)))
        mimic = Mimic("axle0", 3.0) if k else None
        builder.add_joint(f"axle{k}", Revolute([0, 0, 1]), "stand", f"disc{k}", damping=[damping], mimic=mimic)
    robot = builder.build()
    rate, joint = fastest(Fastest(Search.of(robot, BOTH)), robot.neutral())
    assert rate == pytest.approx(9.0 * 2.0 / (0.5 + 9.0 * 0.5), rel=1e-12)
    assert joint == 1


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_fastest_decay_is_the_largest_eigenvalue(name: str) -> None:
    robot = zoo.load(name)
    friction = steepest_friction(robot, BOTH)
    root = np.sqrt(friction)
    stiffness = Fastest(Search.of(robot, BOTH))
    for seed in range(5):
        q = robot.random(seed)
        rate, _ = fastest(stiffness, q)
        largest = np.linalg.eigvalsh(root[:, None] * np.linalg.inv(crba(robot, q)) * root)[-1]
        assert rate == pytest.approx(largest, rel=0.25)


def test_the_fastest_decay_is_found_again_after_it_has_gone_to_another_branch() -> None:
    """Two damped hinges, each with a mass on a slider: drawn in, it turns a hundred times as easily as far out."""
    builder = ModelBuilder("two arms", gravity=(0.0, 0.0, 0.0))
    builder.add_body("stand")
    for name in ("left", "right"):
        builder.add_body(f"{name} rail", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.004)))
        builder.add_joint(f"{name} hinge", Revolute([0, 0, 1]), "stand", f"{name} rail", damping=[1.0])
        builder.add_body(f"{name} load", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.001)))
        builder.add_joint(f"{name} slider", Prismatic([1, 0, 0]), f"{name} rail", f"{name} load")
    robot = builder.build()
    followed = Fastest(Search.of(robot, BOTH))
    for q, hinge in (([0.0, 0.0, 0.0, 1.0], 0), ([0.0, 1.0, 0.0, 0.0], 2), ([0.0, 0.0, 0.0, 1.0], 0)):
        rate, joint = fastest(followed, np.array(q))
        assert rate == pytest.approx(200.0, rel=1e-9)
        assert joint == hinge


def test_steps_become_finer_where_a_joint_is_stiff_on_the_way() -> None:
    """A mass that slides inward along a damped hinge's rail, and out again: halfway the hinge is ten times as stiff."""
    builder = ModelBuilder("arm", gravity=(0.0, 0.0, 0.0))
    builder.add_body("stand")
    builder.add_body("rail", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.1)))
    builder.add_joint("hinge", Revolute([0, 0, 1]), "stand", "rail", damping=[100.0])
    builder.add_body("load", Inertia.from_com(1.0, Vec3.zero(), Sym3.zero()))
    builder.add_joint("slider", Prismatic([1, 0, 0]), "rail", "load")
    motion = simulate(builder.build(), q=[0.0, 0.95], v=[0.0, -2.0], duration=0.95, dt=0.01)
    assert motion.q[-1, 1] == pytest.approx(-0.95)
    assert motion.substeps == 7  # 0.01 s · 100 / 0.1 / 1.5


@pytest.mark.parametrize("stiff", [0, 1, 2])
def test_fastest_decay_names_its_joint(stiff: int) -> None:
    damping = [0.1, 0.1, 0.1]
    damping[stiff] = 5.0
    builder = ModelBuilder("wheels")
    builder.add_body("stand")
    for k in range(3):
        builder.add_body(f"disc{k}", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.5)))
        builder.add_joint(f"axle{k}", Revolute([0, 0, 1]), "stand", f"disc{k}", damping=[damping[k]])
    robot = builder.build()
    rate, joint = fastest(Fastest(Search.of(robot, BOTH)), robot.neutral())
    assert rate == pytest.approx(10.0, rel=1e-6)
    assert joint == stiff


def test_rk4_divides_its_steps_where_friction_is_stiff() -> None:
    rate = 2e4
    motion = simulate(wheel(1e-3, damping=1e-3 * rate), v=[1.0], duration=0.01, dt=1e-3)
    assert motion.substeps == 14
    assert np.abs(motion.v[-1, 0]) < 1e-6
    assert simulate(wheel(1e-3, damping=1e-3), v=[1.0], duration=0.01, dt=1e-3).substeps == 1


def test_rk4_refuses_friction_that_is_too_stiff_and_euler_takes_it() -> None:
    robot = wheel(1e-6, damping=3.0, friction=10.0)
    with pytest.raises(
        StiffFrictionError, match=r"the friction of 'axle' stops it within .* use the integrator 'semi_implicit_euler'"
    ):
        simulate(robot, v=[1.0], duration=0.1)
    motion = simulate(robot, v=[1.0], duration=0.1, integrator="semi_implicit_euler")
    assert (motion.v[1:, 0] >= 0.0).all()
    assert motion.v[5, 0] < 1e-6
