"""Limits and dry friction of robots with many contacts: in loops, against rows that are written out."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.differentiation import specialized
from kinetree.compiler.reference import on_numbers
from kinetree.contact_model import spec
from kinetree.functions.contact_dynamics import CONTACT_DYNAMICS

OPTIONS = {"passive": ("friction",), "limits": False, "gradient_softness": 0.0}
BOXES = 15
LAWS = (
    "",
    'solreflimit="0.03 0.8" solimplimit="0.8 0.97 0.02 0.4 3"',
    'solreflimit="-400 -30" solimplimit="0.9 0.9 0.001 0.5 1"',
    'margin="0.05" solimplimit="0.7 0.95 0.1 0.5 2.5"',
)


@cache
def branches(joints: int, seed: int) -> kt.Model:
    """A tree of hinges and slides, with limits, dry friction, tendons across branches and a ball joint at its end, on a
    free body; and boxes that touch the ground, for its contacts to be in loops."""
    rng = np.random.default_rng(seed)
    parent = [int(rng.integers(-1, k)) for k in range(joints)]
    bodies: list[str] = [""] * joints
    for k in reversed(range(joints)):
        x, y, z = rng.normal(size=3)
        loss = f'frictionloss="{rng.uniform(0.02, 0.2)}"' if rng.random() < 0.5 else ""
        kind = "hinge" if rng.random() < 0.7 else "slide"
        ends = f'range="{-rng.uniform(0.05, 0.3)} {rng.uniform(0.05, 0.3)}"'
        joint = f'<joint name="j{k}" type="{kind}" axis="{x} {y} {z}" {ends} {loss} {LAWS[k % len(LAWS)]}/>'
        inside = "".join(bodies[i] for i in range(k + 1, joints) if parent[i] == k)
        inertia = '<inertial pos="0.05 0.02 0" mass="0.5" diaginertia="0.01 0.02 0.015"/>'
        bodies[k] = f'<body pos="0.1 {rng.uniform(-0.1, 0.1)} 0.1">{joint}{inertia}{inside}</body>'
    ball = (
        '<body pos="0 0 -0.2"><joint name="ball" type="ball" range="0 0.1"/>'
        '<inertial pos="0 0 0.1" mass="0.3" diaginertia="0.01 0.01 0.01"/></body>'
    )
    base = '<freejoint/><inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>'
    tree = f'<body pos="0 0 1">{base}{ball}{"".join(bodies[k] for k in range(joints) if parent[k] < 0)}</body>'
    tendons = ""
    for n in range(joints // 3):
        some = rng.choice(joints, size=1 + n % 3, replace=False)
        terms = "".join(f'<joint joint="j{k}" coef="{rng.uniform(-2, 2)}"/>' for k in some)
        tendons += (
            f'<fixed name="t{n}" range="{-rng.uniform(0.02, 0.2)} {rng.uniform(0.02, 0.2)}" frictionloss="0.1" '
            f'solreflimit="0.05 1">{terms}</fixed>'
        )
    box = '<body pos="{} 2 {}"><joint type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1" contype="0"/></body>'
    boxes = "".join(box.format(k, 0.0942 + 0.0007 * k) for k in range(BOXES))
    text = (
        f'<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="5 5 1"/>{tree}{boxes}</worldbody>'
        f"<tendon>{tendons}</tendon></mujoco>"
    )
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder, "branches.xml")).write_text(text)
        return kt.load(path)


def states(robot: kt.Model, worlds: int, seed: int) -> tuple[Any, Any, Any]:
    """Some lengths beyond their limits, and some not."""
    rng = np.random.default_rng(seed)
    turned = 0.25 * rng.normal(size=(worlds, robot.nv))
    turned[:, robot.nv - BOXES :] = 0.0
    q = kt.integrate(robot, np.tile(robot.neutral(), (worlds, 1)), turned)
    return q, rng.normal(size=turned.shape), rng.normal(size=turned.shape)


def written_out(monkeypatch: pytest.MonkeyPatch, robot: kt.Model, state: Any, **options: Any) -> Any:
    """Accelerations and forces of one state with no rows in loops, on plain numbers."""
    with monkeypatch.context() as patch:
        patch.setattr(spec, "MANY_POINTS", 10**9)
        numbers = [list(map(float, x)) for x in state]
        return np.array(on_numbers(CONTACT_DYNAMICS, robot, numbers, **{"contact": True, **options}))


@pytest.mark.parametrize(("joints", "seed"), [(7, 0), (9, 1), (24, 2), (30, 3)])
def test_rows_in_loops_are_those_written_out(joints: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = branches(joints, seed)
    soft = kt.contact.soft_constraints(robot)
    assert soft.are_looped
    assert len(soft.limits) == joints + 1
    assert soft.frictions
    assert len(soft.tendons) == 2 * (joints // 3)
    state = states(robot, 3, seed)
    found = kt.contact_dynamics(robot, *state)
    assert (found.iterations > 1).all()
    for k in range(3):
        expected = written_out(monkeypatch, robot, [x[k] for x in state])
        for own, part in zip((found.qdd, found.forces), np.split(expected[:-2], 2), strict=True):
            np.testing.assert_allclose(own[k], part, rtol=0, atol=1e-10 * np.abs(part).max())
        assert found.iterations[k] == expected[-1]


def test_rows_of_compliant_robots_are_those_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = branches(9, 1)
    state = states(robot, 1, seed=5)
    found = kt.contact_dynamics(robot, *(x[0] for x in state), contact="compliant")
    expected = written_out(monkeypatch, robot, [x[0] for x in state], contact="compliant")
    np.testing.assert_allclose(found.qdd, expected[: robot.nv], rtol=0, atol=1e-10 * np.abs(found.qdd).max())


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "discrete"])
def test_steps_are_those_of_rows_written_out(integrator: str) -> None:
    robot = branches(7, 0)
    (q,), (v,), (tau,) = states(robot, 1, seed=4)
    soft = kt.contact.soft_constraints(robot)
    limits = [  # the shortest time constants of some laws follow from the step
        replace(limit, softness=replace(limit.softness, period=0.01 * (k % 3))) for k, limit in enumerate(soft.limits)
    ]
    options: dict[str, Any] = {"contact": replace(soft, limits=tuple(limits)), "integrator": integrator}
    found = kt.rollout(robot, q, v, np.tile(tau, (4, 1)), 0.02, **options)
    expected = kt.rollout(robot, q, v, np.tile(tau, (4, 1)), 0.02, gradient_softness=1.0, **options)  # for derivatives
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_an_end_may_move_in_each_step() -> None:
    robot = branches(7, 0)
    (q,), (v,), (tau,) = states(robot, 1, seed=4)
    taus, ends = np.tile(tau, (3, 1)), np.array([0.1, -0.2, 0.0])
    whole = kt.rollout(robot, q, v, taus, 0.002, contact=True, parameters={"joint.j2.upper[:]": ends})
    for k in range(3):
        one = {"joint.j2.upper": ends[k]}
        step = kt.rollout(robot, q, v, taus[:1], 0.002, contact=True, parameters=one)
        np.testing.assert_array_equal(step[0], whole[k])
        q, v = np.split(whole[k], [robot.nq])


def test_a_program_does_not_grow_with_the_number_of_limits() -> None:
    sizes = []
    for joints in (8, 16):
        robot = branches(joints, 6)
        with_rows = kt.contact.soft_constraints(robot)
        sizes.append(
            [
                specialized(CONTACT_DYNAMICS, robot, {**OPTIONS, "contact": some}, (), (), True).program().size()
                for some in (with_rows, replace(with_rows, limits=(), frictions=(), tendons=()))
            ]
        )
    (few, few_alone), (many, many_alone) = sizes
    assert many - many_alone < 1.3 * (few - few_alone)


def test_a_world_has_the_same_bits_in_any_batch_and_on_threads() -> None:
    robot = branches(24, 2)
    state = states(robot, 33, seed=1)
    whole = kt.contact_dynamics(robot, *state, threads=1)
    for count in (1, 6):
        for one, all_of_it in zip(kt.contact_dynamics(robot, *(x[:count] for x in state)), whole, strict=True):
            np.testing.assert_array_equal(one, all_of_it[:count])
    for one, all_of_it in zip(kt.contact_dynamics(robot, *state, threads=2), whole, strict=True):
        np.testing.assert_array_equal(one, all_of_it)
    for k in range(3):
        np.testing.assert_array_equal(kt.contact_dynamics(robot, *(x[k] for x in state)).qdd, whole.qdd[k])


@pytest.mark.parametrize(("joints", "seed"), [(7, 0), pytest.param(24, 2, marks=pytest.mark.deep)])
def test_derivatives_are_those_of_differences(joints: int, seed: int) -> None:
    robot = branches(joints, seed)
    state = [x[0] for x in states(robot, 1, seed=3)]
    rng, h, n = np.random.default_rng(1), 1e-6, 2 * robot.nv
    direction = rng.normal(size=robot.nv)

    def at(step: float) -> Any:
        found = kt.contact_dynamics(robot, kt.integrate(robot, state[0], step * direction), *state[1:])
        return np.concatenate([found.qdd, found.forces])

    difference = (at(h) - at(-h)) / (2 * h)
    scale = np.abs(difference).max()
    _, slope = kt.jvp(robot, kt.contact_dynamics, tuple(state), {"q": direction})
    np.testing.assert_allclose(slope[:n], difference, rtol=0, atol=1e-6 * scale)
    weights = np.concatenate([rng.normal(size=n), [0.0, 0.0]])
    _, gradient = kt.vjp(robot, kt.contact_dynamics, tuple(state), weights, wrt="q")
    assert float(gradient["q"] @ direction) == pytest.approx(float(weights @ slope), rel=1e-9, abs=1e-9 * scale)


def test_ends_and_softness_of_each_sample() -> None:
    robot = branches(9, 1)
    names = ("joint.j2.upper", "joint.j5.lower", "joint.j1.solref_limit", "joint.j3.margin", "tendon.t1.solref_limit")
    values = [
        np.array([-0.1, 0.0, 0.2]),
        np.array([0.1, -0.2, 0.0]),
        np.array([[0.02, 1.0], [0.1, 0.5], [-300.0, -20.0]]),
        np.array([0.0, 0.3, 0.1]),
        np.array([[0.02, 1.0], [0.05, 2.0], [0.3, 1.0]]),
    ]
    state = states(robot, 3, seed=2)
    found = kt.contact_dynamics(robot, *state, parameters=dict(zip(names, values, strict=True)))
    same = kt.contact_dynamics(robot, *state)
    assert (np.abs(found.qdd - same.qdd).max(axis=-1) > 1e-3).all()
    for k in range(3):
        one = dict(zip(names, (x[k] for x in values), strict=True))
        alone = kt.contact_dynamics(robot, *(x[k] for x in state), parameters=one)
        np.testing.assert_array_equal(alone.qdd, found.qdd[k])
        # gradient_softness is for derivatives alone, and has all rows written out
        apart = kt.contact_dynamics(robot, *(x[k] for x in state), parameters=one, gradient_softness=1.0)
        np.testing.assert_allclose(alone.qdd, apart.qdd, rtol=0, atol=1e-10 * np.abs(apart.qdd).max())
