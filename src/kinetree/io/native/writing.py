"""From a robot to its text: one line per body, joint or frame if it fits, without defaults, numbers exact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kinetree.errors import ModelError
from kinetree.io.native.forms import IDENTITY, dumped, numbers
from kinetree.io.native.kinds import Kinds
from kinetree.io.native.parts import BODY, COUPLING, FRAME, joint_fields
from kinetree.io.native.records import written_fields
from kinetree.model.equality import is_as_built
from kinetree.model.model import Model
from kinetree.model.specs import JointSpec, Parts

__all__ = ["FORMAT", "NEEDED", "VERSION", "write_text"]

FORMAT = "model"
VERSION = 3
"""The newest version. A text that needs nothing of a later one is written in version 1."""
NEEDED = ("kinetree", "version", "name", "gravity", "floating_base", "bodies", "joints")
"""The fields of a document that are always there."""
_NOTHING = frozenset({'""', "[]", "{}"})
_WIDTH = 140


def write_text(model: Model) -> str:
    """The text form of a robot, which `read_text` restores exactly.

    Raises `ModelError` for a robot that is not as it was built (in other body axes, or with other parameters), and for
    a joint kind that holds something without a text form.
    """
    if not is_as_built(model):
        raise ModelError(
            f"{model.name!r} has other numbers than the parts it was built from, and only those have a text form; "
            "build a robot with those numbers"
        )
    parts, joints = model.parts, joint_fields(Kinds())
    document = {
        "kinetree": dumped(FORMAT),
        "version": dumped(_version(parts)),
        "name": dumped(parts.name),
        "gravity": dumped(numbers(parts.gravity)),
        "floating_base": dumped(parts.floating_base),
        "source": dumped(parts.source),
        "notes": _rows(parts.notes, "  "),
        "bodies": _rows(_written("body", parts.links, BODY.write), "  "),
        "joints": _rows(_written("joint", parts.joints, lambda joint: joints.write(joint, _bare(joint))), "  "),
        "frames": _rows(_written("frame", parts.frames, FRAME.write), "  "),
        "couplings": _rows(_written("coupling", parts.couplings, COUPLING.write), "  "),
        "extras": _laid_out(written_fields(parts.extras), "  "),
    }
    lines = [f"  {dumped(key)}: {text}" for key, text in document.items() if key in NEEDED or text not in _NOTHING]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _version(parts: Parts) -> int:
    """The lowest version that can hold these parts: extras and contacts of shapes need 2, alternatives 3."""
    if any(link.alternatives for link in parts.links):
        return 3
    touches = any(shape.contact is not None for link in parts.links for shape in link.geometry)
    return 2 if parts.extras or touches else 1


def _bare(joint: JointSpec) -> JointSpec:
    return JointSpec.bare(joint.name, joint.kind, joint.parent, joint.child, IDENTITY)


def _written(what: str, specs: Iterable[Any], write: Callable[[Any], dict[str, Any]]) -> list[dict[str, Any]]:
    parts = []
    for spec in specs:
        try:
            parts.append(write(spec))
        except ModelError as error:
            raise ModelError(f"{what} {spec.name!r}: {error}") from None
    return parts


def _rows(items: Sequence[Any], indent: str) -> str:
    """An array with one line per item."""
    inside = f",\n{indent}  ".join(_laid_out(item, indent + "  ") for item in items)
    return f"[\n{indent}  {inside}\n{indent}]" if items else "[]"


def _laid_out(value: Any, indent: str) -> str:
    """A value on one line; a record that would be long with one line per field, or per record in the field."""
    line = dumped(value)
    if type(value) is not dict or len(line) + len(indent) <= _WIDTH:
        return line
    deeper = indent + "  "
    lines = []
    for key, field in value.items():
        text = dumped(field)
        if len(text) + len(deeper) > _WIDTH and type(field) is list and type(field[0]) is dict:
            text = _rows(field, deeper)
        lines.append(f"{deeper}{dumped(key)}: {text}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
