"""Docstrings of public functions: their common arguments and errors are described here, once.

A docstring describes the arguments and errors that are particular to its function. `completed` adds the others, in the
order of the signature, so that `help` shows all of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence

__all__ = ["ARGUMENTS", "IN_UNITS", "completed"]

ARGUMENTS: Mapping[str, str] = {
    "robot": "the robot.",
    "q": "configuration (…, nq).",
    "v": "velocity (…, nv).",
    "qdd": "acceleration (…, nv).",
    "tau": "joint forces (…, nv); N·m, N.",
    "f_ext": "external wrenches by frame name, `kt.dynamics.WrenchOn` or `kt.dynamics.ForceOn`, as for `aba`.",
    "frame": "a name in `robot.frames`.",
    "frames": "names in `robot.frames`, for one row each in the order given; all bodies if None.",
    "point": "position (…, 3) of a point fixed to the frame, in the frame's own coordinates; m.",
    "relative_to": "the frame it is seen from, a name in `robot.frames`; by default the root body.",
    "constraints": "a list of `kt.constraints.Contact` and `kt.constraints.Loop`, or one of them; m rows in total.",
    "expressed_in": '"local", "world" or "local_world_aligned", as for `frame_velocity`.',
    "kind": '"spatial" or "classical", as for `frame_acceleration`.',
    "part": '"full" (6 rows, linear first), "linear" (the first three) or "angular" (the last three).',
    "passive": "which passive forces of the joints act besides tau, as for `aba`.",
    "limits": "whether motor limits apply, as for `aba`.",
    "parameters": "values that override some of the robot's parameters, such as\n"
    '    {"gravity": (…, 3), "body.NAME.mass": (…)}; see `kinetree docs parameters`.',
    "out": "where to put the result, of the result's dtype.",
    "threads": "how many threads may share a large batch; by default as many as there are cores.",
}
IN_UNITS: Mapping[str, str] = {
    **ARGUMENTS,
    "q": "configuration (…, nq); rad, m, unit quaternions.",
    "v": "velocity (…, nv); rad/s, m/s.",
    "qdd": "acceleration (…, nv); rad/s², m/s².",
}
ERRORS: Mapping[str, tuple[str, str]] = {
    "frame": ("NameNotFoundError", "the robot has no such frame."),
    "expressed_in": ("OptionError", "expressed_in is not one of the three."),
    "": ("ShapeError, DTypeError, ConfigurationError", "as for `aba`."),
}
"""Errors by the argument that leads to them; "" for those of every function."""


def completed(
    function: Callable[..., object],
    arguments: Mapping[str, str] = ARGUMENTS,
    errors: Mapping[str, tuple[str, str]] = ERRORS,
) -> str | None:
    """The docstring of a public function, with entries for the arguments and errors that it leaves to these tables.

    Entries for arguments are in the order of the signature. The docstring's own errors follow those that an argument
    leads to, and those of every function follow them. Without a docstring, as in Python's mode -OO, the result is None;
    the docstring of a function that is not public has no section "Returns", and stays as it is.
    """
    code = inspect.unwrap(function).__code__
    lines = (function.__doc__ or "").split("\n")
    returns = next((line for line in lines if line.strip() == "Returns:"), None)
    if returns is None:
        return function.__doc__
    margin = returns.removesuffix("Returns:")
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    _complete(lines, margin, "Raises:", [errors[name] for name in names if name in errors], before="Source:")
    _complete(lines, margin, "Raises:", [errors[""]] if "" in errors else [], before="Source:", after_own=True)
    _complete(lines, margin, "Args:", [(name, arguments.get(name)) for name in names], before="Returns:")
    return "\n".join(lines)


def _complete(
    lines: list[str],
    margin: str,
    head: str,
    wanted: Sequence[tuple[str, str | None]],
    *,
    before: str,
    after_own: bool = False,
) -> None:
    """Add entries to a section, or to a new one before the line that begins with `before`, if there is such a line.

    Each follows that of the name before it. None is added for a name that has one, or whose text is None.
    """
    if margin + head not in lines:
        at = next((k for k, line in enumerate(lines) if line.startswith(margin + before)), None)
        if at is None or not wanted:
            return
        lines[at:at] = [margin + head, ""]
    start = lines.index(margin + head) + 1
    end = lines.index("", start)
    entries: list[tuple[list[str], list[str]]] = []
    for line in lines[start:end]:
        if line.startswith(margin + "     "):
            entries[-1][1].append(line)
        else:
            entries.append((line.split(":")[0].strip().split(", "), [line]))
    at = len(entries) if after_own else 0
    for name, text in wanted:
        described = next((k for k, (names, _) in enumerate(entries, 1) if name.split(", ")[0] in names), None)
        if described is not None:
            at = max(at, described)
        elif text is not None:
            entries.insert(at, ([name], [f"{margin}    {line}" for line in f"{name}: {text}".split("\n")]))
            at += 1
    lines[start:end] = [line for _, entry in entries for line in entry]
