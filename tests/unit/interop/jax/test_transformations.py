"""vmap, control flow, and arrays spread over devices, which stay spread."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinetree as kt
from tests.unit.interop.jax.test_values import PENDULUM, state

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy
P = jax.sharding.PartitionSpec


@pytest.fixture(scope="module")
def aba() -> object:
    return kt.interop.to_jax(PENDULUM, kt.aba)


def test_vmap_of_some_arguments_along_any_axis(aba) -> None:
    q, v, tau = state(PENDULUM, 5)
    found = jax.vmap(aba, in_axes=(1, None, 0), out_axes=1)(q.T, v[0], tau)
    np.testing.assert_array_equal(found, kt.aba(PENDULUM, q, v[0], tau).T)


def test_vmap_in_vmap(aba) -> None:
    q, v, tau = state(PENDULUM, 3)
    over_tau = jax.vmap(aba, (None, None, 0))
    over_all = jax.vmap(jax.vmap(over_tau, (None, 0, None)), (0, None, None))
    found = jax.jit(over_all)(q, v, tau)
    np.testing.assert_array_equal(found, kt.aba(PENDULUM, q[:, None, None], v[:, None], tau))


def test_vmap_of_batches(aba) -> None:
    q, v, tau = state(PENDULUM, 4, 3)
    np.testing.assert_array_equal(jax.vmap(aba)(q, v[:, 0], tau), kt.aba(PENDULUM, q, v[:, :1], tau))
    np.testing.assert_array_equal(jax.vmap(aba, (0, None, None))(q, v, tau[0]).shape, (4, 4, 3, 2))


def test_control_flow(aba) -> None:
    q, v, tau = map(jnp.asarray, state(PENDULUM))

    def step(k: int, v: jax.Array) -> jax.Array:
        return jax.lax.cond(k % 2 == 0, lambda: v + 0.1 * aba(q, v, tau), lambda: v)

    found, expected = jax.jit(lambda v: jax.lax.fori_loop(0, 4, step, v))(v), np.asarray(v)
    for _ in range(2):
        expected = expected + 0.1 * kt.aba(PENDULUM, np.asarray(q), expected, np.asarray(tau))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_call_is_one_call_of_xla(aba) -> None:
    text = jax.jit(aba).lower(*state(PENDULUM, 5)).compile().as_text()
    assert text.count("custom-call(") == 1
    assert "callback" not in text


def test_exported_calls_have_names_that_users_must_let_pass(aba) -> None:
    from jax import export

    gradient = jax.jit(jax.grad(lambda *x: (aba(*x) ** 2).sum(), 1))
    q = jax.ShapeDtypeStruct(export.symbolic_shape("a, b, 2"), jnp.float64)
    shapes = [q, q, jax.ShapeDtypeStruct((2,), jnp.float64)]
    with pytest.raises(ValueError, match="targets have no compatibility guarantees"):
        export.export(gradient)(*shapes)
    given = [*state(PENDULUM, 3, 4)[:2], np.ones(2)]
    names = {*re.findall(r"kinetree_\w+", gradient.lower(*given).as_text())}
    passing = [export.DisabledSafetyCheck.custom_call(name) for name in names]
    exported = export.export(gradient, disabled_checks=passing)(*shapes)
    np.testing.assert_array_equal(exported.call(*given), gradient(*given))


def mesh() -> jax.sharding.Mesh:
    if len(jax.devices()) < 2:
        pytest.skip("JAX was started with one device before these tests")
    return jax.sharding.Mesh(np.array(jax.devices()[:2]), ("device",))


def spread(spec: P, *arrays: np.ndarray) -> list[jax.Array]:
    return [jax.device_put(x, jax.sharding.NamedSharding(mesh(), spec)) for x in arrays]


@pytest.mark.parametrize("spec", [P("device"), P(None, "device")])
def test_what_is_spread_over_devices_stays_there(aba, spec: P) -> None:
    given = state(PENDULUM, 4, 6)
    q, v, tau = spread(spec, *given)
    shared = given[1][0, 0]
    compiled = jax.jit(aba).lower(q, shared, tau).compile()
    found = compiled(q, shared, tau)
    assert "all-gather" not in compiled.as_text()
    assert found.sharding.is_equivalent_to(jax.sharding.NamedSharding(mesh(), spec), 3)
    np.testing.assert_array_equal(found, kt.aba(PENDULUM, given[0], shared, given[2]))
    slope = jax.jit(jax.grad(lambda tau: aba(q, v, tau).sum())).lower(tau).compile()
    assert "all-gather" not in slope.as_text()
    assert slope(tau).sharding.is_equivalent_to(tau.sharding, 3)


def test_a_spread_axis_of_one_sample_is_gathered(aba) -> None:
    q, v, tau = state(PENDULUM, 6)
    (split,) = spread(P(None, "device"), v)
    np.testing.assert_array_equal(jax.jit(aba)(q, split, tau), kt.aba(PENDULUM, q, v, tau))


def test_shard_map(aba) -> None:
    q, v, tau = state(PENDULUM, 6)
    try:
        from jax import shard_map
    except ImportError:
        from jax.experimental.shard_map import shard_map

    def part(v: jax.Array, q: jax.Array, tau: jax.Array) -> jax.Array:
        return aba(q, v, tau)

    whole = shard_map(part, mesh=mesh(), in_specs=(P(), P("device"), P("device")), out_specs=P("device"))
    np.testing.assert_array_equal(jax.jit(whole)(v[0], q, tau), kt.aba(PENDULUM, q, v[0], tau))
    slope = jax.jit(jax.grad(lambda v: whole(v, q, tau).sum()))(v[0])
    np.testing.assert_allclose(slope, jax.grad(lambda v: aba(q, v, tau).sum())(v[0]), rtol=1e-12)


def test_pmap(aba) -> None:
    mesh()
    given = state(PENDULUM, 2, 3)
    np.testing.assert_array_equal(jax.pmap(aba)(*given), kt.aba(PENDULUM, *given))
