"""The two types of numbers in C, and how their constants are written."""

from __future__ import annotations

import math
import struct

from kinetree.records import record

__all__ = ["INDENT", "REALS", "Real", "wrapped"]


@record(frozen=True, slots=True)
class Real:
    """A floating-point type of C."""

    type: str
    suffix: str
    """The end of constants, and of the names of functions of this type."""

    def literal(self, x: float) -> str:
        """A constant as part of an expression: in parentheses if it has a sign."""
        text = self.bare(x)
        return f"({text})" if text.startswith("-") else text

    def bare(self, x: float) -> str:
        """A constant that a compiler reads as this number, rounded to the type."""
        if self.suffix:
            x = _single(x)
        if math.isnan(x):
            return "NAN"
        if math.isinf(x):
            return "INFINITY" if x > 0.0 else "-INFINITY"
        text = f"{x:.9g}" if self.suffix else repr(x)
        if not any(sign in text for sign in ".e"):
            text += ".0"
        return f"{text}{self.suffix}"


def _single(x: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


REALS = {"float64": Real("double", ""), "float32": Real("float", "f")}


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
