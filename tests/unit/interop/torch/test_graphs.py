"""Calls in the graphs of torch.compile, torch.export and make_fx: one operator, with all derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.interop.torch.test_values import ARM, PENDULUM, Found, controller, state

torch = pytest.importorskip("torch", reason="torch is not installed")


def tensors(*batch: int) -> list[Any]:
    return [*map(torch.tensor, state(PENDULUM, *batch))]


@pytest.fixture(autouse=True)
def _reset() -> None:
    torch.compiler.reset()


def test_the_operator_is_what_pytorch_expects() -> None:
    aba = kt.interop.to_torch(PENDULUM, kt.aba)
    call = aba._call(torch.float64)
    given, cotangent = tensors(5), tensors(5)[2]
    tests = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    for arrays, program in ((given, call.name), ([*given, cotangent], call.reverse((0, 2)).name)):
        found = torch.library.opcheck(torch.ops.kinetree.call.default, (arrays, program), test_utils=tests)
        assert set(found.values()) == {"SUCCESS"}


def test_compiled_whole_with_gradients() -> None:
    aba = kt.interop.to_torch(PENDULUM, kt.aba)

    def loss(q: Any, v: Any, tau: Any) -> Any:
        return (aba(2.0 * q, v, tau=tau.sin()) ** 2).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager", dynamic=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for count in (3, 5):
            given = [x.requires_grad_() for x in tensors(count)]
            torch.testing.assert_close(compiled(*given), loss(*given))
            expected = torch.autograd.grad(loss(*given), given)
            torch.testing.assert_close(torch.autograd.grad(compiled(*given), given), expected)


def test_compiled_transformations() -> None:
    aba, given = kt.interop.to_torch(PENDULUM, kt.aba), tensors(4)

    def slopes(*x: Any) -> Any:
        return torch.func.vmap(torch.func.grad(lambda *y: aba(*y).square().sum(), argnums=(0, 1)))(*x)

    compiled = torch.compile(slopes, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*given), slopes(*given))


def test_compiled_programs_and_numbers_of_constraints() -> None:
    f, q = kt.interop.to_torch(controller), tensors(3)[0]

    @torch.compile(fullgraph=True, backend="aot_eager")
    def called(q: Any, count: Any) -> Any:
        return f(q, 2.0, count)

    found = called(q, torch.tensor(3))
    assert type(found) is Found
    np.testing.assert_array_equal(found.torque, -6.0 * q)
    assert found.used["count"].dtype == torch.int64
    held = kt.interop.to_torch(
        ARM, kt.constraints.constrained_dynamics, constraints=[kt.constraints.Contact("tool", at=(0.0, 0.1, 0.2))]
    )
    given = [*map(torch.tensor, state(ARM, 3))]
    torch.testing.assert_close(torch.compile(held, fullgraph=True, backend="aot_eager")(*given), held(*given))


def test_errors_in_a_graph_are_those_of_a_call() -> None:
    aba, (q, v, _) = kt.interop.to_torch(PENDULUM, kt.aba), tensors()
    with pytest.raises(Exception, match=r"aba: tau has shape \(3,\), but 'double_pendulum' needs \(…, 2\)"):
        torch.compile(aba, fullgraph=True, backend="aot_eager")(q, v, torch.zeros(3))


def test_graphs_by_other_ways() -> None:
    aba, given = kt.interop.to_torch(PENDULUM, kt.aba), tensors(4)
    made = torch.fx.experimental.proxy_tensor.make_fx(lambda *x: aba(*x) + 1.0)(*given)
    assert "torch.ops.kinetree.call" in made.code
    torch.testing.assert_close(made(*(0.5 * x for x in given)), aba(*(0.5 * x for x in given)) + 1.0)

    class Module(torch.nn.Module):
        def forward(self, q: Any, v: Any, tau: Any) -> Any:
            return aba(q, v, tau)

    exported = torch.export.export(Module(), (*given,))
    torch.testing.assert_close(exported.module()(*given), aba(*given))
    shapes = aba(*(x.to("meta") for x in given))
    assert (shapes.device.type, shapes.shape) == ("meta", (4, 2))


def test_a_kept_graph_finds_derivatives_by_name() -> None:
    from kinetree.interop.torch.calls import called

    call = kt.interop.to_torch(PENDULUM, kt.aba)._call(torch.float64)
    name = call.reverse((0, 1)).forward((2,)).name
    assert name == f"{call.name}/reverse 0,1/forward 2"
    found, expected = called(name).node, call.node.reverse((0, 1)).forward((2,))
    assert (found.fingerprint, called(name).name) == (expected.fingerprint, name)
