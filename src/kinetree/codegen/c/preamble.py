"""What precedes the functions of a file: the macros by which they call the C library, and what else they include."""

from __future__ import annotations

from collections.abc import Collection

from kinetree.codegen.c.operations import LIBRARY
from kinetree.codegen.c.real import Real

__all__ = ["preamble"]

_FUSES = {
    "": "defined(FP_FAST_FMA) || defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)",
    "f": "defined(FP_FAST_FMAF) || defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) \\\n"
    "    || defined(__aarch64__)",
}
"""Whether the processor multiplies and adds in one instruction, for each type of numbers."""


def preamble(macros: Collection[str], real: Real) -> str:
    """The text for these macros, each of which may have been defined before as something else."""
    parts = [
        "#include <math.h>\n#include <stdint.h>\n",
        "#if !defined(__GNUC__) || defined(__clang__) /* GCC does not know it */\n"
        "#pragma STDC FP_CONTRACT OFF\n#endif\n",
    ]
    fma = f"KT_FMA{real.suffix.upper()}"
    if fma in macros:
        parts.append(
            f"#ifndef {fma} /* a * b + c, rounded once where the processor does that */\n#if {_FUSES[real.suffix]}\n"
            f"#define {fma}(a, b, c) fma{real.suffix}((a), (b), (c))\n#else\n"
            f"#define {fma}(a, b, c) (((a) * (b)) + (c))\n#endif\n#endif\n"
        )
    for name in LIBRARY.values():
        macro = f"KT_{name}{real.suffix}".upper()
        if macro in macros:
            taken = "y, x" if name == "atan2" else "x"
            given = "(y), (x)" if name == "atan2" else "(x)"
            parts.append(f"#ifndef {macro}\n#define {macro}({taken}) {name}{real.suffix}({given})\n#endif\n")
    return "\n".join(parts)
