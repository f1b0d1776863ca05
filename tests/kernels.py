"""Functions compiled for a robot, for tests that need no more than a part of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import kinetree as kt
from kinetree.compiler.compiled import CompiledFunction

__all__ = ["compiled_late"]


def compiled_late(robot: kt.Model, function: Callable[..., Any], **request: Any) -> Any:
    """What `kt.compile` returns, before there is machine code: code for one sample and for batches is made when called.

    Tests that only read a program, or call batches alone, spend half of their time or less in the compiler.
    """
    with patch.object(CompiledFunction, "prepare", lambda self: self):
        return kt.compile(robot, function, **request)
