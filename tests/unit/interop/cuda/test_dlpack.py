"""Capsules of other libraries are read, and those that are made are read by other libraries."""

from __future__ import annotations

import ctypes
import gc
import weakref

import numpy as np
import pytest

import kinetree as kt
from kinetree.interop.cuda import dlpack
from kinetree.interop.cuda.dlpack import CPU, capsule, contents


def test_a_capsule_of_numpy() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)[:, ::2, 1:]
    pointer, shape, strides, dtype, device = contents(x.__dlpack__())
    assert (pointer, shape, strides) == (x.ctypes.data, (2, 2, 3), (12, 8, 1))
    assert (dtype, device) == (np.float32, 0)
    assert contents(np.zeros(3, np.int16).__dlpack__())[3] == np.int16
    assert contents(np.zeros((), bool).__dlpack__())[1:4:2] == ((), np.bool_)


def test_an_array_may_begin_at_an_offset() -> None:
    x = np.arange(6.0)
    made = x.__dlpack__()
    pointer = dlpack._python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    dlpack._Tensor.from_address(pointer(made, b"dltensor")).offset = 16
    assert contents(made)[0] == x.ctypes.data + 16


def test_a_capsule_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(24.0).reshape(4, 6)[1:].T
    pointer, shape, strides, dtype, _ = contents(x.__dlpack__())
    assert (pointer, shape, strides, dtype) == (x.data_ptr(), (6, 3), (1, 6), np.float32)
    with pytest.raises(kt.errors.DTypeError, match="such as bfloat16"):
        contents(x.to(torch.bfloat16).__dlpack__())


def test_reading_leaves_a_capsule_to_its_owner() -> None:
    x = np.zeros(3)
    kept = x.__dlpack__()
    assert contents(kept) == contents(kept)
    gone = weakref.ref(x)
    del x, kept
    gc.collect()
    assert gone() is None


class Owner:
    """Numbers that are given away."""

    def __init__(self) -> None:
        self.numbers = np.arange(6.0)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0

    def __dlpack__(self, **_: object) -> object:
        return capsule(self.numbers.ctypes.data, (2, 3), self.numbers.dtype, 0, self)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_capsule_for_others(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its owner alive until the other library has no use for the array."""
    monkeypatch.setattr(dlpack, "CUDA", CPU)
    module = pytest.importorskip(library)
    owner = Owner()
    gone = weakref.ref(owner)
    x = module.from_dlpack(owner)
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    del owner
    gc.collect()
    assert gone() is not None
    assert x.tolist()[1] == [3.0, 4.0, 5.0]
    del x
    gc.collect()
    assert gone() is None


def test_a_capsule_that_nobody_takes() -> None:
    owner = Owner()
    gone = weakref.ref(owner)
    made = owner.__dlpack__()
    del owner
    gc.collect()
    assert gone() is not None
    del made
    gc.collect()
    assert gone() is None
