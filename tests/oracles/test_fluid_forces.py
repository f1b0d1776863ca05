"""Forces of the medium beside MuJoCo's, at random states."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.reference import on_numbers
from tests.oracles.test_actuators import loaded

SWIMMER = """
<mujoco model="swimmer"><option {medium}/>
  <worldbody><body name="head" pos="0 0 1" euler="10 20 30"><freejoint/>
      <geom type="capsule" fromto="0 0 0 0.1 0.3 0" size="0.05"/>
      <body name="fin" pos="0.2 0 0"><joint type="ball" pos="0 0 0.1"/><geom type="ellipsoid" size="0.1 0.2 0.05"/>
        <geom type="box" size="0.1 0.02 0.05" pos="0.1 0.1 0" euler="30 0 20"/>
        <body name="tail" pos="0 0.2 0" euler="0 40 0"><joint axis="0 1 1"/><joint type="slide" axis="1 0 0"/>
          <inertial pos="0 0.1 0" mass="0.3" diaginertia="0.01 0.01 0.004" euler="0 30 10"/>
          <body name="tip" pos="0 0.3 0"><geom size="0.06"/></body></body></body></body></worldbody>
</mujoco>"""


@pytest.mark.parametrize("medium", ['density="1000"', 'viscosity="0.3"', 'density="300" viscosity="0.1" wind="3 -2 1"'])
def test_forces_are_those_of_mujoco(medium: str) -> None:
    text = SWIMMER.format(medium=medium)
    robot, m = loaded(text), mujoco.MjModel.from_xml_string(text)
    d, layout, rng = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco"), np.random.default_rng(2)
    for _ in range(5):
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        d.qvel[:] = rng.normal(size=m.nv)
        mujoco.mj_forward(m, d)
        q, v = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)
        ours = np.array(on_numbers(kt.dynamics.fluid_forces.definition, robot, (q.tolist(), v.tolist())))  # type: ignore[attr-defined]
        expected = layout.tau_from(d.qpos, d.qfrc_fluid)
        np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
        compiled = kt.dynamics.fluid_forces(robot, q, v)
        np.testing.assert_allclose(compiled, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
        assert compiled @ v < 0.0 or "wind" in medium


FISH = """
<mujoco model="fish"><option {medium}/>
  <worldbody><body name="head" pos="0 0 1" euler="10 20 30"><freejoint/>
      <geom type="capsule" fromto="0 0 0 0.1 0.3 0" size="0.05" fluidshape="ellipsoid"/>
      <geom type="sphere" size="0.04" pos="0.1 0 0" fluidshape="ellipsoid" fluidcoef="0.4 0.2"/>
      <body name="fin" pos="0.2 0 0"><joint type="ball" pos="0 0 0.1"/>
        <geom type="ellipsoid" size="0.1 0.2 0.05" fluidshape="ellipsoid" fluidcoef="0.7 0.3 1.1 2 1.7"/>
        <geom type="box" size="0.1 0.02 0.05" pos="0.1 0.1 0" euler="30 0 20"/>
        <body name="tail" pos="0 0.2 0" euler="0 40 0"><joint axis="0 1 1"/>
          <geom type="box" size="0.02 0.2 0.003" pos="0 0.2 0" fluidshape="ellipsoid"/>
          <body name="tip" pos="0 0.3 0"><joint axis="1 0 0"/><geom type="cylinder" size="0.06 0.02"
            fluidshape="ellipsoid" fluidcoef="1 1 1 1 1"/><body name="end" pos="0 0.1 0"><joint/><geom size="0.03"/>
          </body></body></body></body></body></worldbody>
