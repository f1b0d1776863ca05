"""What the frameworks are held against: derivatives of every function are those of differences."""

from __future__ import annotations

import pytest

from tests.functions import PUBLIC
from tests.unit.interop.table.cases import NAMES, case


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_those_of_differences(name: str) -> None:
    case(name).check_slopes()


def test_every_public_function_is_in_the_table() -> None:
    public = {f.__name__ for f in PUBLIC.values() if hasattr(f, "definition")}
    assert sorted(public) == sorted(NAMES[:-1])
