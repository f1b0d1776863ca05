"""Lines of C: how deep they are, and how long."""

from __future__ import annotations

__all__ = ["INDENT", "wrapped"]

INDENT = "    "
_WIDTH = 100


def wrapped(text: str) -> list[str]:
    """A long line of things between commas, cut.

    >>> wrapped("int f(" + ", ".join(["const double *argument"] * 5) + ");")[-1]
    '    const double *argument, const double *argument);'
    """
    lines, rest = [], text
    while len(rest) > _WIDTH and ", " in rest:
        at = rest.rfind(", ", 0, _WIDTH)
        at = rest.find(", ") if at < 0 else at
        lines.append(rest[: at + 1])
        rest = f"{INDENT}{rest[at + 2 :]}"
    return [*lines, rest]
