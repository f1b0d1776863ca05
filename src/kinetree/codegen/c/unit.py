"""A file of C99 and its header: the functions that were asked for, and what they need."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.function import FunctionWriter, wrapped
from kinetree.codegen.c.names import comment
from kinetree.codegen.c.preamble import preamble
from kinetree.codegen.c.real import Real

__all__ = ["length_name", "texts"]


def length_name(function: str) -> str:
    """The macro for the length of a function's memory."""
    return f"{function}_W".upper()


def texts(
    name: str,
    functions: Sequence[FunctionWriter],
    real: Real,
    about: Sequence[str],
    macros: Sequence[tuple[str, str]] = (),
    more: str = "",
    declared: str = "",
) -> tuple[str, str]:
    """The source and the header. `about`: lines of a comment; `macros`: constants of the header; `more` and `declared`:
    what follows the functions and their declarations, as it is."""
    lines = "\n".join(f" * {comment(line)}".rstrip() for line in about)
    guard = f"{name}_H".upper()
    declarations, constants = [], [f"#define {macro} {value}" for macro, value in macros]
    for writer in functions:
        constants.append(f"#define {length_name(writer.name)} {writer.memory} /* numbers of working memory */")
        declarations.append("\n".join(wrapped(f"{writer.signature(memory=_length(writer), restrict=False)};")))
    header = "\n".join(
        [
            f"/*\n{lines}\n */",
            f"#ifndef {guard}\n#define {guard}\n",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif\n",
            *constants,
            "",
            *declarations,
            declared,
            "#ifdef __cplusplus",
            "}",
            "#endif\n",
            f"#endif /* {guard} */\n",
        ]
    )
    static: dict[str, FunctionWriter] = {}
    for writer in functions:
        static |= {callee.name: callee for callee in writer.callees}
    used = {macro for writer in functions for macro in writer.macros}
    parts = [f'/*\n{lines}\n */\n#include "{name}.h"\n', preamble(used, real)]
    parts += [callee.text(static=True) for callee in static.values()]
    parts += [writer.text() for writer in functions]
    return "\n".join([*parts, more] if more else parts), header


def _length(writer: FunctionWriter) -> str:
    return length_name(writer.name) if writer.memory else ""
