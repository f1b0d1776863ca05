"""The source of kinetree as the keys of machine code see it: which files take part in compiling, and their code."""

from __future__ import annotations

import re

__all__ = ["code_of", "contains_parts", "takes_part"]

_NO_PART = frozenset({
    "__main__", "announcement", "appearance", "charts", "checking", "cli", "comparison", "display", "files", "guide",
    "identification", "io", "lazy_names", "layouts", "number_files", "own_process", "pictures", "progress", "resources",
    "sim", "sweeps", "viewer", "zoo",
})  # fmt: skip
"""Rooms and files of kinetree that run in no trace and no compilation; a new room takes part until it is added here."""
_PART_NEVERTHELESS = (
    "identification/estimation/reduction", "io/gray_images", "io/mjcf/asset_files", "io/mjcf/elevations",
    "io/mjcf/meshes/", "pictures/kernels/",
)  # fmt: skip
"""Compiled loops, and the readers of shapes, which contacts call."""
_TOKENS = re.compile(
    rb"""(?xs)
    ( "(?: "{2} (?: [^"\\]++ | \\. | "(?!"{2}) )*+ "{3} | (?: [^"\\\n]++ | \\. )*+ " )
    | '(?: '{2} (?: [^'\\]++ | \\. | '(?!'{2}) )*+ '{3} | (?: [^'\\\n]++ | \\. )*+ ' )
    | [#][^\n]* )"""
)
"""Strings without their prefixes, and comments."""
_LINE_ENDS = re.compile(rb"[ \t\f]*\n(?:[ \t\f]*\n)*")
_CODING = re.compile(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]")
_OPENING, _CLOSING = (b"(", b"[", b"{"), (b")", b"]", b"}")


def takes_part(name: str) -> bool:
    """Whether a file of the package may run in a trace or a compilation; `name` as seen from there, with slashes.

    >>> takes_part("algorithms/aba.py"), takes_part("viewer/player.py")
    (True, False)
    """
    name = name.removesuffix(".py")
    return name.partition("/")[0] not in _NO_PART or f"{name}/".startswith(_PART_NEVERTHELESS)


def contains_parts(folder: str) -> bool:
    """Whether a folder of the package may contain such files; `folder` as seen from there, with slashes."""
    return takes_part(folder) or any(part.startswith(f"{folder}/") for part in _PART_NEVERTHELESS)


def code_of(text: bytes) -> bytes:
    """A source file without comments, blank lines, and strings that are statements: docstrings.

    Files that differ in these alone have the same code, and no others do. A text that is not certain to be understood
    is returned whole: one with continued lines, an encoding of its own, or quotes inside those of a formatted string.
    Python's parser would take ten times as long, and the first call on a machine waits for this.

    >>> code_of(b"'A docstring.'\\n\\nx = '# no comment'  # a comment\\n")
    b"x = '# no comment'"
    """
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    first, *rest = _TOKENS.split(text)
    code, strings = [first], []
    for token, after in zip(rest[::2], rest[1::2], strict=True):
        if token.startswith(b"#"):
            code[-1] += after
        else:
            strings.append(token)
            code.append(after)
    if _CODING.match(text) or any(sign in piece for piece in code for sign in (b"\\", b'"', b"'")):
        return text
    code = [_LINE_ENDS.sub(b"\n", piece) for piece in code]
    result, depth, counted = [code[0]], 0, 0
    for number, (string, before, after) in enumerate(zip(strings, code, code[1:], strict=False)):
        if before[-1:].isalpha() and not (_closes(string) or _closes(string.replace(b"{{", b"").replace(b"}}", b""))):
            return text
        result += (string, after)
        if after.startswith(b"\n") or (number == len(strings) - 1 and not after.strip()):
            line = before.rpartition(b"\n")[2] if b"\n" in before or number == 0 else b"more"
            if not line.strip(b" \t\fRrUu"):
                since = b"".join(code[counted : number + 1])
                depth += sum(map(since.count, _OPENING)) - sum(map(since.count, _CLOSING))
                counted = number + 1
                if depth == 0:
                    del result[-2:]
                    result[-1] = result[-1][: len(result[-1]) - len(line)]
                    result.append(after[1:])
    return b"".join(result).strip(b"\n")


def _closes(string: bytes) -> bool:
    return string.count(b"{") == string.count(b"}")
