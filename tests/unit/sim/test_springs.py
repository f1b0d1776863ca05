"""Springs and the limits of motors in simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.errors import OptionError, SimulationError
from kinetree.sim import simulate
from kinetree.spatial import Inertia, Sym3, Vec3

Array = NDArray[np.float64]


def wheel(stiffness: float, rest: float = 0.0, limits: kt.model.Limits | None = None, damping: float = 0.0) -> kt.Model:
    """Half a kg·m² on a spring."""
    builder = kt.ModelBuilder("wheel")
    builder.add_body("stand")
    builder.add_body("disc", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.5)))
    builder.add_joint(
        "axle", kt.Revolute([0, 0, 1]), "stand", "disc", stiffness=[stiffness], rest=[rest], limits=limits,
        damping=[damping],
    )  # fmt: skip
    return builder.build()


def motor(effort: float = math.inf, velocity: float = math.inf) -> kt.model.Limits:
    return kt.model.Limits((-math.inf,), (math.inf,), (velocity,), (effort,))


def test_a_spring_swings_about_its_rest_position() -> None:
    motion = simulate(wheel(8.0, rest=0.3), q=[1.0], duration=2.0)
    np.testing.assert_allclose(motion.q[:, 0], 0.3 + 0.7 * np.cos(4.0 * motion.time), atol=1e-9)
    np.testing.assert_allclose(motion.potential, 4.0 * (motion.q[:, 0] - 0.3) ** 2, atol=1e-12)
    assert np.abs(motion.balance_error).max() < 1e-9


def test_semi_implicit_euler_keeps_the_energy_of_a_spring_within_bounds() -> None:
    motion = simulate(wheel(8.0), q=[1.0], duration=20.0, dt=0.01, integrator="semi_implicit_euler")
    error = np.abs(motion.balance_error)
    assert error.max() < 0.03 * motion.total[0]
    assert error[-500:].max() < 1.05 * error[:500].max()


def test_springs_can_be_left_out() -> None:
    motion = simulate(wheel(8.0), q=[1.0], duration=0.1, passive=["damping", "friction"])
    np.testing.assert_array_equal(motion.q, 1.0)
    np.testing.assert_array_equal(motion.potential, 0.0)


@pytest.mark.parametrize(("integrator", "parts"), [("rk4", 7), ("semi_implicit_euler", 10)])
def test_steps_are_divided_where_a_spring_is_stiff(integrator: str, parts: int) -> None:
    swing = 950.0
    motion = simulate(wheel(0.5 * swing**2), q=[1e-3], duration=0.1, dt=0.01, integrator=integrator)
    assert motion.substeps == parts
    assert np.abs(motion.q).max() < 1.2e-3


@pytest.mark.parametrize(("integrator", "parts"), [("rk4", 12), ("semi_implicit_euler", 9)])
def test_decay_and_swing_add_up_where_both_are_the_integrators_to_follow(integrator: str, parts: int) -> None:
    """Semi-implicit Euler takes friction implicitly, so for it the spring counts alone."""
    rate = 895.0
    robot = wheel(0.5 * rate**2, damping=0.5 * rate)
    motion = simulate(robot, q=[1e-3], duration=0.05, dt=0.01, integrator=integrator)
    assert motion.substeps == parts
    assert np.abs(motion.q).max() <= 1e-3


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_the_parts_of_a_divided_step_have_their_own_time(integrator: str) -> None:
    """A controller sees the time and state of each part, as if the step had been that short from the beginning."""
    robot = wheel(0.5 * 200.0**2)

    def tau(t: float, q: Array, v: Array) -> Array:
        return 100.0 * np.sin(200.0 * t) - 3.0 * q - 0.1 * v

    settings: dict[str, Any] = {"tau": tau, "duration": 0.2, "control_dt": "stages", "integrator": integrator}
    motion = simulate(robot, dt=0.02, **settings)
    parts = motion.substeps
    assert parts > 1
    fine = simulate(robot, dt=0.02 / parts, **settings)
    assert fine.substeps == 1
    for name in ("q", "v", "work", "dissipated"):
        np.testing.assert_allclose(getattr(motion, name), getattr(fine, name)[::parts], rtol=0, atol=1e-11)
    assert np.abs(motion.v).max() > 1.0


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_spring_that_is_too_stiff_is_named(integrator: str) -> None:
    with pytest.raises(
        SimulationError,
        match=r"the spring of 'axle' swings it within .* s, so the integrator '\w+' would need \d+ parts",
    ):
        simulate(wheel(1e14), q=[1e-3], duration=0.1, integrator=integrator)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_motor_gives_no_more_than_its_effort(integrator: str) -> None:
    motion = simulate(wheel(0.0, limits=motor(effort=2.0)), tau=[5.0], duration=1.0, limits=True, integrator=integrator)
    np.testing.assert_allclose(motion.v[:, 0], 4.0 * motion.time, atol=1e-12)
    np.testing.assert_array_equal(motion.tau, 2.0)
    assert motion.work[-1] == pytest.approx(2.0 * motion.q[-1, 0], rel=1e-2)
    free = simulate(wheel(0.0, limits=motor(effort=2.0)), tau=[5.0], duration=1.0)
    assert free.v[-1, 0] == pytest.approx(10.0)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_motor_drives_a_joint_no_faster_than_its_velocity(integrator: str) -> None:
    robot = wheel(0.0, limits=motor(velocity=3.0))
    motion = simulate(robot, tau=[5.0], duration=1.0, limits=True, integrator=integrator)
    assert 3.0 <= motion.v[:, 0].max() <= 3.0 + 1e-2  # what a step of 1 ms adds
    slowed = simulate(robot, v=[6.0], tau=[-5.0], duration=0.1, limits=True, integrator=integrator)
    assert slowed.v[-1, 0] == pytest.approx(5.0, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"passive": "spring"}, r"passive must be True, False or a list of names among .*such as \['spring'\]"),
        ({"passive": ["springs"]}, r"there is no passive force 'springs'.*'spring'"),
        ({"passive": 1}, "passive must be True, False or a list"),
        ({"limits": 2}, "limits must be True or False, not 2; the limits themselves belong to the joints"),
    ],
)
def test_switches_that_are_none_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        simulate(wheel(1.0), duration=0.01, **options)  # type: ignore[arg-type]
