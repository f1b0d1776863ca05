"""How a whole robot looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, get_args

from kinetree.appearance.choice import Seen, skins, touching, visible
from kinetree.appearance.looks import COLLISION, GROUND, Color, Looks, Part, Unseen, body_color
from kinetree.appearance.shapes import Shapes
from kinetree.appearance.stand_ins import stand_ins
from kinetree.errors import KinetreeError, OptionError
from kinetree.model import Body, Model
from kinetree.model.by_identity import ByIdentity

__all__ = ["ROLES", "Role", "looks_of"]

Role = Literal["visual", "collision", "stand_in"]
ROLES: dict[str, tuple[Role, ...]] = {
    "visual": ("visual",),
    "collision": ("collision",),
    "both": ("visual", "collision"),
}
"""The roles of the shapes that are shown, by the words for `shapes=` of pictures and pages."""

_SKIN = "skins that bend are not drawn; the shapes below it are shown, as far as there are any"


def looks_of(robot: Model, roles: Sequence[Role] = ("visual",)) -> Looks:
    """The shapes of a robot as triangles with colours.

    Args:
        robot: the robot.
        roles: one or several of
            "visual": the visual shapes; of a robot that has none, those for collisions; stand-ins for a body without
            readable shapes, and for all bodies of a robot without shapes; "collision": the shapes that touch, as
            collisions see them: hulls of meshes; "stand_in": a stand-in for each body, drawn from its inertia.

    Returns:
        The parts, in the order of the roles and of the file; shapes that could not be drawn, with the reason, are in
        `unseen`.

    Raises:
        OptionError: for another role.

    >>> import kinetree as kt
    >>> from kinetree.appearance import looks_of
    >>> looks = looks_of(kt.zoo.load("double_pendulum"))
    >>> looks.parts[0].surface.vertices.dtype, looks.unseen
    (dtype('float32'), ())
    """
    if isinstance(roles, str):
        roles = (roles,)  # type: ignore[assignment]  # checked next
    for role in roles:
        if role not in get_args(Role):
            raise OptionError(f"roles are among {', '.join(map(repr, get_args(Role)))}, not {role!r:.60}")
    if robot not in _known:
        _known[robot] = {}
    known = _known[robot]
    for role in roles:
        if role not in known:
            known[role] = _looks(robot, role)
    found = [known[role] for role in dict.fromkeys(roles)]
    if len(found) == 1:
        return found[0]
    parts: dict[str, Part] = {}
    for part in (part for looks in found for part in looks.parts):
        name = f"{part.name} ({part.role})" if part.name in parts else part.name
        parts[name] = replace(part, name=name)
    return Looks(tuple(parts.values()), tuple(dict.fromkeys(one for looks in found for one in looks.unseen)))


_known: ByIdentity[dict[str, Looks]] = ByIdentity()


def _looks(robot: Model, role: Role) -> Looks:
    if role == "stand_in":
        return Looks(tuple(stand_ins(robot)))
    if role == "collision":
        return _drawn(robot, touching(robot), role, lambda _: COLLISION)
    wanted = visible(robot)
    scenery = [one for one in wanted if one.is_scenery]
    if len(scenery) == len(wanted):
        wanted += [one for one in touching(robot) if not one.is_scenery]
    found = _drawn(robot, wanted, role, lambda body: body_color(body.slot, is_fixed=body.is_fixed))
    if names := skins(robot):
        remarks = (Unseen(name or "skin", _SKIN) for name in names)
        found = replace(found, unseen=(*found.unseen, *remarks))
    drawn = {part.name for part in found.parts}
    if not drawn or (robot.nv and drawn <= {one.name for one in scenery}):
        return replace(found, parts=(*found.parts, *stand_ins(robot)))
    bodies = {part.body for part in found.parts}
    lost = {one.body.name for one in wanted} - bodies
    return replace(found, parts=(*found.parts, *(part for part in stand_ins(robot) if part.body in lost)))


def _drawn(robot: Model, wanted: Sequence[Seen], role: Role, usual: Callable[[Body], Color]) -> Looks:
    shapes = Shapes(robot, wanted)
    parts: list[Part] = []
    unseen: list[Unseen] = []
    for one in wanted:
        is_ground = not one.body.slot and one.shape.shape in ("plane", "heightfield")
        color = GROUND if is_ground and one.shape.color is None else usual(one.body)
        try:
            found = (shapes.touching if role == "collision" else shapes.drawn)(one, color)
        except KinetreeError as error:
            unseen.append(Unseen(one.name, str(error)))
            continue
        unseen += (Unseen(one.name, remark) for remark in found.remarks)
        parts.append(Part(one.name, one.body.name, role, found.placement, found.surface, is_ground))
    return Looks(tuple(parts), tuple(unseen))
