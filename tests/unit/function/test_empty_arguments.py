"""Arguments without numbers, such as the activations of a robot that has none, are arguments like all others."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.expr import Port, Program, interpret, trace
from kinetree.interop.subject import Subject

RNG = np.random.default_rng(4)
_TEXT = """
<mujoco model="leg"><option timestep="0.002"/><default><joint damping="0.2" armature="0.02"/></default>
<worldbody><geom type="plane" size="0 0 1"/>
  <body name="thigh" pos="0 0 1"><joint name="hip" axis="0 1 0"/>
    <geom type="capsule" size=".04 .2" mass="2" contype="0" conaffinity="0"/>
    <body name="shin" pos="0 0 .3"><joint name="knee" axis="0 1 0" range="-40 40" limited="true"/>
      <geom type="sphere" size=".03" pos="0 0 .2" mass="1"/><site name="toe" pos="0 0 .2" size=".04"/></body></body>
</worldbody>
<actuator><motor name="hip" joint="hip"/><position joint="knee" kp="3" kv=".2" ctrlrange="-1 1"/></actuator>
<sensor><jointpos joint="hip"/><touch site="toe"/><accelerometer site="toe"/></sensor></mujoco>"""


@cache
def leg() -> kt.Model:
    """Two joints with actuators without activations, and sensors that need neither controls nor a clock."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "leg.xml"
        path.write_text(_TEXT)
        return kt.load(path)


def rolled(count: int) -> tuple[np.ndarray, ...]:
    state, rows = RNG.normal(size=(2, count, 2)), RNG.normal(size=(2, count, 4, 2))
    return (*state, np.zeros((count, 0)), *rows, np.array(0.002))


