"""The code that tests of what programs compute are run with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.backends.test_agreement import robot_of
from tests.quick_code import quick_code


@pytest.fixture(scope="module", params=["quick", pytest.param("as shipped", marks=pytest.mark.deep)])
def code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Code that is quick to compile, and where all is deep what users get."""
    robot_of.cache_clear()  # robots keep their kernels
    if request.param == "as shipped":
        yield
        return
    with quick_code():
        yield
