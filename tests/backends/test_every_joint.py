"""Robots with joints of every kind: batches, loops over bodies, drives, steps of time and derivatives.

One that has them all; and, where compiling it takes long, several that each have some. Their dynamics are optimised;
where programs are compared with each other, code that is quick to compile does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.expr import Program, forward_derivative, interpret, reverse_derivative
from tests.kernels import compiled_late
from tests.quick_code import quick_code
from tests.robots import GROUPS, every_joint, group_of_joints

Array = NDArray[np.float64]
ALL = {"passive": True, "limits": True}


@cache
def whole() -> kt.Model:
    return every_joint()


Make = Callable[[], kt.Model]


@pytest.fixture(name="quick")
def _quick() -> Iterator[None]:
    """For tests of programs, whatever code is made of them."""
    with quick_code():
        yield


OF_PROGRAMS = pytest.mark.usefixtures("quick")
MAKERS = {name: cache(partial(group_of_joints, name)) for name in GROUPS}
EACH_GROUP = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def states(robot: kt.Model, count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(8)
    q = np.stack([robot.random(rng) for _ in range(count)])
    v, tau = rng.normal(size=(2, count, robot.nv))
    return q, v, tau


def test_it_has_every_kind_there_is() -> None:
    from kinetree import joints

    kinds = {type(joint.kind).__name__ for joint in whole().joints.values()}
    assert kinds == set(joints.__all__) - {"Fixed", "JointKind", "JointMotion"}
    assert whole().tree.coordinates is not None


def test_each_joint_is_in_a_group() -> None:
    groups = [group_of_joints(name) for name in GROUPS]
    assert sorted(name for robot in groups for name in robot.joints) == sorted(whole().joints)
    assert all(joint.kind == whole().joints[name].kind for robot in groups for name, joint in robot.joints.items())
    assert any(robot.couplings for robot in groups)


@OF_PROGRAMS
@pytest.mark.parametrize("options", [ALL, {}], ids=["driven", "rigid"])
@EACH_GROUP
def test_loops_over_bodies_give_what_a_straight_line_gives(make: Make, options: dict[str, Any]) -> None:
    robot = make()
    q, v, tau = states(robot, 5)
    straight, rolled = (compiled_late(robot, kt.aba, unroll=unroll, **options)(q, v, tau) for unroll in (True, False))
    np.testing.assert_allclose(rolled, straight, rtol=1e-9, atol=1e-9 * np.abs(straight).max())


@OF_PROGRAMS
@pytest.mark.parametrize(
    "function", [kt.rnea, kt.bias_forces, kt.dynamics.passive_forces, kt.kinematics.coordinate_rates]
)
def test_loops_give_the_same_for_other_functions(function: Any) -> None:
    arrays = states(whole(), 5)[: len(function.definition.inputs)]
    straight, rolled = (compiled_late(whole(), function, unroll=unroll)(*arrays) for unroll in (True, False))
    np.testing.assert_allclose(rolled, straight, rtol=1e-11, atol=1e-11 * np.abs(straight).max())


@EACH_GROUP
def test_a_sample_is_the_same_to_the_bit_in_every_batch(make: Make) -> None:
    robot = make()
    q, v, tau = states(robot, 13)
    batch = kt.aba(robot, q, v, tau, **ALL)
    for k in (0, 7, 12):
        np.testing.assert_array_equal(kt.aba(robot, q[k], v[k], tau[k], **ALL), batch[k])
    np.testing.assert_array_equal(kt.aba(robot, q, v, tau, threads=2, **ALL), batch)


@EACH_GROUP
def test_inverse_dynamics_undoes_forward_dynamics_with_all_drives(make: Make) -> None:
    robot = make()
    q, v, tau = states(robot, 5)
    qdd = kt.aba(robot, q, v, tau, **ALL)  # without limits of any joint
    found = kt.rnea(robot, q, v, qdd, passive=True)
    np.testing.assert_allclose(found, tau, atol=1e-9 * max(1.0, np.abs(qdd).max()))


@OF_PROGRAMS
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
@EACH_GROUP
def test_many_steps_in_a_kernel_are_single_steps(make: Make, integrator: Any) -> None:
    robot = make()
    q, v, tau = (x[0] for x in states(robot, 1))
    long = kt.rollout(robot, q, v, np.tile(tau, (4, 1)), 1e-3, integrator=integrator, passive=True)
    for k in range(4):
        (state,) = kt.rollout(robot, q, v, tau[None], 1e-3, integrator=integrator, passive=True)
        np.testing.assert_allclose(long[k], state, atol=1e-9 * max(1.0, np.abs(state).max()))
        q, v = state[: robot.nq], state[robot.nq :]


@pytest.mark.parametrize("function", [kt.aba, kt.rnea], ids=["aba", "rnea"])
@EACH_GROUP
def test_derivatives_of_programs_are_slopes(make: Make, function: Any) -> None:
    """By all numbers of q, v and the third input at once, along one direction; and back along one.

    The derivatives of programs are what is tested, so they are interpreted, and no code is made of them.
    """
    robot = make()
    program = compiled_late(robot, function, passive=True).__self__.program
    q, v, u = (x[0] for x in states(robot, 1))
    rng = np.random.default_rng(1)
    dq, dv, du = (rng.normal(size=x.shape) for x in (q, v, u))
    _, found = results(forward_derivative(program), q, v, u, dq, dv, du)

    def at(h: float) -> Array:
        (found,) = results(program, q + h * dq, v + h * dv, u + h * du)
        return found

    h = 1e-3
    slope = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h)
    np.testing.assert_allclose(found, slope, atol=1e-6 * np.abs(slope).max())
    w = rng.normal(size=robot.nv)
    _, *back = results(reverse_derivative(program), q, v, u, w)
    total = sum(float(x @ d) for x, d in zip(back, (dq, dv, du), strict=True))
    assert total == pytest.approx(float(found @ w), rel=1e-9)


def results(program: Program, *arrays: Array) -> list[Array]:
    """What a program gives for one sample."""
    return [np.array(numbers) for numbers in interpret(program, *(x.tolist() for x in arrays))]
