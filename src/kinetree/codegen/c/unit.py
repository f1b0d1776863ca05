"""A file of C99 and its header: the requested functions, and those they need."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.c.function import FunctionWriter
from kinetree.codegen.c.names import comment
from kinetree.codegen.c.preamble import preamble
from kinetree.codegen.c.real import Real, wrapped

__all__ = ["length_name", "texts"]


def length_name(function: str) -> str:
    """The macro for the length of a function's memory."""
    return f"{function}_W".upper()


def texts(
    name: str,
    functions: Sequence[FunctionWriter],
    real: Real,
    about: Sequence[str],
    constants: Sequence[str] = (),
    wrappers: Sequence[tuple[str, str]] = (),
) -> tuple[str, str]:
    """The source and the header.

    Args:
        name: of the files.
        functions: the functions of the files; those with `wrappers` around them are not seen from outside.
        about: lines of a comment.
        constants: lines of the header.
        wrappers: the text and the declarations of functions that others call instead.
    """
    lines = "\n".join(f" * {comment(line)}".rstrip() for line in about)
    guard = f"{name}_H".upper()
    header = [f"/*\n{lines}\n */", f"#ifndef {guard}\n#define {guard}\n", *constants]
    if not wrappers:
        header += [f"#define {length_name(f.name)} {f.memory} /* numbers of working memory */" for f in functions]
    header += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif\n"]
    if wrappers:
        header += [declared for _, declared in wrappers]
    else:
        header += ["\n".join(wrapped(f"{f.signature(memory=_length(f), restrict=False)};")) for f in functions]
    header += ["", "#ifdef __cplusplus", "}", "#endif\n", f"#endif /* {guard} */\n"]
    static: dict[str, FunctionWriter] = {}
    for f in functions:
        static |= {callee.name: callee for callee in f.callees}
    used = {macro for f in functions for macro in f.macros}
    parts = [f'/*\n{lines}\n */\n#include "{name}.h"\n', preamble(used, real)]
    parts += [callee.text(static=True) for callee in static.values()]
    parts += [f.text(static=bool(wrappers)) for f in functions]
    return "\n".join([*parts, *(text for text, _ in wrappers)]), "\n".join(header)


def _length(function: FunctionWriter) -> str:
    return length_name(function.name) if function.memory else ""
