"""Functions compiled for a robot, for tests that need no more than a part of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import kinetree as kt
from kinetree.compiler.compiled import CompiledFunction

__all__ = ["compiled_late", "interpreted"]


def compiled_late(robot: kt.Model, function: Callable[..., Any], **request: Any) -> Any:
    """What `kt.compile` returns, before there is machine code: code for one sample and for batches is made when called.

    Tests that only read a program, or call batches alone, spend half of their time or less in the compiler.
    """
    with patch.object(CompiledFunction, "prepare", lambda self: self):
        return kt.compile(robot, function, **request)


@contextmanager
def interpreted() -> Iterator[None]:
    """Programs that are compiled in here run in the interpreter of `kinetree.expr`, sample by sample: no machine code,
    and no search for the shortest form of a user's program.

    For tests of what goes into programs and of what becomes of their results.
    """
    never = property(lambda _: False, lambda _, value: None)  # noqa: ARG005
    unsearched = patch("kinetree.programs.trace._WORTH_SEARCHING", 0)
    with patch.object(CompiledFunction, "_has_kernel", never, create=True), unsearched:
        yield
