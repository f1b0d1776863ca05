"""Text description of a robot: its tree, the places of its joints in q and v, and merges and assumptions."""

from __future__ import annotations

from kinetree.errors import listed, visible
from kinetree.model.elements import Joint
from kinetree.model.robot import Robot

__all__ = ["describe"]

MAX_JOINTS = 60
MAX_MERGED = 6
MAX_NOTES = 12
MAX_INDENT = 20


def describe(model: Robot) -> str:
    """The text of `repr`: one line per moving joint with the body it moves, then the notes; long texts are cut."""
    base = "floating base" if model.floating_base else "fixed base"
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    lines = [
        f"Model {model.name!r}: {_count(len(model.joints), 'moving joint')}, nq = {model.nq}, nv = {model.nv}, "
        f"{base}, {_kilograms(model.mass)}, gravity ({gravity}) m/s²"
    ]
    if model.source:
        lines.append(f"from {model.source}")
    lines += _tree(model)
    for coupling in model.couplings.values():
        n = len(coupling.coordinates)
        place = f"q{_span(coupling.q_start, n)} v{_span(coupling.v_start, n)}"
        lines.append(
            f"  {place}  {coupling.name} ({', '.join(coupling.coordinates)}) moves {', '.join(coupling.joints)}"
        )
    if idle := _without_motor(model):
        lines.append(f"without a motor: {listed(idle, MAX_MERGED)}")
    if model.singular_joints:
        names = listed(model.singular_joints, MAX_MERGED)
        lines.append(f"forward dynamics is not defined, because nothing with inertia resists these joints: {names}")
    lines += [f"note: {note}" for note in model.notes[:MAX_NOTES]]
    if len(model.notes) > MAX_NOTES:
        lines.append(f"… and {_count(len(model.notes) - MAX_NOTES, 'more note')}, in Model.notes")
    return visible("\n".join(lines))


def _without_motor(model: Robot) -> list[str]:
    """The degrees of freedom that have none, or their joint if it has none at all; a floating base goes without saying.

    They are in the order of v.
    """
    found: list[str] = []
    names = model.v_names
    for owner in model.owners[int(model.floating_base) :]:
        if not any(owner.actuated):
            found += [owner.name] if owner.actuated else []
        else:
            found += [name for name, flag in zip(names[owner.v_slice], owner.actuated, strict=True) if not flag]
    return found


def _tree(model: Robot) -> list[str]:
    by_slot = list(model.joints.values())
    merged: list[list[str]] = [[] for _ in range(model.tree.size)]
    for body in model.bodies.values():
        if body.is_fixed and body.name != model.root:
            merged[body.slot].append(body.name)
    children: list[list[int]] = [[] for _ in range(model.tree.size)]
    for i, p in model.tree.outward:
        children[p].append(i)

    root = "world" if model.floating_base else model.root
    rows = [("", _body(model, root, 0, merged[0]))]
    # Depth first, a joint's children in the order of the file.
    stack = [(i, "") for i in reversed(children[0])]
    last = {siblings[-1] for siblings in children if siblings}
    while stack and len(rows) <= MAX_JOINTS:
        i, indent = stack.pop()
        joint = by_slot[i - 1]
        branch, trunk = ("└─ ", "   ") if i in last else ("├─ ", "│  ")
        follows = (
            f", follows {joint.mimic.joint}" if joint.mimic else f", by {joint.coupling}" if joint.coupling else ""
        )
        kind = f"{joint.kind.description}{follows}"
        text = f"{indent}{branch}{joint.name} ({kind}) → {_body(model, joint.child, i, merged[i])}"
        rows.append((_place(joint), text))
        # Deep chains stay on the page; the order still shows the tree.
        deeper = indent + trunk if len(indent) < 3 * MAX_INDENT else indent
        stack.extend((child, deeper) for child in reversed(children[i]))
    width = max(len(place) for place, _ in rows)
    lines = [f"  {place:<{width}}  {text}" for place, text in rows]
    left = len(by_slot) + 1 - len(rows)
    if left:
        lines.append(f"  … and {_count(left, 'more joint')}")
    return lines


def _body(model: Robot, name: str, slot: int, merged: list[str]) -> str:
    with_merged = f" with {listed(merged, MAX_MERGED)}" if merged else ""
    mass = float(model.tree.I[slot].mass)
    return f"{name}{with_merged}, {_kilograms(mass)}" if mass or slot else f"{name}{with_merged}"


def _place(joint: Joint) -> str:
    if not joint.has_coordinates:
        return ""
    return f"q{_span(joint.q_start, joint.kind.nq)} v{_span(joint.v_start, joint.kind.nv)}"


def _span(start: int, count: int) -> str:
    return f"[{start}]" if count == 1 else f"[{start}:{start + count}]"


def _kilograms(mass: float) -> str:
    return f"{mass:.4g} kg"


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
