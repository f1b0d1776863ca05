"""What frameworks call has kinetree's values, and derivatives by the numbers of each input, to second order."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import interpret
from kinetree.interop.subject import Subject
from tests.unit.function.test_unroll import chain

ROBOT = kt.zoo.load("double_pendulum")


def arguments(count: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=(count, 2)) for _ in range(3)]


@pytest.fixture(scope="module")
def node() -> object:
    return Subject(ROBOT, kt.aba).node("float64")


def test_its_kernel_is_that_of_numpy(node: object) -> None:
    batch = node.kernels.batch()
    assert batch.flags is None
    np.testing.assert_array_equal(batch.call(*arguments()), kt.aba(ROBOT, *arguments()))
    assert node.fingerprint == Subject(ROBOT, kt.aba).node("float64").fingerprint
    assert node.fingerprint != Subject(ROBOT, kt.aba).node("float32").fingerprint


def test_tangents_and_cotangents(node: object) -> None:
    q, v, tau = arguments()
    dq, dtau, bar = arguments(5)
    by_q = kt.jacobian(ROBOT, kt.aba, (q, v, tau), wrt="q")
    by_tau = kt.jacobian(ROBOT, kt.aba, (q, v, tau), wrt="tau")
    forward, reverse = node.forward([0, 2]), node.reverse([2, 0])
    assert [port.name for port in forward.inputs] == ["q", "v", "tau", "d_q", "d_tau"]
    assert [port.name for port in reverse.outputs] == ["bar_tau", "bar_q"]
    along = forward.kernels.batch().call(q, v, tau, dq, dtau)
    np.testing.assert_allclose(along, np.vecdot(by_q, dq[:, None]) + np.vecdot(by_tau, dtau[:, None]), rtol=1e-12)
    bar_tau, bar_q = reverse.kernels.batch().call(q, v, tau, bar)
    np.testing.assert_allclose(bar_tau, np.vecdot(np.swapaxes(by_tau, 1, 2), bar[:, None]), rtol=1e-12)
    np.testing.assert_allclose(bar_q, np.vecdot(np.swapaxes(by_q, 1, 2), bar[:, None]), rtol=1e-12)


def test_derivatives_of_derivatives(node: object) -> None:
    q, v, tau = (x[0] for x in arguments())
    dq, bar, _ = (x[0] for x in arguments())
    second = node.reverse([0]).forward([0])
    (found,) = interpret(second.program, q, v, tau, bar, dq)
    weights, step = {"weights": bar}, 1e-6
    ends = [kt.vjp(ROBOT, kt.aba, (q + h * dq, v, tau), weights["weights"], wrt="q")[1]["q"] for h in (step, -step)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * step), rtol=1e-7)
    assert node.reverse([0]) is node.reverse([0])


@pytest.mark.parametrize("unroll", [True, False])
def test_matrices_of_derivatives(unroll: bool) -> None:
    q, v, tau = (x[0] for x in arguments())
    node = Subject(ROBOT, kt.aba, unroll=unroll).node("float64")
    matrices = node.jacobian([0, 2])
    assert matrices.outputs[0].shape == (2 * 2 * 2,)
    assert node.jacobian([0, 2]) is matrices
    (found,) = interpret(matrices.program, q, v, tau)
    expected = [kt.jacobian(ROBOT, kt.aba, (q, v, tau), wrt=name) for name in ("q", "tau")]
    np.testing.assert_allclose(np.reshape(found, (2, 2, 2)), expected, rtol=1e-11)
    second = node.reverse([0, 1]).jacobian([3])  # gradients are linear in the weights
    (found,) = interpret(second.program, q, v, tau, np.zeros(2))
    by_q_and_v = np.hstack([expected[0], kt.jacobian(ROBOT, kt.aba, (q, v, tau), wrt="v")]).T
    np.testing.assert_allclose(np.reshape(found, (4, 2)), by_q_and_v, rtol=1e-11)


def test_a_long_program_is_differentiated_in_loops() -> None:
    node = Subject(chain(60), kt.aba).node("float64")
    assert node.program.is_straight
    assert not node.reverse([0]).program.is_straight


def test_arguments_are_bound_by_name_and_left_out() -> None:
    @kt.program(q=ROBOT, gain=(), on=bool)
    def spring(q, gain, on):
        return {"torques": -gain * q, "used": np.where(on, gain, 0.0)}

    subject = Subject(spring)
    assert subject.names == ("q", "gain", "on")
    assert subject.kinds == (float, float, bool)
    assert subject.bound([1], {"on": 3, "gain": 2}) == [1, 2, 3]
    whole = np.arange(6.0).reshape(2, 3)
    found = subject.apart(whole, "float64", lambda x, dtype: x.astype(dtype))
    np.testing.assert_array_equal(found["torques"], whole[:, :2])
    np.testing.assert_array_equal(found["used"], whole[:, 2])
    with pytest.raises(kt.errors.DTypeError, match="spring has no argument 'gian': did you mean"):
        subject.bound([], {"gian": 1})


@pytest.mark.parametrize("name", ["to_c", "to_casadi", "to_jax", "to_torch"])
def test_the_order_of_arguments_up_to_version_0_1_works_with_a_warning(name: str) -> None:
    adapter = getattr(kt.interop, name)
    with pytest.warns(DeprecationWarning, match=rf"kt\.interop\.{name} takes the robot first now") as caught:
        old = adapter(kt.crba, ROBOT)
    assert caught[0].filename == __file__
    assert repr(old) == repr(adapter(ROBOT, kt.crba))


def test_requests_that_cannot_be_met() -> None:
    with pytest.raises(kt.errors.OptionError, match=r"kt.interop.to_jax takes a robot and one of kinetree's functions"):
        Subject(kt.aba, adapter="kt.interop.to_jax")
    with pytest.raises(kt.errors.DTypeError, match="; tau is missing"):
        Subject(ROBOT, kt.aba).bound([1, 2], {})
    with pytest.raises(kt.errors.DTypeError, match="aba: v is given twice"):
        Subject(ROBOT, kt.aba).bound([1, 2, 3], {"v": 2})
    node = Subject(ROBOT, kt.aba).node("float64")
    with pytest.raises(kt.errors.ShapeError, match=r"aba: tau has shape \(3,\), but 'double_pendulum' needs \(…, 2\)"):
        Subject(ROBOT, kt.aba).batch_shape(node, [(2,), (2,), (3,)])
    with pytest.raises(kt.errors.ShapeError, match="the leading axes do not broadcast together"):
        Subject(ROBOT, kt.aba).batch_shape(node, [(3, 2), (2,), (4, 2)])