</mujoco>"""


@pytest.mark.parametrize("medium", ['density="1000"', 'viscosity="0.3"', 'density="300" viscosity="0.1" wind="3 -2 1"'])
def test_ellipsoids_feel_the_forces_of_mujoco(medium: str) -> None:
    text = FISH.format(medium=medium)
    robot, m = loaded(text), mujoco.MjModel.from_xml_string(text)
    d, layout, rng = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco"), np.random.default_rng(2)
    for k in range(6):
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 1.0)
        d.qvel[:] = rng.normal(size=m.nv) if k else 0.0
        mujoco.mj_forward(m, d)
        q, v = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)
        ours = np.array(on_numbers(kt.dynamics.fluid_forces.definition, robot, (q.tolist(), v.tolist())))  # type: ignore[attr-defined]
        expected = layout.tau_from(d.qpos, d.qfrc_fluid)
        np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
        compiled = kt.dynamics.fluid_forces(robot, q, v)
        np.testing.assert_allclose(compiled, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
    slopes = kt.jacobian(robot, kt.dynamics.fluid_forces, (q, np.zeros(robot.nv)), wrt="v")
    assert np.isfinite(slopes).all()


def assert_forces_are_those_of(text: str, robot: kt.Model) -> None:
    """At the configuration of the file, with all velocities different."""
    m = mujoco.MjModel.from_xml_string(text)
    d, layout = mujoco.MjData(m), kt.interop.Layout(robot, "mujoco")
    d.qvel[:] = np.linspace(1.0, 3.0, m.nv)
    mujoco.mj_forward(m, d)
    expected = layout.tau_from(d.qpos, d.qfrc_fluid)
    q, v = layout.q_from(d.qpos), layout.v_from(d.qpos, d.qvel)
    ours = on_numbers(kt.dynamics.fluid_forces.definition, robot, (q.tolist(), v.tolist()))  # type: ignore[attr-defined]
    np.testing.assert_allclose(ours, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())


def test_coefficients_that_are_left_out_are_those_of_mujoco() -> None:
    text = FISH.format(medium='density="1000"')
    builder = kt.ModelBuilder.of(loaded(text))
    (tail,) = (one for one in builder.extras.shapes if one.body == "tail")
    others = [one for one in builder.extras.shapes if one is not tail]
    builder.extras = replace(builder.extras, shapes=(*others, replace(tail, fluid_coefficients=())))
    assert_forces_are_those_of(text, builder.build())


def test_the_box_of_a_body_is_that_of_its_inertia_where_that_has_changed_since_the_file() -> None:
    before = SWIMMER.format(medium='density="1000" viscosity="0.1"')
    after = before.replace(
        'diaginertia="0.01 0.01 0.004" euler="0 30 10"', 'diaginertia="6e-3 0.01 9e-3" euler="5 9 7"'
    )
    builder = kt.ModelBuilder.of(loaded(after))
    extras = loaded(before).extras  # with the axes of the inertia before
    assert builder.extras != extras
    builder.extras = extras
    assert_forces_are_those_of(after, builder.build())


def test_without_a_medium_there_is_no_force_and_what_has_no_half_axes_is_refused() -> None:
    robot = loaded(SWIMMER.format(medium=""))
    assert not kt.dynamics.fluid_forces(robot, robot.neutral(), np.ones(robot.nv)).any()
    mesh = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>'
    text = SWIMMER.format(medium='density="1"').replace("<worldbody>", mesh)
    text = text.replace('<geom size="0.06"/>', '<geom type="mesh" mesh="m" fluidshape="ellipsoid"/>')
    with pytest.raises(kt.errors.OptionError, match=r"as on an ellipsoid on the mesh of 'tip'.*fluidshape"):
        kt.dynamics.fluid_forces(loaded(text), robot.neutral(), np.ones(robot.nv))


def test_compiled_forces_are_those_of_the_loops_whatever_the_axes_of_joints() -> None:
    """Kernels take a robot's bodies in axes that suit their joints, and shapes of the medium with them."""
    for axis in ("0 0 1", "0 1 0", "1 1 0", "-1 2 3"):
        text = f"""<mujoco><option density="1000"/><worldbody><body><freejoint/><geom size="0.1 0.2 0.3" type="box"/>
            <body pos="0 0 1" euler="10 20 30"><joint axis="{axis}"/><geom type="ellipsoid" size="0.1 0.2 0.05"
            fluidshape="ellipsoid"/><body pos="0.3 0 0"><joint axis="{axis}"/><geom type="box" size="0.1 0.2 0.05"/>
            </body></body></body></worldbody></mujoco>"""
        robot = loaded(text)
        q, v = robot.random(1), np.linspace(1.0, 3.0, robot.nv)
        expected = np.array(on_numbers(kt.dynamics.fluid_forces.definition, robot, (q.tolist(), v.tolist())))  # type: ignore[attr-defined]
        inside = kt.program(lambda q, v, robot=robot: kt.dynamics.fluid_forces(robot, q, v), q=robot, v=robot.nv)
        for found in (kt.dynamics.fluid_forces(robot, q, v), inside(q, v)):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max(), err_msg=axis)
