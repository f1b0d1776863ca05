"""Contacts in loops: the same as those written out, on random scenes of all kinds of shapes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from kinetree.compiler.specialization import Specialization
from kinetree.contact_model import spec
from kinetree.functions.above_ground import usual_start
from kinetree.functions.contact_dynamics import CONTACT_DYNAMICS
from kinetree.functions.contact_forces import CONTACT_FORCES
from tests.kernels import compiled_late
from tests.strategies import law

SHAPES = (
    'type="sphere" size="0.1"',
    'type="sphere" size="0.07"',
    'type="capsule" size="0.06 0.09"',
    'type="box" size="0.1 0.07 0.08"',
    'type="cylinder" size="0.08 0.06"',
    'type="ellipsoid" size="0.1 0.07 0.05"',
    'type="mesh" mesh="wedge"',
    'type="mesh" mesh="roof"',
)
LAWS = (
    "",
    'condim="1"',
    'condim="4"',
    'condim="6" friction="0.7 0.02 0.003"',
    'solref="0.03 0.8" margin="0.01" gap="0.002"',
    'solimp="0.8 0.95 0.002 0.4 3"',
)


def scene(rng: np.random.Generator, count: int, cone: str = "pyramidal", apart: float = 0.3) -> kt.Model:
    """A robot of `count` bodies around a post with two joints, in the air near a floor."""

    def geom() -> str:
        return f"<geom {rng.choice(SHAPES)} {rng.choice(LAWS)}/>"

    free = "".join(
        f'<body name="b{k}" pos="{apart * k} 0 0.2"><freejoint/>{geom()}</body>' for k in range(max(count - 2, 1))
    )
    limited = 'range="-1 1" frictionloss="0.05"'
    text = f"""<mujoco><option cone="{cone}"/>
  <asset><mesh name="wedge" vertex="0 0 0  .15 0 0  0 .15 0  0 0 .15  .1 .1 .1"/>
    <mesh name="roof" vertex="0 0 0  .2 0 0  .2 .1 0  0 .1 0  0 .05 .1  .2 .05 .1"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/>
    <body name="post" pos="0 0 .1"><joint type="hinge" axis="0 1 0" damping="1"/>{geom()}
      <body name="arm" pos="0 .1 .1"><joint type="hinge" axis="1 0 0" {limited}/>{geom()}</body></body>
    {free}</worldbody></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder, "scene.xml")).write_text(text)
        return kt.load(path)


def near(robot: kt.Model, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """A state in which some of the bodies touch, and joint forces."""
    v, tau = rng.normal(size=(2, robot.nv))
    tau[~np.asarray(robot.actuated)] = 0.0
    start = usual_start(robot, touches=False)
    return kt.integrate(robot, start, rng.normal(size=robot.nv) * 0.3), 0.3 * v, tau


def both(definition: Any, robot: kt.Model, arguments: Any, patch: pytest.MonkeyPatch, **options: Any) -> Any:
    """The results with contacts in loops, and written out, on plain numbers."""
    found = []
    for many in (0, 10**9):
        patch.setattr(spec, "MANY_POINTS", many)
        found.append(np.array(on_numbers(definition, robot, [list(map(float, x)) for x in arguments], **options)))
    return found


@law(5)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(2, 5), cone=st.sampled_from(["pyramidal", "elliptic"]))
def test_loops_have_the_same_contacts(seed: int, count: int, cone: str) -> None:
    rng = np.random.default_rng(seed)
    robot = scene(rng, count, cone)
    q, v, tau = near(robot, rng)
    with pytest.MonkeyPatch.context() as patch:
        looped, written = both(CONTACT_DYNAMICS, robot, (q, v, tau), patch, contact=True)
        nv = robot.nv
        scale = max(1.0, np.abs(written[:nv]).max())
        np.testing.assert_allclose(looped[:nv], written[:nv], rtol=0, atol=1e-8 * scale)
        looped, written = both(CONTACT_FORCES, robot, (q, v, looped[:nv]), patch, contact=True)
    np.testing.assert_allclose(looped, written, rtol=1e-9, atol=1e-9 * np.abs(written[np.abs(written) < 1e9]).max())


@pytest.mark.parametrize("cone", [pytest.param("pyramidal", marks=pytest.mark.deep), "elliptic"])
def test_bodies_in_loops_move_as_those_written_out(cone: str) -> None:
    rng = np.random.default_rng(9)
    robot = scene(rng, 4, cone, apart=0.16)  # bodies touch each other as well
    states = [near(robot, rng) for _ in range(9)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spec, "MANY_POINTS", 0)
        soft = kt.contact.soft_constraints(robot)
        looped, written = (
            compiled_late(robot, kt.contact_dynamics, unroll=unroll, contact=soft) for unroll in (False, True)
        )
        arguments = [np.array(x) for x in zip(*states, strict=True)]
        found, expected = looped(*arguments), written(*arguments)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        alone = [looped(*(x[k] for x in arguments)) for k in range(9)]
        np.testing.assert_array_equal(np.array(alone), found)


@pytest.mark.parametrize(
    "integrator", ["discrete", *(pytest.param(name, marks=pytest.mark.deep) for name in ("implicitfast", "rk4"))]
)
def test_steps_of_bodies_in_loops_are_those_written_out(integrator: str) -> None:
    rng = np.random.default_rng(6)
    robot = scene(rng, 4)
    q, v, tau = (np.array(x) for x in zip(*[near(robot, rng) for _ in range(4)], strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spec, "MANY_POINTS", 0)
        options: Any = {"integrator": integrator, "contact": kt.contact.soft_constraints(robot), "steps": 3}
        looped, written = (compiled_late(robot, kt.rollout, unroll=unroll, **options) for unroll in (False, True))
        torques = np.repeat(tau[:, None], 3, axis=1)
        found, expected = (step(q, v, torques, 0.002) for step in (looped, written))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.deep
def test_bodies_in_loops_have_exact_derivatives() -> None:
    rng = np.random.default_rng(6)
    robot = scene(rng, 4)
    q, v, tau = (np.array(x) for x in zip(*[near(robot, rng) for _ in range(5)], strict=True))
    along = dict(zip(("q", "v", "tau"), rng.normal(size=(3, *v.shape)), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spec, "MANY_POINTS", 0)
        patch.setattr(Specialization, "_has_many_bodies", True)
        soft = kt.contact.soft_constraints(robot)
        _, slope = kt.jvp(robot, kt.contact_dynamics, (q, v, tau), along, contact=soft)

        def moved(h: float) -> Any:
            at = kt.integrate(robot, q, h * along["q"]), v + h * along["v"], tau + h * along["tau"]
            return kt.contact_dynamics(robot, *at, contact=soft).qdd

        difference = (moved(1e-6) - moved(-1e-6)) / 2e-6
    np.testing.assert_allclose(slope[..., : robot.nv], difference, rtol=0, atol=1e-5 * np.abs(difference).max())
