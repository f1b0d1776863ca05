"""Results that are asked for before they are computed: which, and that it changes no bit."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu.batch import worth_fetching
from kinetree.codegen.cpu.module import emit
from kinetree.codegen.llvm.precision import PRECISIONS
from kinetree.codegen.llvm.target import host

ARM = kt.zoo.load("arm6")


@pytest.mark.parametrize(
    ("size", "lanes", "is_worth_it"), [(288, 8, False), (512, 8, True), (4096, 8, True), (4104, 8, False)]
)
def test_long_rows_that_leave_room_in_the_nearest_cache_are_fetched(size: int, lanes: int, is_worth_it: bool) -> None:
    assert worth_fetching(size, lanes) is is_worth_it


def test_a_kernel_fetches_rows_of_results_and_no_short_ones() -> None:
    def text(function: object) -> str:
        return emit(kt.compile(ARM, function).__self__.program, PRECISIONS["float64"], host(), [])  # type: ignore[arg-type]

    fetched = re.findall(r"call void @fetch\(.*i64 (\d+)\)", text(kt.dynamics.aba_derivatives))
    assert fetched == [str(3 * 6 * 6 * 8)]
    assert "@fetch" not in text(kt.aba)


def test_any_number_of_rows_anywhere_in_memory_may_be_fetched() -> None:
    """Also the last group's, which has fewer rows than lanes, and rows that stand backwards or apart."""
    rng = np.random.default_rng(0)
    f = kt.compile(ARM, kt.dynamics.aba_derivatives)
    q, v, tau = rng.normal(size=(3, 21, 6))
    expected = np.array([f(*sample) for sample in zip(q, v, tau, strict=True)])
    backwards = np.empty((21, 3, 6, 6))[::-1]
    apart = np.empty((42, 3, 6, 6))[::2]
    for count in range(1, 22):
        for out in (backwards[:count], apart[:count]):
            f(q[:count], v[:count], tau[:count], out=out)
            assert (out == expected[:count]).all()
