"""Functions of arrays that are no kernels: attitudes, poses, layouts, methods of robots, identification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.programs.alike import assert_runs_as_it_is, assert_same

RNG = np.random.default_rng(7)
FLYER = kt.zoo.load("quadruped")
ARM = kt.zoo.load("arm6")
PENDULUM = kt.zoo.load("double_pendulum")
KINDS = ["matrix", "quaternion", "quaternion_wxyz", "rotation_vector", "ZYX", "ZXZ"]
VECTORS = RNG.normal(size=(2, 3))
MOTION = RNG.normal(size=6)


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_attitudes_are_converted_and_differentiated(source: str, target: str) -> None:
    def both(x: Any) -> Any:
        J = kt.lie.jacobian(x, source, target, wrt="displacement")
        return kt.lie.convert(x, source, target), J, kt.lie.jacobian(x, source, target, wrt="coordinates")

    assert_runs_as_it_is(both, kt.lie.convert(VECTORS, "rotation_vector", source))


def test_exponential_maps() -> None:
    def maps(w: Any, m: Any) -> Any:
        R, T = kt.lie.rotation_exp(w), kt.lie.pose_exp([*m[:3], *m[3:]])
        found = [R, kt.lie.rotation_log(R), kt.lie.rotation_exp_jacobian(w), kt.lie.rotation_log_jacobian(R)]
        return [*found, T, kt.lie.pose_log(T), kt.lie.pose_exp_jacobian(m), kt.lie.pose_log_jacobian(T)]

    assert_runs_as_it_is(maps, VECTORS, MOTION)


def test_small_turns_keep_their_digits_in_a_program() -> None:
    @kt.program(w=3)
    def there_and_back(w: Any) -> Any:
        return kt.lie.rotation_log(kt.lie.rotation_exp(w))

    for size in (0.0, 1e-300, 1e-12, 1e-5, np.pi - 1e-9):
        w = size * np.array([0.6, 0.0, 0.8])
        np.testing.assert_allclose(there_and_back(w), there_and_back.function(w), rtol=1e-12, atol=0)


@pytest.mark.parametrize("library", ["pinocchio", "mujoco", "drake"])
def test_layouts(library: str) -> None:
    layout = kt.interop.Layout(FLYER, library)
    q, v, qdd, tau = FLYER.random(3), *RNG.normal(size=(3, FLYER.nv))

    def there_and_back(q: Any, v: Any, qdd: Any, tau: Any) -> Any:
        theirs = layout.q_to(q)
        found = [theirs, layout.v_to(q, v), layout.qdd_to(q, v, qdd), layout.tau_to(q, tau), layout.q_from(theirs)]
        back = layout.v_from(theirs, v), layout.qdd_from(theirs, v, qdd), layout.tau_from(theirs, tau)
        return [*found, *back, layout.v_to(q, np.stack([v, qdd]))]

    assert_runs_as_it_is(there_and_back, q, v, qdd, tau)


def test_methods_of_robots() -> None:
    q, v = FLYER.random(4), RNG.normal(size=FLYER.nv)
    base = next(iter(FLYER.quaternions))

    def moved(q: Any, v: Any) -> Any:
        after = FLYER.integrate(q, np.stack([v, -v]))
        turned = FLYER.with_quaternion(q, base, [v[0], v[1], v[2], 1.0])
        images = FLYER.mirrored_configuration(q), FLYER.mirrored_velocity(v)
        return [after, FLYER.difference(q, after), FLYER.quaternion(q, base), turned, *images]

    assert_runs_as_it_is(moved, q, v)


def test_parameters_by_their_logarithms_and_regressors() -> None:
    theta = 0.3 * RNG.normal(size=10)

    def bodies(theta: Any) -> Any:
        pi = kt.identification.log_cholesky.to_parameters(np.stack([theta, 2.0 * theta]))
        J = kt.identification.log_cholesky.jacobian(theta)
        return (
            pi,
            J,
            kt.identification.log_cholesky.from_parameters(pi),
            kt.identification.log_cholesky.pseudo_inertia(pi),
        )

    assert_runs_as_it_is(bodies, theta, rtol=1e-11)

    def torque(q: Any, v: Any) -> Any:
        return kt.dynamics.joint_torque_regressor(ARM, q, v, v) @ kt.identification.inertial_parameters(ARM) - kt.rnea(
            ARM, q, v, v
        )

    assert_runs_as_it_is(torque, *RNG.normal(size=(2, 6)))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_rollouts_have_as_many_steps_as_torques_have_rows(integrator: str) -> None:
    def states(q: Any, v: Any, tau: Any, dt: Any) -> Any:
        found = kt.rollout(PENDULUM, q, v, tau, dt, integrator=integrator)
        return found, kt.rollout(PENDULUM, q, v, tau[:0], dt), kt.rollout(PENDULUM, q, v, [tau[0], tau[1]], 0.01)

    q, v = RNG.normal(size=(2, 2))
    tau, dt = RNG.normal(size=(3, 2)), 0.02
    assert_same(kt.program(states, q=2, v=2, tau=(3, 2), dt=())(q, v, tau, dt), states(q, v, tau, dt))


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a transform": (lambda x: kt.Transform.from_matrix(kt.lie.pose_exp(x)).matrix, r"join a pose as an array \(4, 4\)"),
    "a placement": (lambda x: kt.lie.placement(x[:3]).matrix, r"join a pose as an array \(4, 4\)"),
    "angles of it": (lambda x: kt.lie.placement(rpy=x[:3]).matrix, r"join a pose as an array \(4, 4\)"),
    "a rotation of it": (lambda x: kt.lie.placement(rotation=kt.lie.rotation_exp(x[:3])).matrix,
        "join a pose as an array"),
    "a simulation": (lambda x: kt.simulate(ARM, q=x, duration=0.01).q[-1], "use kt.rollout"),
    "a check": (lambda x: ARM.check_configuration(x) or x, "whether q is a configuration is not known"),
    "conditioning": (lambda x: ARM.conditioning(x), "ask about results of the program, outside"),
    "singularities": (lambda x: x * len(ARM.near_singular(x)), "ask about results of the program, outside"),
    "a chart": (lambda x: ARM.rechart(x, x), "recharted states go into programs as arguments"),
    "another robot": (
        lambda x: kt.identification.with_inertial_parameters(ARM, np.concatenate([x] * 10)).mass,
            "give them with each call, as param",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("function", "words"), REFUSED.values(), ids=REFUSED)
def test_what_needs_numbers_says_what_to_use(function: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(kt.errors.ProgramError, match=rf"test_other_functions.py:\d+: .*{words}"):
        kt.program(function, x=6)(np.zeros(6))
