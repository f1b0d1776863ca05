"""The code that most tests compile has the results of the code that users get."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu import backend, jit
from kinetree.compiler.compiled import CompiledFunction
from tests import functions, quick_code
from tests.robots import group_of_joints

FUNCTIONS = [kt.aba, kt.crba, kt.passive_forces, kt.difference]


@pytest.fixture(autouse=True)
def _only_on_processors_that_have_it() -> None:
    if not quick_code.takes_quick_code(Path(__file__).parents[2] / "laws" / "test_dynamics.py"):
        pytest.skip("tests on this processor compile what users get")


def results(function: Any, dtype: str) -> tuple[CompiledFunction, list[np.ndarray]]:
    """A newly compiled function; its results for one sample and for a batch."""
    robot = group_of_joints("turns of bodies")
    samples = functions.samples(robot, function, 20, np.random.default_rng(3))
    batch = [100.0 * x.astype(dtype) for x in samples]
    batch[0][0] *= 1e4  # angles that take the long way
    kernel = kt.compile(robot, function, dtype=dtype)
    return kernel.__self__, [kernel(*(x[0] for x in batch)), kernel(*batch)]


def object_of(compiled: CompiledFunction) -> bytes:
    """The object file of its batches, as it is in the folder of the cache, or compiled now."""
    kernels = compiled._kernels
    assert isinstance(kernels, backend.CpuKernels)
    return kernels._object("batch", kernels.text)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_gives_the_same_bits(function: Any, dtype: str) -> None:
    _, shipped = results(function, dtype)
    with quick_code.quick_code():
        _, quick = results(function, dtype)
    for a, b in zip(shipped, quick, strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.isfinite(a).all()


def test_it_is_other_code_and_kept_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path))  # the processes that share the tests fill the other folder
    shipped, _ = results(kt.gravity_forces, "float64")
    place = Path(os.environ["KINETREE_CACHE_DIR"])
    before = set(place.glob("*.code"))
    assert before
    with quick_code.quick_code():
        quick, _ = results(kt.gravity_forces, "float64")
        assert os.environ["KINETREE_CACHE_DIR"] != str(place)
        unoptimised = object_of(quick)
    assert set(place.glob("*.code")) == before
    assert object_of(shipped) == object_of(quick) != unoptimised  # the same key


def test_tests_about_code_compile_it_as_it_is_for_users() -> None:
    assert backend.compile_module is jit.compile_module
    assert not quick_code.takes_quick_code(Path(__file__))
    places = [Path(quick_code.__file__).parent / place for place in quick_code.AS_SHIPPED]
    assert all(place.exists() and not quick_code.takes_quick_code(place) for place in places)
