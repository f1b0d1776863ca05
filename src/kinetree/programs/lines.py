"""Which line of the user's text is running while a function is traced, for profiles."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from kinetree.expr import Graph
from kinetree.symbolic.refusals import OUTSIDE

__all__ = ["Line", "Lines"]


class Line(NamedTuple):
    """A line of a file."""

    file: str
    number: int


class Lines:
    """The user's line at each position of a trace: the last one that began in a frame outside kinetree and NumPy."""

    def __init__(self) -> None:
        self.origins: dict[int, int] = {}
        """The position in the trace that each statement of the program comes from, by the statement's identity."""
        self._positions: list[int] = []
        self._lines: list[Line] = []

    def of(self, statement: object) -> Line | None:
        """The line that a statement comes from; None if it came before the first."""
        position = self.origins.get(id(statement), -1)
        at = bisect_right(self._positions, position) - 1
        return self._lines[at] if at >= 0 else None

    @contextmanager
    def noted(self, graph: Graph) -> Iterator[None]:
        """Note the lines that run in this context."""

        def note(frame: FrameType) -> None:
            self._positions.append(len(graph))
            self._lines.append(Line(frame.f_code.co_filename, frame.f_lineno))

        def on_event(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename.startswith(OUTSIDE):
                return None
            if event == "line":
                note(frame)
            elif event == "return":
                caller = frame.f_back
                while caller is not None and caller.f_code.co_filename.startswith(OUTSIDE):
                    caller = caller.f_back
                if caller is not None:
                    note(caller)
            return on_event

        before = sys.gettrace()
        sys.settrace(on_event)
        try:
            yield
        finally:
            sys.settrace(before)
