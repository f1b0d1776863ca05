"""From a robot to its text: one line per body, joint or frame if it fits, without defaults, numbers exact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinetree.errors import ModelError
from kinetree.io.native.kinds import KindWriter
from kinetree.io.native.quantities import dumped, number, numbers, placement
from kinetree.io.native.records import written_fields
from kinetree.model.elements import Geometry
from kinetree.model.equality import is_as_built
from kinetree.model.model import Model
from kinetree.model.specs import CouplingSpec, FrameSpec, JointSpec, LinkSpec, Parts, shortest
from kinetree.spatial import Inertia, Transform
from kinetree.tree.drive import Drive, Limits

__all__ = ["FORMAT", "VERSION", "write_text"]

FORMAT = "model"
VERSION = 2
"""The newest version. A text that needs nothing of a later one is written in version 1."""
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
    parts, kinds = model.parts, KindWriter()
    head: dict[str, Any] = {
        "kinetree": FORMAT,
        "version": _version(parts),
        "name": parts.name,
        "gravity": numbers(parts.gravity),
        "floating_base": parts.floating_base,
    }
    if parts.source:
        head["source"] = parts.source
    entries = [f"{dumped(key)}: {dumped(value)}" for key, value in head.items()]
    for key, rows in (
        ("notes", [dumped(note) for note in parts.notes]),
        ("bodies", _rows("body", parts.links, _body)),
        ("joints", _rows("joint", parts.joints, lambda joint: _joint(joint, kinds))),
        ("frames", _rows("frame", parts.frames, _frame)),
        ("couplings", _rows("coupling", parts.couplings, _coupling)),
    ):
        if rows or key in ("bodies", "joints"):
            inside = ",\n    ".join(rows)
            entries.append(f"{dumped(key)}: [\n    {inside}\n  ]" if rows else f"{dumped(key)}: []")
    if parts.extras:
        entries.append(f"{dumped('extras')}: {_laid_out(written_fields(parts.extras), '  ')}")
    return "{\n  " + ",\n  ".join(entries) + "\n}\n"


def _version(parts: Parts) -> int:
    """The lowest version that can hold these parts: extras and contacts of shapes need the second."""
    touches = any(shape.contact is not None for link in parts.links for shape in link.geometry)
    return 2 if parts.extras or touches else 1


def _rows(what: str, specs: Iterable[Any], write: Any) -> list[str]:
    rows = []
    for spec in specs:
        try:
            rows.append(_laid_out(write(spec), "    "))
        except ModelError as error:
            raise ModelError(f"{what} {spec.name!r}: {error}") from None
    return rows


def _laid_out(record: dict[str, Any], indent: str) -> str:
    """A record on one line, or one line per field if that would be long."""
    fields = [(dumped(key), value, dumped(value)) for key, value in record.items()]
    line = "{" + ", ".join(f"{key}: {text}" for key, _, text in fields) + "}"
    if len(line) + len(indent) <= _WIDTH:
        return line
    deeper = indent + "  "
    lines = []
    for key, value, text in fields:
        if len(text) + len(deeper) > _WIDTH and type(value) is list and type(value[0]) is dict:
            inside = f",\n{deeper}  ".join(_laid_out(item, deeper + "  ") for item in value)
            text = f"[\n{deeper}  {inside}\n{deeper}]"
        lines.append(f"{deeper}{key}: {text}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def _add(record: dict[str, Any], key: str, value: Any, default: Any) -> None:
    """Add the value unless it is the default, to the last bit."""
    if dumped(value) != dumped(default):
        record[key] = value


def _body(link: LinkSpec) -> dict[str, Any]:
    inertia, nothing = link.inertia, Inertia.zero()
    record: dict[str, Any] = {"name": link.name}
    _add(record, "mass", number(inertia.mass), nothing.mass)
    _add(record, "first_moment", numbers(inertia.h.components()), numbers(nothing.h.components()))
    _add(record, "inertia", numbers(inertia.I.components()), numbers(nothing.I.components()))
    if link.geometry:
        record["geometry"] = [_geometry(shape) for shape in link.geometry]
    return record


def _geometry(shape: Geometry) -> dict[str, Any]:
    record: dict[str, Any] = {"role": shape.role, "shape": shape.shape, "size": numbers(shape.size)}
    _add_placement(record, shape.placement)
    _add(record, "name", shape.name, "")
    _add(record, "mesh", shape.mesh, None)
    if shape.color is not None:
        record["color"] = numbers(shape.color)
    if shape.contact is not None:
        record["contact"] = written_fields(shape.contact)
    return record


def _joint(joint: JointSpec, kinds: KindWriter) -> dict[str, Any]:
    kind = joint.kind
    record: dict[str, Any] = {
        "name": joint.name,
        "kind": kinds.write(kind),
        "parent": joint.parent,
        "child": joint.child,
    }
    _add_placement(record, joint.placement)
    limits: dict[str, Any] = {}
    none = Limits.none(kind)
    for name in Limits.__slots__:
        _add(limits, name, numbers(getattr(joint.limits, name)), numbers(getattr(none, name)))
    if limits:
        record["limits"] = limits
    bare = Drive.none(kind)
    for name in Drive.__slots__:
        _add(record, name, numbers(getattr(joint.drive, name)), numbers(getattr(bare, name)))
    _add(record, "armature", numbers(joint.armature), [0.0] * kind.nv)
    if joint.actuated is not None:
        record["actuated"] = shortest(joint.actuated)
    if joint.rotor is not None:
        rotor = {"inertia": number(joint.rotor.inertia), "ratio": number(joint.rotor.ratio)}
        record["rotor"] = rotor if joint.rotor.axis is None else {**rotor, "axis": numbers(joint.rotor.axis)}
    if joint.mimic is not None:
        record["mimic"] = {"joint": joint.mimic.joint}
        _add(record["mimic"], "multiplier", number(joint.mimic.multiplier), 1.0)
        _add(record["mimic"], "offset", number(joint.mimic.offset), 0.0)
    return record


def _frame(frame: FrameSpec) -> dict[str, Any]:
    record: dict[str, Any] = {"name": frame.name, "body": frame.body}
    _add_placement(record, frame.placement)
    return record


def _coupling(coupling: CouplingSpec) -> dict[str, Any]:
    record = {
        "name": coupling.name,
        "joints": list(coupling.joints),
        "matrix": [numbers(row) for row in coupling.matrix],
        "offset": numbers(coupling.offset),
        "coordinates": list(coupling.coordinates),
    }
    return record if coupling.actuated is None else {**record, "actuated": shortest(coupling.actuated)}


def _add_placement(record: dict[str, Any], X: Transform) -> None:
    if found := placement(X):
        record["placement"] = found