@pytest.fixture(autouse=True)
def nothing_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the interpreter was imported to."""

    def refused(program: Program, *_: object) -> None:
        raise AssertionError(f"{program.name} is interpreted")

    monkeypatch.setattr(interpret, "__code__", refused.__code__)


def test_a_gufunc_has_them() -> None:
    program = trace(
        lambda x, none, rows: [[x[0] + 1.0, 2.0 * x[1]]] if not none and not rows else [],
        [Port("x", (2,)), Port("none", (0,)), Port("rows", (3, 0))], [Port("y", (2,))], "empty",
    )  # fmt: skip
    function = batch_function(program)
    assert function(np.ones((5, 2)), np.zeros((5, 0)), np.zeros((3, 0))).tolist() == [[2.0, 2.0]] * 5
    assert function(np.ones(2), np.zeros((4, 1, 0)), np.zeros((7, 3, 0))).shape == (4, 7, 2)
    assert function(np.ones((0, 2)), np.zeros(0), np.zeros((3, 0))).shape == (0, 2)


def test_a_compiled_rollout_of_a_robot_without_activations() -> None:
    f = kt.compile(leg(), kt.sim.actuated_rollout, steps=4)
    assert inspect.isbuiltin(f)
    q, v, act, tau, ctrl, dt = rolled(300)
    states = f(q, v, act, tau, ctrl, dt)
    expected = kt.rollout(leg(), q, v, tau, dt, ctrl=ctrl)
    np.testing.assert_array_equal(states, expected)
    np.testing.assert_array_equal(f(q, v, np.zeros(0), tau, ctrl, dt), expected)
    np.testing.assert_array_equal(f(q, v, act, tau, ctrl, dt, threads=2), expected)
    np.testing.assert_array_equal(f(q[7], v[7], [], tau[7], ctrl[7], dt), expected[7])
    one = np.empty((4, 4))
    assert f(q[7], v[7], act[7], tau[7], ctrl[7], 0.002, out=one) is one
    np.testing.assert_array_equal(one, expected[7])
    whole = np.empty((300, 4, 4))
    assert f(q, v, act, tau, ctrl, dt, out=whole) is whole
    np.testing.assert_array_equal(whole, expected)


def test_their_leading_axes_count() -> None:
    f = kt.compile(leg(), kt.sim.actuated_rollout, steps=4)
    q, v, _, tau, ctrl, dt = (x if x.ndim == 0 else x[0] for x in rolled(1))
    states = f(q, v, np.zeros((5, 0)), tau, ctrl, dt)
    assert states.shape == (5, 4, 4)
    np.testing.assert_array_equal(states, np.broadcast_to(kt.rollout(leg(), q, v, tau, dt, ctrl=ctrl), (5, 4, 4)))
    with pytest.raises(kt.errors.ShapeError, match="leading axes do not broadcast"):
        f(np.zeros((3, 2)), v, np.zeros((5, 0)), tau, ctrl, dt)
    with pytest.raises(kt.errors.ShapeError, match=r"act has shape \(5, 1\), but 'leg' needs \(…, 0\)"):
        f(q, v, np.zeros((5, 1)), tau, ctrl, dt)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sensors_that_need_neither_controls_nor_a_clock(dtype: str) -> None:
    q, v, qdd = RNG.normal(size=(3, 256, 2)).astype(dtype)
    found = kt.dynamics.sensors(leg(), q, v, qdd, np.zeros((256, 2), dtype), contact=True)
    assert found.dtype == dtype
    assert inspect.isbuiltin(kt.compile(leg(), kt.dynamics.sensors, contact=True, dtype=dtype))
    for k in (0, 100, 255):
        np.testing.assert_array_equal(found[k], kt.dynamics.sensors(leg(), q[k], v[k], qdd[k], contact=True))


@pytest.mark.parametrize("count", [0, 1, 3, 1000])
def test_a_robot_without_joints_has_numbers_all_the_same(count: int) -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.box(1.0, 1.0, 1.0, mass=2.0, placement=kt.lie.placement([0.0, 0.0, 1.0])))
    rock = builder.build()
    nothing = np.zeros((count, 0))
    np.testing.assert_array_equal(kt.center_of_mass(rock, nothing), np.broadcast_to([0.0, 0.0, 1.0], (count, 3)))
    np.testing.assert_allclose(kt.potential_energy(rock, nothing), np.full(count, 2.0 * 9.81))
    gravity = RNG.normal(size=(count, 3))
    found = kt.potential_energy(rock, np.zeros(0), parameters={"gravity": gravity})
    np.testing.assert_allclose(found, -2.0 * gravity[:, 2], rtol=1e-15)
    assert kt.aba(rock, nothing, nothing, nothing).shape == (count, 0)
    assert kt.crba(rock, nothing).shape == (count, 0, 0)
    out = np.empty((count, 0))
    assert kt.aba(rock, nothing, nothing, nothing, out=out) is out


def test_results_without_numbers_compile_nothing() -> None:
    builder = kt.ModelBuilder("pebble")
    builder.add_body("pebble", kt.solids.box(1.0, 1.0, 1.0, mass=2.0))
    with patch("kinetree.codegen.cpu.jit.compile_module", side_effect=AssertionError("compiled")):
        f = kt.compile(builder.build(), kt.aba)
        assert f(np.zeros((3, 0)), np.zeros(0), np.zeros((2, 1, 0))).shape == (2, 3, 0)
        with pytest.raises(kt.errors.ShapeError, match="leading axes do not broadcast"):
            f(np.zeros((3, 0)), np.zeros((2, 0)), np.zeros(0))


def test_derivatives_by_them_are_empty() -> None:
    given = rolled(40)
    weights = RNG.normal(size=(40, 4, 4))
    value, gradients = kt.vjp(leg(), kt.sim.actuated_rollout, given, weights)
    np.testing.assert_array_equal(value, kt.rollout(leg(), *given[:2], given[3], given[5], ctrl=given[4]))
    assert gradients["act"].shape == (40, 0)
    direction = RNG.normal(size=(40, 4, 2))
    _, slope = kt.jvp(leg(), kt.sim.actuated_rollout, given, {"ctrl": direction, "act": np.zeros((40, 0))})
    np.testing.assert_allclose((slope * weights).sum(), (gradients["ctrl"] * direction).sum(), rtol=1e-12)
    assert kt.jacobian(leg(), kt.sim.actuated_rollout, given, wrt="act").shape == (40, 4, 4, 0)


def test_torch_has_them() -> None:
    torch = pytest.importorskip("torch")
    given = rolled(300)
    q, v, act, tau, ctrl, dt = map(torch.tensor, given)
    f = kt.interop.to_torch(leg(), kt.sim.actuated_rollout, steps=4)
    expected = kt.rollout(leg(), *given[:2], given[3], given[5], ctrl=given[4])
    np.testing.assert_array_equal(f(q, v, act, tau, ctrl, dt), expected)
    np.testing.assert_array_equal(f(q, v, torch.zeros(0, dtype=q.dtype), tau, ctrl, dt), expected)
    ctrl.requires_grad_()
    act.requires_grad_()
    f(q, v, act, tau, ctrl, dt).sum().backward()
    _, gradients = kt.vjp(leg(), kt.sim.actuated_rollout, given, np.ones((300, 4, 4)), wrt=["ctrl"])
    np.testing.assert_allclose(ctrl.grad, gradients["ctrl"], rtol=1e-11, atol=1e-13)
    assert act.grad.shape == (300, 0)


def test_jax_has_them() -> None:
    jax = pytest.importorskip("jax")
    given = rolled(20)
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        q, v, act, tau, ctrl, dt = map(jax.numpy.asarray, given)
        f = kt.interop.to_jax(leg(), kt.sim.actuated_rollout, steps=4)
        found = jax.jit(f)(q, v, act, tau, ctrl, dt)
        slopes = jax.grad(lambda act, ctrl: f(q, v, act, tau, ctrl, dt).sum(), argnums=(0, 1))(act, ctrl)
    np.testing.assert_array_equal(found, kt.rollout(leg(), *given[:2], given[3], given[5], ctrl=given[4]))
    assert [x.shape for x in slopes] == [(20, 0), (20, 4, 2)]


def test_casadi_and_c_have_none_of_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # numbers for the test of C are interpreted
    header = kt.interop.to_c(leg(), kt.sim.actuated_rollout, steps=4).header
    assert "const double q[2], const double v[2], const double tau[8]" in header
    pytest.importorskip("casadi")
    q, v, _, tau, ctrl, dt = rolled(1)
    f = kt.interop.to_casadi(leg(), kt.sim.actuated_rollout, steps=4)
    found = np.array(f(q[0], v[0], np.zeros(0), tau[0], ctrl[0], dt)).reshape(4, 4)
    np.testing.assert_allclose(found, kt.rollout(leg(), q[0], v[0], tau[0], dt, ctrl=ctrl[0]), rtol=1e-12)


def test_a_graphics_processor_reads_nothing_of_them() -> None:
    ptx = Subject(leg(), kt.sim.actuated_rollout, options={"steps": 4}).node("float64").ptx
    assert ".visible .entry" in ptx.text()
