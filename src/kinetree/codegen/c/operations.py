"""The rule of each operation in C: an expression of names and constants, which may be repeated in it.

Functions of the C library are called by a macro, which may be defined as another function before the file is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.real import Real
from kinetree.expr import PHILOX

__all__ = ["ANGLES", "LIBRARY", "expression", "random_block"]

LIBRARY = {
    "sqrt": "sqrt",
    "atan2": "atan2",
    "exp": "exp",
    "log": "log",
    "tanh": "tanh",
    "abs": "fabs",
    "floor": "floor",
}
"""Operations that are functions of the C library, and their names in double precision."""
ANGLES = {"sin": "SINE", "cos": "COSINE"}
"""Operations that the preamble may define, and their macros; `FunctionWriter` takes both of an angle together."""

_EXPRESSIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "fma": "{FMA}({0}, {1}, {2})",
    "fms": "{FMA}({0}, {1}, -{2})",
    "fnma": "{FMA}(-{0}, {1}, {2})",
    "min": "(({0} < {1}) || ({0} != {0})) ? {0} : {1}",
    "max": "(({0} > {1}) || ({0} != {0})) ? {0} : {1}",
    "lt": "({0} < {1}) ? {one} : {zero}",
    "le": "({0} <= {1}) ? {one} : {zero}",
    "eq": "({0} == {1}) ? {one} : {zero}",
    "settled": "{0}",
    "slopes_of": "{0}",
    "select": "({0} != {zero}) ? {1} : {2}",
}


def expression(op: str, args: Sequence[str], real: Real) -> tuple[str, str]:
    """An operation on names and constants, and the name of the macro that it takes, or "".

    >>> from kinetree.codegen.c.real import REALS
    >>> expression("fnma", ["v1", "x[2]", "0.5f"], REALS["float32"])
    ('KT_FMAF(-v1, x[2], 0.5f)', 'KT_FMAF')
    """
    if op in LIBRARY:
        macro = f"KT_{LIBRARY[op]}{real.suffix}".upper()
        return f"{macro}({', '.join(args)})", macro
    if op in ANGLES:
        macro = f"KT_{ANGLES[op]}{real.suffix.upper()}"
        return f"{macro}({args[0]})", macro
    if op in PHILOX:
        block, macro = random_block(args, real)
        return f"{block}.word[{PHILOX.index(op)}]", macro
    if op not in _EXPRESSIONS:
        raise NotImplementedError(f"the C backend has no rule for {op!r}")
    fma = f"KT_FMA{real.suffix.upper()}"
    text = _EXPRESSIONS[op].format(*args, FMA=fma, one=real.literal(1.0), zero=real.literal(0.0))
    return text, fma if fma in text else ""


def random_block(args: Sequence[str], real: Real) -> tuple[str, str]:
    """The four random numbers of a key and a counter, a struct, and the name of the macro."""
    macro = f"KT_PHILOX{real.suffix.upper()}"
    return f"{macro}({', '.join(args)})", macro
