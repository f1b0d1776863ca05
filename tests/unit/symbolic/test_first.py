"""Symbolic arrays give what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.symbolic.running import assert_same

CASES: list[Callable[..., Any]] = [
    lambda A, v: A @ v,
    lambda A, v: np.cross(A, v),
    lambda A, v: np.array([v[0], 0.0, v[1] * 2]) @ A,
    lambda A, v: np.sort(A, axis=0) + v,
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_case(case: int) -> None:
    rng = np.random.default_rng(0)
    assert_same(CASES[case], rng.normal(size=(3, 3)), rng.normal(size=3))
