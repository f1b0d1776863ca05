"""The warning before something that takes long to compile is compiled."""

from __future__ import annotations

import logging

from kinetree.expr import Loop, Program

__all__ = ["announce"]

_WORTH_SAYING = 2.0  # seconds
_log = logging.getLogger("kinetree")


def announce(name: str, subject: str, program: Program) -> None:
    """Warn if compiling will take long; a loop's body counts separately. `subject`: as in `Source`."""
    blocks = [program.body, *(s.body for s in program.body.statements if isinstance(s, Loop))]
    sizes = [sum(1 for s in block.statements if not isinstance(s, Loop)) for block in blocks]
    operations, seconds = sum(sizes), sum(map(_seconds_to_compile, sizes))
    if seconds > _WORTH_SAYING:
        robot = f" for {subject}" if subject.startswith(("'", '"')) else ""
        _log.warning("compiling %s%s: %d operations, about %.0f s …", name, robot, operations, seconds)


def _seconds_to_compile(operations: int) -> float:
    """About how long LLVM takes for a straight line: measured for 3,000 to 100,000 operations, on a busy core."""
    x = operations / 1e4
    if x > 3.0:  # in pieces
        return 1.6 * x
    return float(max(2.4 * x**1.4, 1.5 * x**1.85))
