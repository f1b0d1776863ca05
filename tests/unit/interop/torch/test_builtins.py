"""Calls without derivatives go straight to the machine code, from tensors to tensors, with the same results."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen import exchange
from kinetree.codegen.cpu.builtin import layout_is_known
from tests.unit.interop.torch.test_values import ARM, PENDULUM, TOP, same, state

torch = pytest.importorskip("torch", reason="torch is not installed")
needs_layout = pytest.mark.skipif(not layout_is_known(), reason="Python's objects have an unknown layout here")
Detours = list[str]


@pytest.fixture
def detours(monkeypatch: pytest.MonkeyPatch) -> Detours:
    """The functions by which calls were computed that did not go straight to the machine code."""
    from kinetree.interop.torch import function

    found: Detours = []

    def noted(name: str, way: Callable[..., Any]) -> Callable[..., Any]:
        def note(*arguments: Any) -> Any:
            found.append(name)
            return way(*arguments)

        return note

    for name in ("_quiet", "computed", "differentiable"):
        monkeypatch.setattr(function, name, noted(name, getattr(function, name)))
    return found


def warmed(robot: kt.Model, dtype: str = "float64") -> Any:
    """Forward dynamics that have been called with one sample and with a batch."""
    aba = kt.interop.to_torch(robot, kt.aba)
    for batch in ((), (3,)):
        aba(*(torch.tensor(x.astype(dtype)) for x in state(robot, *batch)))
    return aba


@needs_layout
def test_optimised_code_takes_over_in_calls_that_take_no_detour(
    detours: Detours, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "off")  # where there may be optimised code
    robot = kt.zoo.load("arm7")
    aba = warmed(robot)
    one, many = ([torch.tensor(x) for x in state(robot, *batch)] for batch in ((), (24,)))
    before = aba(*one), aba(*many)
    compiled = kt.compile(robot, kt.aba).__self__
    assert not compiled.optimized
    detours.clear()
    compiled.optimize("now")
    assert compiled.optimized
    assert all(torch.equal(x, y) for x, y in zip((aba(*one), aba(*many)), before, strict=True))
    assert detours == []


@needs_layout
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_usual_calls_take_no_detour(dtype: str, detours: Detours) -> None:
    aba = warmed(ARM, dtype)
    one, many = (state(ARM, *batch) for batch in ((), (24,)))
    one, many = ([torch.tensor(x.astype(dtype)) for x in given] for given in (one, many))
    q, v, tau = many
    rows = torch.cat(many, 1)
    detours.clear()
    for given in [
        one,
        many,
        (q, one[1], tau),
        (q[:1], v[:1], tau[:1]),
        rows.split(7, 1),
        (rows[::3, :7], v[::3], tau[::3]),
        [x[5] for x in rows.split(7, 1)],
        [x.reshape(2, 3, 4, 7) for x in many],
        [x.reshape(4, 6, 7)[:, 2:3] for x in many],
        (one[0].expand(5, 7), one[1].expand(5, 7), one[2]),
        (torch.stack([one[0], one[1]], 1)[:, 0], one[1], one[2]),
    ]:
        expected = kt.aba(ARM, *(x.numpy() for x in given))
        same(aba(*given), expected)
        assert aba(*given).is_contiguous()
    assert not detours


@needs_layout
def test_numbers_and_results_without_axes(detours: Detours) -> None:
    heavier = kt.interop.to_torch(PENDULUM, kt.kinetic_energy, parameters=["body.lower_rod.mass"])
    for dtype in (torch.float64, torch.float32):
        q, v = (torch.tensor([0.3, -0.4], dtype=dtype) for _ in range(2))
        expected = heavier(q, v, 1.8)
        detours.clear()
        assert torch.equal(heavier(q, v, 1.8), expected)
        assert expected.shape == ()
        assert expected.dtype == dtype
        assert not detours
    assert heavier([0.3, 0.4], [0.0, 0.0], 1.8).dtype == torch.float64
    assert detours  # without a tensor nothing says that this is a call with tensors


@needs_layout
def test_programs_with_several_results(detours: Detours) -> None:
    @kt.program(q=PENDULUM, gain=())
    def controller(q, gain):
        return {"torque": -gain * q, "mass": kt.crba(PENDULUM, q)}

    f, q = kt.interop.to_torch(controller), torch.tensor([0.1, 0.2], dtype=torch.float64)
    f(q, 2.0)
    detours.clear()
    found = f(q, 2.0)
    same(found["torque"], -2.0 * q.numpy())
    same(found["mass"], kt.crba(PENDULUM, q.numpy()))
    assert not detours


def test_tensors_that_must_not_be_read_in_place_take_the_detour(detours: Detours) -> None:
    aba, given = warmed(PENDULUM), state(PENDULUM, 6)
    q, v, tau = map(torch.tensor, given)
    negated = torch.complex(tau, -tau).conj().imag
    buffer = bytearray(1) + tau.numpy().tobytes()
    crooked = torch.frombuffer(buffer, dtype=torch.float64, offset=1).reshape(6, 2)

    class Other(torch.Tensor):
        """A tensor of another type."""

    assert negated.is_neg()
    for x in (negated, crooked, tau.as_subclass(Other), tau.numpy(), tau.tolist()):
        detours.clear()
        same(torch.as_tensor(aba(q, v, x)).as_subclass(torch.Tensor), kt.aba(PENDULUM, *given))
        assert detours
    same(aba(q, v, torch.tensor([1, 2])), kt.aba(PENDULUM, *given[:2], [1, 2]))
    crossed = [x.reshape(2, 3, 2).transpose(0, 1) for x in (q, v, tau)]  # without one step from sample to sample
    same(aba(*crossed), kt.aba(PENDULUM, *(x.numpy() for x in crossed)))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, torch.ones_like(q))
        assert torch.autograd.forward_ad.unpack_dual(aba(dual, v, tau)).tangent is not None


@needs_layout
def test_parameters_are_read_in_place_while_nothing_is_recorded(detours: Detours) -> None:
    aba = warmed(PENDULUM)
    q, v, tau = map(torch.tensor, state(PENDULUM))
    weights = torch.nn.Parameter(tau)
    assert aba(q, v, weights).requires_grad
    for context in (torch.no_grad, torch.inference_mode):
        detours.clear()
        with context():
            found = aba(q.requires_grad_(), v, weights)
        assert not found.requires_grad
        assert found.is_inference() == (context is torch.inference_mode)
        assert not detours


def test_quaternions_are_checked() -> None:
    aba = warmed(TOP)
    for batch in ((), (9,)):
        given = [*map(torch.tensor, state(TOP, *batch))]
        given[0][..., 3:7] *= 1.2 * np.sqrt(np.finfo(float).tiny)  # barely long enough: machine code does not decide
        same(aba(*given), kt.aba(TOP, *(x.numpy() for x in given)))
        given[0][..., 3:7] = 0.0
        with pytest.raises(kt.errors.ConfigurationError, match="quaternion"):
            aba(*given)


def test_infinities_give_no_warning() -> None:
    aba = warmed(PENDULUM)
    for batch in ((), (64,), (20_000,)):
        huge = torch.full((*batch, 2), 1e308, dtype=torch.float64)
        assert not aba(huge, huge, huge).isfinite().any()


@needs_layout
def test_nothing_is_lost_or_kept_over_many_calls() -> None:
    aba = warmed(TOP)
    one, many = ([*map(torch.tensor, state(TOP, *batch))] for batch in ((), (16,)))
    lost = one[0].clone()
    lost[3:7] = 0.0
    watched = [aba, *one, *many, lost, torch.is_grad_enabled, torch.Tensor.is_neg]
    before, memory = [*map(sys.getrefcount, watched)], resident()
    for _ in range(50_000):
        aba(*one)
        aba(*many)
    for _ in range(200):
        with pytest.raises(kt.errors.ConfigurationError):
            aba(lost, one[1], one[2])
    assert [*map(sys.getrefcount, watched)] == before
    assert resident() - memory < 4 << 20
    result, other = aba(*one), torch.zeros(1)
    assert sys.getrefcount(result) == sys.getrefcount(other)


def resident() -> int:
    """Bytes of this process that are in memory, where the system reports it."""
    table = Path("/proc/self/statm")
    return int(table.read_text().split()[1]) * 4096 if table.exists() else 0


def test_functions_that_nobody_holds_are_given_up() -> None:
    found = [weakref.ref(warmed(PENDULUM)) for _ in range(3)]
    gc.collect()
    assert not any(reference() for reference in found)


def test_threads_may_call_at_once() -> None:
    aba, given = warmed(ARM), [*map(torch.tensor, state(ARM, 40))]
    expected, right = aba(*given), []

    def work() -> None:
        right.extend(torch.equal(aba(*given), expected) for _ in range(300))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(right) == 900
    assert all(right)


def test_what_the_library_exports_is_what_its_tensors_say() -> None:
    functions = exchange.exchange_functions(torch.Tensor)
    assert functions is not None
    read = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(functions.read)
    for x in (torch.zeros(3, 4, dtype=torch.float64)[1:, ::2], torch.zeros(2)):
        tensor = exchange.Tensor()
        assert read(x, ctypes.addressof(tensor)) == 0
        found = [tuple((ctypes.c_int64 * x.dim()).from_address(p)) for p in (tensor.shape, tensor.strides)]
        assert (*found, tensor.ndim) == (tuple(x.shape), x.stride(), x.dim())
        assert tensor.data + tensor.offset == x.data_ptr()
        assert (tensor.kind, tensor.bits, tensor.lanes) == (exchange.FLOAT, 8 * x.element_size(), 1)
        assert (tensor.device_kind, tensor.device) == (exchange.CPU, 0)


def test_a_library_without_these_functions_is_called_by_way_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    class Older:
        """Tensors whose library exports nothing."""

    class Newer:
        """Tensors whose library exports functions of a later version."""

    table = exchange.Functions(major=2, minor=0, read=1, allocate=1, wrap=1)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    new = make(("PyCapsule_New", ctypes.pythonapi))
    name = ctypes.c_char_p(b"dlpack_exchange_api")
    Newer.__dlpack_c_exchange_api__ = new(ctypes.addressof(table), name, None)  # type: ignore[attr-defined]
    assert exchange.exchange_functions(Older) is exchange.exchange_functions(Newer) is None
    monkeypatch.setattr("kinetree.interop.torch.function._EXCHANGE", None)
    given = state(PENDULUM, 4)
    aba = warmed(PENDULUM)
    same(aba(*map(torch.tensor, given)), kt.aba(PENDULUM, *given))
    assert aba._quickest == aba._by_numpy
