"""Which tests take machine code that LLVM has not optimised: most, for it has the same bits and is made quickly.

The machine code that users end up with is compiled and run by the tests of `AS_OPTIMIZED`, for made robots and real
ones; `unit/codegen/test_tiers.py` compares the two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

__all__ = ["AS_OPTIMIZED", "optimized_code", "quick_code", "takes_quick_code"]

AS_OPTIMIZED = (
    *("backends", "golden", "unit/codegen", "unit/threads"),
    *("oracles/test_mujoco.py", "oracles/test_pinocchio.py"),
)
"""Folders and files of tests about code and its numbers."""
_HERE = Path(__file__).parent


def takes_quick_code(test: Path) -> bool:
    """Whether the tests of a file can do with code that is not optimised, as most can."""
    return not any(_HERE / place in (test, *test.parents) for place in AS_OPTIMIZED)


@contextmanager
def quick_code() -> Iterator[None]:
    """What is compiled in here is not optimised."""
    with patch.dict(os.environ, KINETREE_OPTIMIZE="quick"):
        yield


@contextmanager
def optimized_code() -> Iterator[None]:
    """What is compiled in here is optimised before it runs."""
    with patch.dict(os.environ, KINETREE_OPTIMIZE="now"):
        yield
