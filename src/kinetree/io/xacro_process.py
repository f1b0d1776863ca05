"""The program that expands one xacro file in a process of its own, which `macros.py` starts and reads.

What a xacro file evaluates can take any time and memory, and can change anything in the process that evaluates it. This
program imports nothing of kinetree. It reads the path, the arguments and the limits as JSON from standard input, and
writes "=" and the expanded text, or "!" and what went wrong as JSON, to standard output.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

__all__ = ["main"]


def limit(seconds: int, memory: int, size: int) -> None:
    """Bound what this process takes, where the system can: s, bytes, and bytes of a file that it writes."""
    try:
        import resource
    except ImportError:  # Windows, where only the time is limited, by who started it
        return
    for what, most in (
        (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, size),
        (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        with contextlib.suppress(OSError, ValueError):  # a lower limit holds already
            resource.setrlimit(what, (most, most))


def expand(path: str, arguments: dict[str, str]) -> tuple[bytes, dict[str, Any]]:
    """The text, or what went wrong."""
    import xacro

    try:
        document = xacro.process_file(path, mappings=arguments)
        return document.toprettyxml(indent="  ", encoding="utf-8"), {}
    except RecursionError:
        return b"", {"kind": "recursion"}
    except Exception as error:  # whatever an expression raises
        files, macros, cause = xacro.filestack or [], xacro.macrostack or [], getattr(error, "exc", None) or error
        if isinstance(cause, MemoryError):
            return b"", {"kind": "memory"}
        return b"", {
            "kind": "error",
            "message": str(error),
            "type": type(error).__name__,
            "included": files[-1] if files else None,
            "macros": [macro.body.getAttribute("name") for macro in macros],
            "missing": [str(cause.filename), cause.strerror] if isinstance(cause, OSError) and cause.filename else None,
        }


def main() -> None:
    asked = json.load(sys.stdin)
    limit(asked["seconds"], asked["memory"], asked["size"])
    output, sys.stdout = sys.stdout, sys.stderr  # xacro may print
    text, wrong = expand(asked["path"], asked["arguments"])
    if len(text) >= asked["size"]:
        text, wrong = b"", {"kind": "size"}
    output.buffer.write(b"!" + json.dumps(wrong).encode() if wrong else b"=" + text)
    output.flush()


if __name__ == "__main__":
    main()
