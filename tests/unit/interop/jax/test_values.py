"""Functions and programs in JAX have the values that they have in NumPy, to the bit, in the form that users gave."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import kinetree as kt

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
ARM, PENDULUM = kt.zoo.load("arm7"), kt.zoo.load("double_pendulum")


def state(robot: kt.Model, *batch: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [robot.random(rng, batch), *(rng.normal(size=(*batch, robot.nv)) for _ in range(2))]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("compiled", [False, True])
def test_values_are_those_of_numpy(dtype: str, compiled: bool) -> None:
    aba, given = kt.interop.to_jax(ARM, kt.aba), [x.astype(dtype) for x in state(ARM, 21)]
    found = (jax.jit(aba) if compiled else aba)(*given)
    assert isinstance(found, jax.Array)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, kt.aba(ARM, *given))


def test_leading_axes_broadcast() -> None:
    aba = kt.interop.to_jax(PENDULUM, kt.aba)
    q, v, tau = state(PENDULUM, 3, 4)
    for given in [
        (q[0, 0], v[0, 0], tau[0, 0]),
        (q, v[0], tau[:, :1]),
        (q[:, :1], v[0], tau[0, 0]),
        (q[:0], v[0], tau[:0]),
        (q[:0, :1], v[0], tau[0, 0]),
    ]:
        np.testing.assert_array_equal(aba(*given), kt.aba(PENDULUM, *given))


def test_arguments_by_name_lists_and_numbers() -> None:
    aba = kt.interop.to_jax(PENDULUM, kt.aba)
    expected = kt.aba(PENDULUM, [0.1, 0.2], [0.0, 0.0], [1.0, 2.0])
    np.testing.assert_array_equal(aba([0.1, 0.2], tau=[1, 2], v=np.zeros(2, int)), expected)
    assert aba.names == ("q", "v", "tau")
    assert repr(aba) == "<aba(q[2], v[2], tau[2]) of 'double_pendulum' for JAX>"


def test_the_dtype_follows_jax() -> None:
    aba = kt.interop.to_jax(PENDULUM, kt.aba)
    single = jnp.ones(2, jnp.float32)
    assert jax.jit(lambda x: aba(single, single, x * single))(2.0).dtype == jnp.float32
    assert aba(single, single, np.zeros(2)).dtype == jnp.float64
    assert aba([0, 1], [0, 1], [0, 1]).dtype == jnp.float64
    jax.config.update("jax_enable_x64", False)
    assert aba([0, 1], [0, 1], np.zeros(2)).dtype == jnp.float32
    np.testing.assert_array_equal(aba(single, single, single), kt.aba(PENDULUM, *[np.ones(2, "f")] * 3))


def test_options_forces_and_parameters() -> None:
    q, v, tau = state(ARM, 5)
    jacobian = kt.interop.to_jax(ARM, kt.frame_jacobian, frame="tool", expressed_in="world")
    np.testing.assert_array_equal(jacobian(q), kt.frame_jacobian(ARM, q, "tool", expressed_in="world"))
    aba = kt.interop.to_jax(ARM, kt.aba, f_ext=["tool"], parameters=["gravity", "body.hand.mass"])
    push, gravity, mass = np.ones(6), np.array([0.0, 0.0, -1.6]), np.linspace(1.0, 2.0, 5)
    parameters = {"gravity": gravity, "body.hand.mass": mass}
    expected = kt.aba(ARM, q, v, tau, f_ext={"tool": push}, parameters=parameters)
    np.testing.assert_array_equal(aba(q, v, tau, push, gravity, mass), expected)
    assert aba.names == ("q", "v", "tau", "f_ext.tool", "gravity", "body.hand.mass")
    named = {"f_ext.tool": push, "gravity": gravity, "body.hand.mass": mass}
    np.testing.assert_array_equal(aba(q, v, tau, **named), expected)
    assert aba(*(jnp.asarray(x, jnp.float32) for x in (q, v, tau, push, gravity, mass))).dtype == jnp.float32


def test_numbers_of_constraints_may_be_left_out() -> None:
    held = [kt.constraints.Contact("tool", at=(0.0, 0.1, 0.2))]
    f, given = kt.interop.to_jax(ARM, kt.constraints.constrained_dynamics, constraints=held), state(ARM, 3)
    np.testing.assert_array_equal(
        f(*given), kt.compile(ARM, kt.constraints.constrained_dynamics, constraints=held)(*given)
    )
    single = [x.astype("f") for x in given]
    assert f(*single).dtype == jnp.float32


def test_a_rollout_has_its_number_of_steps() -> None:
    rollout = kt.interop.to_jax(PENDULUM, kt.rollout, steps=4)
    q, v, tau = state(PENDULUM, 3)
    forces = np.repeat(tau[:, None], 4, 1)
    np.testing.assert_array_equal(rollout(q, v, forces, 0.01), kt.rollout(PENDULUM, q, v, forces, 0.01))


class Found(NamedTuple):
    torque: Any
    used: dict[str, Any]


@kt.program(q=PENDULUM, gain=(), count=int, on=bool)
def controller(q, gain, count, on=True):
    torque = np.where(on, -gain * q * count, kt.gravity_forces(PENDULUM, q))
    return Found(torque, {"on": on, "count": count + 1, "mass": kt.crba(PENDULUM, q)})


def test_results_of_programs_have_their_form_and_dtypes() -> None:
    q, _, gain = state(PENDULUM, 6)
    found = kt.interop.to_jax(controller)(q, gain[:, 0], 3, on=gain[:, 1] > 0)
    expected = controller(q, gain[:, 0], 3, gain[:, 1] > 0)
    assert type(found) is Found
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_array_equal(x, y)
    assert kt.interop.to_jax(controller)(q, 1.0, 3).torque.shape == (6, 2)


def test_nan_stays_in_its_sample() -> None:
    given = state(ARM, 9)
    given[1][4, 2] = np.nan
    found = kt.interop.to_jax(ARM, kt.aba)(*given)
    assert np.isnan(found[4]).any()
    np.testing.assert_array_equal(found, kt.aba(ARM, *given))


def test_robots_without_joints() -> None:
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", kt.solids.box(1.0, 1.0, 1.0, mass=2.0))
    rock, nothing = builder.build(), np.zeros((3, 0))
    assert kt.interop.to_jax(rock, kt.aba)(nothing, nothing, nothing).shape == (3, 0)
    assert kt.interop.to_jax(rock, kt.crba)(nothing).shape == (3, 0, 0)
    center = kt.interop.to_jax(rock, kt.center_of_mass)
    np.testing.assert_array_equal(center(nothing), kt.center_of_mass(rock, nothing))
    assert jax.vmap(jax.jacrev(center))(jnp.asarray(nothing)).shape == (3, 3, 0)


def test_kinetrees_own_functions_take_arrays_of_jax() -> None:
    q, v, tau = map(jnp.asarray, state(PENDULUM, 4))
    found = kt.aba(PENDULUM, q, v, tau)
    assert isinstance(found, jax.Array)
    np.testing.assert_array_equal(found, kt.aba(PENDULUM, *map(np.asarray, (q, v, tau))))
    np.testing.assert_array_equal(jax.jit(lambda v: kt.aba(PENDULUM, q, v, tau))(v), found)
    torque = controller(q, 1.0, jnp.asarray(3), jnp.asarray(True)).torque
    np.testing.assert_array_equal(torque, -3.0 * q)
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(kt.errors.DTypeError, match="aba: these arrays need double precision, which JAX has after"):
        kt.compile(PENDULUM, kt.aba)(jnp.zeros(2, jnp.float32), np.zeros(2), np.zeros(2))


def test_kinetrees_own_functions_have_the_same_dtype() -> None:
    aba, single, double = kt.interop.to_jax(PENDULUM, kt.aba), jnp.ones(2, jnp.float32), jnp.ones(2)
    whole, half, one = jnp.array([1, 2]), jnp.ones(2, jnp.float16), np.ones(2, np.float32)
    for is_wide in (True, False):
        jax.config.update("jax_enable_x64", is_wide)
        for given, expected in [
            ((single, whole, single), "float32"),
            ((whole, single, [0.0, 1.0]), "float32"),
            ((single, [single[0], 1.0], jnp.asarray([1, 2], jnp.uint8)), "float32"),
            ((single, half, one), "float32"),
            ((whole, whole, whole), "float64"),
            ((one, single, np.ones(2)), "float64"),
            ((double, single, whole), "float64"),
        ]:
            expected = expected if is_wide else "float32"
            calls = aba, lambda *x: kt.aba(PENDULUM, *x)
            if is_wide or given[0] is not double:  # an array in double precision from before
                assert [str(call(*given).dtype) for call in calls] == [expected] * 2
                assert [str(jax.jit(call)(*given).dtype) for call in calls] == [expected] * 2
    jax.config.update("jax_enable_x64", True)
    for given in [(half, half, half), (single, single > 0, single)]:
        messages = []
        for call in (aba, lambda *x: kt.aba(PENDULUM, *x)):
            with pytest.raises(kt.errors.DTypeError) as refusal:
                call(*given)
            messages.append(str(refusal.value))
        assert messages[0] == messages[1]
    pushed = kt.aba(PENDULUM, single, whole, single, f_ext={"tip": jnp.ones(6, int)})
    assert pushed.dtype == jnp.float32
    assert controller(single, 1.0, jnp.asarray(2)).torque.dtype == jnp.float32
    assert kt.interop.to_jax(controller)(single, 1.0, jnp.asarray(2)).torque.dtype == jnp.float32
    assert controller([0.0, 1.0], double[0], 2).torque.dtype == jnp.float64


def test_derivatives_with_weights_that_are_traced() -> None:
    """Weights of several results are put together by the framework they are of."""

    @kt.program(q=PENDULUM)
    def motion(q):
        return {"force": kt.gravity_forces(PENDULUM, q), "height": kt.potential_energy(PENDULUM, q)}

    q = np.random.default_rng(0).normal(size=(5, 2))

    @jax.jit
    def gradient(q, force, height):
        return kt.vjp(motion, (q,), {"force": force, "height": height})[1]["q"]

    force, height = jnp.arange(2.0), jnp.ones(5)
    expected = kt.vjp(motion, (q,), {"force": np.arange(2.0), "height": np.ones(5)})[1]["q"]
    np.testing.assert_array_equal(gradient(q, force, height), expected)
    np.testing.assert_array_equal(
        jax.jit(lambda w: kt.vjp(motion, (q,), {"force": w})[1]["q"])(force),
        kt.vjp(motion, (q,), {"force": np.arange(2.0)})[1]["q"],
    )
    by_height = jax.jacobian(gradient, 2)(q, force, height)  # gradients are linear in the weights
    np.testing.assert_allclose(by_height[0, :, 0], kt.gravity_forces(PENDULUM, q[0]), atol=1e-12)
    with pytest.raises(kt.errors.ShapeError, match="the leading axes of weights do not broadcast together"):
        gradient(q, jnp.ones((5, 2)), jnp.ones(4))
