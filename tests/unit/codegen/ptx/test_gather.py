"""The kernel that makes an array contiguous, run by threads of this computer."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.codegen.ptx.backend import assembly, gpu
from kinetree.codegen.ptx.gather import AXES, ENTRY, gather
from tests.ptx_threads import GraphicsProcessor


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_strides(dtype: type) -> None:
    x = np.arange(120, dtype=dtype).reshape(4, 5, 6)[::-1, ::2, 1:4]
    wanted = np.broadcast_to(x.swapaxes(0, 2)[:, None], (3, 2, 3, 4))
    to = np.full(wanted.size, np.nan, dtype)
    size = to.itemsize
    missing = AXES - wanted.ndim
    shape = [*[1] * missing, *wanted.shape]
    strides = [*[0] * missing, *(n // size for n in wanted.strides)]
    processor = GraphicsProcessor(gather(size, block=32), 32)
    processor.launch(3, [to.ctypes.data, wanted.ctypes.data, to.size, *shape, *strides])
    np.testing.assert_array_equal(to, wanted.ravel())


def test_it_becomes_ptx() -> None:
    assert f".entry {ENTRY}(" in assembly(gather(8), gpu())
