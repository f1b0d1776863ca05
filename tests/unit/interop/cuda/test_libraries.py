"""Which stream a call computes on, and what it returns, for arrays of each library. The libraries are made up: their
arrays are on no device."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.interop.cuda.arrays import DeviceArray, stream_handle
from kinetree.interop.cuda.dlpack import CUDA, MANAGED, capsule
from tests.counting_driver import CountingDriver, counting

ROBOT = kt.zoo.load("double_pendulum")
GIVEN = [np.random.default_rng(k).normal(size=(5, 2)) for k in range(3)]


class Tensor:
    """An array of a library that shows it by DLPack."""

    kind = CUDA
    number = 0

    def __init__(self, x: np.ndarray) -> None:
        self.kept = x
        self.device = "cuda:0"
        self.asked: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, self.number

    def __dlpack__(self, *, stream: int) -> object:
        self.asked.append(stream)
        return capsule(self.kept.ctypes.data, self.kept.shape, self.kept.dtype, self.number, self)

    def new_empty(self, shape: tuple[int, ...]) -> Tensor:
        """PyTorch's way to more memory like that of a tensor."""
        return type(self)(np.full(shape, np.nan, self.kept.dtype))


@pytest.fixture
def f() -> Iterator[Any]:
    with counting(CountingDriver()) as made:
        compiled = kt.compile(ROBOT, kt.aba, device="cuda")
        made.computes(compiled._launcher.node)
        compiled.launches = made.launches
        yield compiled


def of(library: str) -> type[Tensor]:
    return type("Tensor", (Tensor,), {"__module__": f"{library}.arrays"})


def test_pytorch(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(current_stream=lambda device: SimpleNamespace(cuda_stream=77, device=device))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    kind = of("torch")
    given = [kind(x) for x in GIVEN]
    result = f(*given)
    assert type(result) is kind
    np.testing.assert_array_equal(result.kept, kt.aba(ROBOT, *GIVEN))
    assert [x.asked for x in given] == [[77]] * 3
    assert f.launches[0][3] == 77


def test_cupy(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = of("cupy")
    stream = SimpleNamespace(ptr=0)
    made = SimpleNamespace(
        cuda=SimpleNamespace(get_current_stream=lambda: stream),
        empty=lambda shape, dtype: kind(np.empty(shape, dtype)),
    )
    monkeypatch.setitem(sys.modules, "cupy", made)
    made.asarray = lambda x, dtype: kind(np.asarray(x, dtype))
    given = [kind(x) for x in GIVEN]
    result = f(*given)
    assert type(result) is kind
    np.testing.assert_array_equal(result.kept, kt.aba(ROBOT, *GIVEN))
    assert [x.asked for x in given] == [[1]] * 3  # DLPack's number of the default stream
    assert f.launches[0][3] in (0, None)
    again = kt.aba(ROBOT, *given[:2], GIVEN[2])  # without compiling: on the device where CuPy's arrays are
    assert type(again) is kind
    np.testing.assert_array_equal(again.kept, result.kept)
    assert len(f.launches) == 2


def test_jax(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = of("jaxlib")
    taken: list[DeviceArray] = []
    numpy = SimpleNamespace(from_dlpack=lambda x: taken.append(x) or "an array of JAX")
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(numpy=numpy))
    given = [kind(x) for x in GIVEN]
    assert f(*given) == "an array of JAX"
    np.testing.assert_array_equal(taken[0].numpy(), kt.aba(ROBOT, *GIVEN))
    with pytest.raises(kt.errors.ShapeError, match="out is read-only"):
        f(*given, out=kind(np.empty((5, 2))))


def test_memory_that_moves_by_itself_is_there_too(f: Any) -> None:
    kind = of("other")
    kind.kind = MANAGED
    np.testing.assert_array_equal(f(*(kind(x) for x in GIVEN)).numpy(), kt.aba(ROBOT, *GIVEN))


def test_another_device(f: Any) -> None:
    kind = of("other")
    wrong = of("other")
    wrong.number = 1
    with pytest.raises(kt.errors.DTypeError, match="v is on cuda:1, but this function is on cuda:0"):
        f(kind(GIVEN[0]), wrong(GIVEN[1]), kind(GIVEN[2]))


def test_tensors_of_this_computer_are_refused(f: Any) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(kt.errors.DTypeError, match="torch"):
        f(*map(torch.tensor, GIVEN))


@pytest.mark.parametrize(
    "stream",
    [
        5,
        SimpleNamespace(cuda_stream=5),
        SimpleNamespace(ptr=5),
        SimpleNamespace(handle=SimpleNamespace(value=5)),
        SimpleNamespace(handle=5),
    ],
)
def test_streams_of_every_library(stream: Any) -> None:
    assert stream_handle(stream) == 5


@pytest.mark.parametrize("wrong", ["main", True, 1.0, object()])
def test_other_streams(wrong: Any) -> None:
    with pytest.raises(kt.errors.DTypeError, match="stream must be a stream of PyTorch, CuPy or Numba, or its number"):
        stream_handle(wrong)
