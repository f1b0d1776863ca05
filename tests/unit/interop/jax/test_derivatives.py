"""Derivatives in JAX are kinetree's own: in both modes, to second order, through loops, by the numbers of q."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.unit.interop.jax.test_values import PENDULUM, Found, controller, state

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
TOP = kt.zoo.load("double_pendulum", floating_base=True)


@pytest.mark.parametrize("robot", [PENDULUM, TOP], ids=["fixed", "floating"])
def test_first_and_second_order_in_both_modes(robot: kt.Model) -> None:
    from jax.test_util import check_grads

    given = [*map(jnp.asarray, state(robot))]
    check_grads(kt.interop.to_jax(robot, kt.rnea), given, order=2, modes=["fwd", "rev"], eps=1e-4)


def test_jacobians_are_those_of_kinetree() -> None:
    aba, given = kt.interop.to_jax(PENDULUM, kt.aba), state(PENDULUM, 5)
    for k, name in enumerate(("q", "v", "tau")):
        expected = kt.jacobian(PENDULUM, kt.aba, given, wrt=name)
        for jacobian in (jax.jacfwd, jax.jacrev):
            found = jax.jit(jax.vmap(jacobian(aba, argnums=k)))(*given)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_hessians_in_all_orders_of_modes_are_equal() -> None:
    rnea, (q, v, a) = kt.interop.to_jax(PENDULUM, kt.rnea), map(jnp.asarray, state(PENDULUM))
    weights = jnp.array([1.0, 2.0])

    def weighted(q: jax.Array, v: jax.Array) -> jax.Array:
        return weights @ rnea(q, v, a)

    hessians = [
        jax.jit(outer(inner(weighted, argnums=(0, 1)), argnums=(0, 1)))(q, v)
        for outer in (jax.jacfwd, jax.jacrev)
        for inner in (jax.jacfwd, jax.jacrev)
    ]
    for found in hessians[1:]:
        for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(hessians[0]), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)
    (_, by_qv), (by_vq, by_vv) = hessians[0]
    np.testing.assert_allclose(by_vq, by_qv.T, rtol=1e-10, atol=1e-12)
    expected = kt.hvp(PENDULUM, kt.rnea, [*map(np.asarray, (q, v, a))], [1.0, 2.0], {"v": np.eye(2)}, wrt="v")["v"]
    np.testing.assert_allclose(by_vv, expected, rtol=1e-10, atol=1e-12)


def test_what_all_samples_share_gets_the_sum_of_their_cotangents() -> None:
    aba, (q, v, tau) = kt.interop.to_jax(PENDULUM, kt.aba), state(PENDULUM, 3, 4)
    alone = jax.grad(lambda *x: aba(*x).sum(), argnums=(0, 1, 2))(*(np.broadcast_to(x, q.shape) for x in (q, v, tau)))
    shared = jax.grad(lambda *x: aba(*x).sum(), argnums=(0, 1, 2))(q, v[0, 0], tau[:, :1])
    again = jax.grad(lambda *x: aba(*x).sum(), argnums=(0, 1, 2))(
        q, np.broadcast_to(v[0, 0], q.shape), np.broadcast_to(tau[:, :1], q.shape)
    )
    assert [x.shape for x in shared] == [(3, 4, 2), (2,), (3, 1, 2)]
    np.testing.assert_allclose(shared[1], again[1].sum((0, 1)), rtol=1e-12)
    np.testing.assert_allclose(shared[2], again[2].sum(1, keepdims=True), rtol=1e-12)
    assert alone[0].shape == q.shape


def test_through_a_scan() -> None:
    aba = kt.interop.to_jax(PENDULUM, kt.aba)
    q, v, tau = map(jnp.asarray, state(PENDULUM))

    def last(tau: jax.Array) -> jax.Array:
        def step(carry: tuple[jax.Array, jax.Array], _: None) -> tuple[tuple[jax.Array, jax.Array], None]:
            q, v = carry
            v = v + 0.01 * aba(q, v, tau)
            return (q + 0.01 * v, v), None

        (q_end, _), _ = jax.lax.scan(step, (q, v), length=10)
        return q_end.sum()

    loss, slope = jax.jit(jax.value_and_grad(last))(tau)
    step = 1e-6 * jnp.eye(2)
    differences = [(last(tau + e) - last(tau - e)) / 2e-6 for e in step]
    assert np.isfinite(loss)
    np.testing.assert_allclose(slope, differences, rtol=1e-6)
    np.testing.assert_allclose(jax.grad(jax.checkpoint(last))(tau), slope, rtol=1e-12)


def test_whole_numbers_and_truth_values_have_none() -> None:
    q, _, _ = map(jnp.asarray, state(PENDULUM))
    f = kt.interop.to_jax(controller)

    def torque(q: jax.Array, gain: jax.Array, count: jax.Array) -> jax.Array:
        found: Found = f(q, gain, count, True)
        return found.torque.sum()

    by_q, by_gain = jax.grad(torque, argnums=(0, 1))(q, 2.0, 3)
    np.testing.assert_allclose(by_q, [-6.0, -6.0])
    np.testing.assert_allclose(by_gain, -3.0 * q.sum())
    assert jax.grad(torque, argnums=2, allow_int=True)(q, 2.0, 3).dtype == jax.dtypes.float0
    with pytest.raises(TypeError, match="grad requires real- or complex-valued inputs"):
        jax.grad(torque, argnums=2)(q, 2.0, 3)


def test_single_precision() -> None:
    aba, given = kt.interop.to_jax(PENDULUM, kt.aba), [jnp.asarray(x, jnp.float32) for x in state(PENDULUM)]
    found = jax.jacrev(aba)(*given)
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, kt.jacobian(PENDULUM, kt.aba, given, wrt="q"), rtol=1e-4)


def test_linear_functions_are_transposed_twice() -> None:
    aba, given = kt.interop.to_jax(PENDULUM, kt.aba), [*map(jnp.asarray, state(PENDULUM))]
    _, forward = jax.linearize(aba, *given)
    back = jax.linear_transpose(forward, *given)
    again = jax.linear_transpose(lambda bar: back(bar), given[2])
    direction = state(PENDULUM, seed=3)
    np.testing.assert_allclose(again(tuple(map(jnp.asarray, direction)))[0], forward(*direction), rtol=1e-12)
