"""The code that tests of what programs compute are run with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.backends.test_agreement import robot_of
from tests.quick_code import optimized_code, quick_code


@pytest.fixture(scope="module", params=["quick", pytest.param("optimised", marks=pytest.mark.deep)])
def code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Code that is not optimised, and where all is deep the code that users end up with."""
    robot_of.cache_clear()  # robots keep their kernels
    with quick_code() if request.param == "quick" else optimized_code():
        yield
