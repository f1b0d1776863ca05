"""Derivatives in PyTorch are kinetree's own: by autograd and by torch.func, to any order, by the numbers of q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.interop.torch.test_values import PENDULUM, TOP, controller, state

torch = pytest.importorskip("torch", reason="torch is not installed")


def tensors(robot: kt.Model, *batch: int) -> list[Any]:
    return [*map(torch.tensor, state(robot, *batch))]


@pytest.mark.parametrize("robot", [PENDULUM, TOP], ids=["fixed", "floating"])
def test_gradcheck_and_gradgradcheck(robot: kt.Model) -> None:
    rnea, given = kt.interop.to_torch(robot, kt.rnea), [x.requires_grad_() for x in tensors(robot)]
    assert torch.autograd.gradcheck(rnea, given, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(rnea, given, check_fwd_over_rev=True)


def test_jacobians_are_those_of_kinetree() -> None:
    aba, given = kt.interop.to_torch(PENDULUM, kt.aba), tensors(PENDULUM, 5)
    for k, name in enumerate(("q", "v", "tau")):
        expected = kt.jacobian(PENDULUM, kt.aba, state(PENDULUM, 5), wrt=name)
        for jacobian in (torch.func.jacfwd, torch.func.jacrev):
            found = torch.func.vmap(jacobian(aba, argnums=k))(*given)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_hessians_in_all_orders_of_modes_are_equal() -> None:
    rnea, (q, v, a) = kt.interop.to_torch(PENDULUM, kt.rnea), tensors(PENDULUM)
    weights = torch.tensor([1.0, 2.0], dtype=torch.float64)

    def weighted(q: Any, v: Any) -> Any:
        return weights @ rnea(q, v, a)

    modes = torch.func.jacfwd, torch.func.jacrev
    hessians = [outer(inner(weighted, argnums=(0, 1)), argnums=(0, 1))(q, v) for outer in modes for inner in modes]
    (_, by_qv), (by_vq, by_vv) = hessians[0]
    for found in hessians[1:]:
        for x, y in zip(sum(found, ()), sum(hessians[0], ()), strict=True):
            torch.testing.assert_close(x, y, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(by_vq, by_qv.T, rtol=1e-10, atol=1e-12)
    expected = kt.hvp(PENDULUM, kt.rnea, state(PENDULUM), [1.0, 2.0], {"v": np.eye(2)}, wrt="v")["v"]
    np.testing.assert_allclose(by_vv, expected, rtol=1e-10, atol=1e-12)
    batch = tensors(PENDULUM, 3)[:2]
    many = torch.func.vmap(torch.func.hessian(weighted))(*batch)
    alone = torch.func.hessian(weighted)(*(x[1] for x in batch))
    torch.testing.assert_close(many[1], alone, rtol=1e-12, atol=1e-12)


def test_vmap_maps_any_axis_of_some_arguments() -> None:
    aba, (q, v, tau) = kt.interop.to_torch(PENDULUM, kt.aba), tensors(PENDULUM, 3, 4)
    twice = torch.func.vmap(torch.func.vmap(aba, in_dims=(1, None, 0)), in_dims=(None, 1, 0))
    found = twice(q[0].T, v[:, 0].T, tau)
    expected = aba(q[0], v[:, :1], tau)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(torch.func.vmap(aba, in_dims=(1, 1, 1), out_dims=1)(q, v, tau), aba(q, v, tau))


def test_tangents_forward() -> None:
    aba, (q, v, tau) = kt.interop.to_torch(PENDULUM, kt.aba), tensors(PENDULUM)
    along = torch.tensor([0.3, -0.2], dtype=torch.float64)
    expected = kt.jvp(PENDULUM, kt.aba, state(PENDULUM), {"v": along.numpy()})
    _, found = torch.func.jvp(lambda v: aba(q, v, tau), (v,), (along,))
    np.testing.assert_allclose(found, expected[1], rtol=1e-12)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(v, along)
        (value, again) = torch.autograd.forward_ad.unpack_dual(aba(q, dual, tau))
    torch.testing.assert_close(again, found)
    np.testing.assert_array_equal(value, aba(q, v, tau))


def test_what_all_samples_share_gets_the_sum_of_their_cotangents() -> None:
    aba, (q, v, tau) = kt.interop.to_torch(PENDULUM, kt.aba), tensors(PENDULUM, 3, 4)
    given = [x.requires_grad_() for x in (q, v[0, 0].clone(), tau[:, :1].clone())]
    shared = torch.autograd.grad(aba(*given).sum(), given)
    spread = [x.detach().expand(q.shape).clone().requires_grad_() for x in given]
    alone = torch.autograd.grad(aba(*spread).sum(), spread)
    assert [tuple(x.shape) for x in shared] == [(3, 4, 2), (2,), (3, 1, 2)]
    torch.testing.assert_close(shared, (alone[0], alone[1].sum((0, 1)), alone[2].sum(1, keepdim=True)))


def test_gradients_of_large_batches_are_computed_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from kinetree.compiler import helper_threads

    run, pieces = helper_threads._Helpers.run, []
    monkeypatch.setattr(
        helper_threads._Helpers, "run", lambda self, f, x, n: (pieces.append(len(x)), run(self, f, x, n))[1]
    )
    aba, given = kt.interop.to_torch(PENDULUM, kt.aba), [x.requires_grad_() for x in tensors(PENDULUM, 30_000)]
    found = []
    for count in ("1", "3"):
        monkeypatch.setenv("KINETREE_NUM_THREADS", count)
        result = aba(*given)
        pieces.clear()
        found.append(torch.autograd.grad(result.sum(), given))
    assert len(pieces) == 1
    assert pieces[0] > 2
    for x, y in zip(*found, strict=True):
        assert torch.equal(x, y)


def test_only_what_requires_gradients_has_them() -> None:
    aba, (q, v, tau) = kt.interop.to_torch(PENDULUM, kt.aba), tensors(PENDULUM)
    assert not aba(q, v, tau).requires_grad
    weight = torch.nn.Parameter(tau)
    aba(q, v, weight).sum().backward()
    np.testing.assert_allclose(weight.grad, kt.jacobian(PENDULUM, kt.aba, state(PENDULUM), wrt="tau").sum(0))
    with torch.no_grad():
        assert not aba(q, v, weight).requires_grad
    with torch.inference_mode():
        assert aba(q, v, weight).is_inference()
    assert not aba(q, v, weight.detach()).requires_grad


def test_programs_are_differentiated_by_their_real_numbers() -> None:
    q = tensors(PENDULUM)[0].requires_grad_()
    gain = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    found = kt.interop.to_torch(controller)(q, gain, torch.tensor(3), True)
    by_q, by_gain = torch.autograd.grad(found.torque.sum(), (q, gain), retain_graph=True)
    np.testing.assert_allclose(by_q, [-6.0, -6.0])
    np.testing.assert_allclose(by_gain, -3.0 * q.detach().sum())
    assert torch.autograd.grad(found.used["mass"].sum(), q)[0].shape == (2,)
    assert not found.used["count"].requires_grad


def test_single_precision() -> None:
    aba, given = kt.interop.to_torch(PENDULUM, kt.aba), [x.float() for x in tensors(PENDULUM)]
    found = torch.func.jacrev(aba)(*given)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found, kt.jacobian(PENDULUM, kt.aba, state(PENDULUM), wrt="q"), rtol=1e-4)
    mixed = given[0].double().requires_grad_()
    assert torch.autograd.grad(aba(mixed, *given[1:]).sum(), mixed)[0].dtype == torch.float64


def test_through_time_with_checkpoints() -> None:
    aba, (q, v, tau) = kt.interop.to_torch(PENDULUM, kt.aba), tensors(PENDULUM)

    def last(tau: Any) -> Any:
        at, speed = q, v
        for _ in range(4):
            speed = speed + 0.01 * torch.utils.checkpoint.checkpoint(aba, at, speed, tau, use_reentrant=False)
            at = at + 0.01 * speed
        return at.sum()

    assert torch.autograd.gradcheck(last, [tau.requires_grad_()])


def test_weights_of_several_results_have_gradients() -> None:
    @kt.program(q=PENDULUM)
    def motion(q):
        return kt.gravity_forces(PENDULUM, q), kt.potential_energy(PENDULUM, q)

    q = torch.randn(5, 2, dtype=torch.float64)
    force, height = torch.ones(2, dtype=torch.float64), torch.ones(5, dtype=torch.float64, requires_grad=True)
    _, gradients = kt.vjp(motion, (q,), (force, height))
    (by_height,) = torch.autograd.grad(gradients["q"].sum(), height)
    torch.testing.assert_close(by_height, kt.gravity_forces(PENDULUM, q).sum(-1))
    _, only = kt.vjp(motion, (q,), (None, height))
    torch.testing.assert_close(only["q"], kt.gravity_forces(PENDULUM, q))
