"""How a whole robot looks.

Bodies drawn from their inertia: the ellipsoid with the same inertia, and rods to the joints of their children.

A solid ellipsoid of mass m with half axes a, b, c has the principal moments m (b² + c²) / 5, …, so that
a² = 5 (B + C - A) / (2 m).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.choice import Seen, skins, touching, visible
from kinetree.appearance.looks import (
    COLLISION,
    GROUND,
    WHITE,
    Color,
    Looks,
    Part,
    Surface,
    Unseen,
    body_color,
    color_of,
)
from kinetree.appearance.materials import Materials
from kinetree.appearance.primitives import primitive
from kinetree.errors import KinetreeError, MissingPackageError, ModelError, OptionError
from kinetree.model import Body, Model
from kinetree.model.by_identity import ByIdentity
from kinetree.records import record

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
    of_roles = [known[role] for role in dict.fromkeys(roles)]
    if len(of_roles) == 1:
        return of_roles[0]
    parts: dict[str, Part] = {}
    for part in (part for looks in of_roles for part in looks.parts):
        name = f"{part.name} ({part.role})" if part.name in parts else part.name
        parts[name] = replace(part, name=name)
    return Looks(tuple(parts.values()), tuple(dict.fromkeys(one for looks in of_roles for one in looks.unseen)))


_known: ByIdentity[dict[str, Looks]] = ByIdentity()


def _looks(robot: Model, role: Role) -> Looks:
    if role == "stand_in":
        return Looks(tuple(stand_ins(robot)))
    if role == "collision":
        return _drawn(robot, touching(robot), role, lambda _: COLLISION)
    shapes = visible(robot)
    scenery = [one for one in shapes if one.is_scenery]
    if len(scenery) == len(shapes):
        shapes += [one for one in touching(robot) if not one.is_scenery]
    looks = _drawn(robot, shapes, role, lambda body: body_color(body.slot, is_fixed=body.is_fixed))
    if names := skins(robot):
        remarks = (Unseen(name or "skin", _SKIN) for name in names)
        looks = replace(looks, unseen=(*looks.unseen, *remarks))
    drawn = {part.name for part in looks.parts}
    if not drawn or (robot.nv and drawn <= {one.name for one in scenery}):
        return replace(looks, parts=(*looks.parts, *stand_ins(robot)))
    bodies = {part.body for part in looks.parts}
    lost = {one.body.name for one in shapes} - bodies
    return replace(looks, parts=(*looks.parts, *(part for part in stand_ins(robot) if part.body in lost)))


def _drawn(robot: Model, wanted: Sequence[Seen], role: Role, usual: Callable[[Body], Color]) -> Looks:
    shapes = Shapes(robot, wanted)
    parts: list[Part] = []
    unseen: list[Unseen] = []
    for one in wanted:
        is_ground = not one.body.slot and one.shape.shape in ("plane", "heightfield")
        color = GROUND if is_ground and one.shape.color is None else usual(one.body)
        try:
            look = (shapes.touching if role == "collision" else shapes.drawn)(one, color)
        except KinetreeError as error:
            unseen.append(Unseen(one.name, str(error)))
            continue
        unseen += (Unseen(one.name, remark) for remark in look.remarks)
        parts.append(Part(one.name, one.body.name, role, look.placement, look.surface, is_ground))
    return Looks(tuple(parts), tuple(unseen))


_AROUND = 16
"""Corners of a circle."""
_THICKNESS = 0.06
"""Radius of a rod by its length."""
_LEAST = 0.3
"""The smallest half axis by the largest one, so that a rod or a disc can be seen."""
_POINT = 0.03
"""Radius of a body that is a point, by the largest distance between joints."""

Floats = NDArray[np.float64]


def stand_ins(robot: Model) -> Iterator[Part]:
    """The parts that stand for the bodies of a robot; a body without a mass has rods only."""
    rods: dict[str, list[Floats]] = {}
    for joint in robot.parts.joints:
        end = joint.placement.matrix[:3, 3]
        if joint.parent in robot.bodies and np.linalg.norm(end) > 0.0:
            rods.setdefault(joint.parent, []).append(end)
    reach = max((float(np.linalg.norm(end)) for ends in rods.values() for end in ends), default=0.0)
    for body in robot.bodies.values():
        shapes = [_rod(end) for end in rods.get(body.name, ())]
        if body.mass > 0.0:
            own = max((float(np.linalg.norm(end)) for end in rods.get(body.name, ())), default=0.25 * reach)
            shapes.append(_ellipsoid(body, reach, max(own, float(np.linalg.norm(body.center_of_mass)))))
        color = body_color(body.slot, is_fixed=body.is_fixed)
        for k, (shape, size, placement) in enumerate(shapes):
            surface = primitive(shape, size, color, _AROUND)
            yield Part(f"{body.name}[inertia {k}]", body.name, "stand_in", placement, surface)


def _rod(end: Floats) -> tuple[str, tuple[float, ...], Floats]:
    """A capsule from the origin of a body to a joint on it."""
    length = float(np.linalg.norm(end))
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = _along(end / length), 0.5 * end
    return "capsule", (_THICKNESS * length, length), placement


def _along(z: Floats) -> Floats:
    """Axes, as columns, whose third has a given direction."""
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _ellipsoid(body: Body, reach: float, room: float) -> tuple[str, tuple[float, ...], Floats]:
    """The ellipsoid with the body's inertia; it is made smaller where an inertia is not that of a solid so large."""
    moments, axes = np.linalg.eigh(body.rotational_inertia)
    if np.linalg.det(axes) < 0.0:
        axes = -axes
    squares = 2.5 * (moments.sum() - 2.0 * moments) / body.mass
    half = np.sqrt(np.maximum(squares, 0.0))
    largest = float(half.max())
    if not 1e-6 * (reach or 1.0) < largest < math.inf:
        half, largest = np.zeros(3), _POINT * (reach or 1.0)
    if largest > room > 0.0:
        half, largest = half * (room / largest), room
    half = np.maximum(half, _LEAST * largest if half.any() else largest)
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = axes, body.center_of_mass
    return "ellipsoid", tuple(map(float, half)), placement


_TOGETHER = 200_000
"""Triangles that the meshes of a robot have together, about."""
_LEVELS = (20_000, 10_000, 6_000, 4_000, 2_500)
"""How many a mesh may have; few choices, so that meshes kept on disk serve several robots."""
_LARGE = 300_000
"""Bytes of a file that may well have more triangles than the lowest of these."""


@record(frozen=True, slots=True, eq=False)
class Drawn:
    """A shape that was drawn."""

    surface: Surface
    placement: NDArray[np.float64]
    """(4, 4) in its body's axes."""
    remarks: tuple[str, ...] = ()
    """Sentences about everything that differs from the file."""


class Shapes:
    """The shapes of a robot, with its file's data about meshes and height fields."""

    def __init__(self, robot: Model, wanted: Sequence[Seen]) -> None:
        """`wanted`: all that will be asked for."""
        from kinetree.contact_model import shapes as contact
        from kinetree.contact_model.assets import Assets

        self._source = robot.source
        self._assets = Assets(robot)
        self._materials = Materials(robot)
        self._most = _most(wanted)
        self._hulls = contact.Shapes(robot)
        self._known: dict[tuple[object, ...], tuple[Surface, tuple[str, ...]]] = {}

    def touching(self, one: Seen, color: Color) -> Drawn:
        """A shape as collisions see it; of a mesh, its hull, or the mesh with a remark where it has none.

        Raises:
            ModelError, MissingPackageError: as `drawn`.
        """
        from kinetree.appearance.meshes import hull_surface

        remarks: tuple[str, ...] = ()
        if one.shape.shape == "mesh":
            try:
                return Drawn(*hull_surface(self._hulls, one, color))
            except (ModelError, MissingPackageError) as error:
                remarks = (f"collisions do not see it, so the mesh itself is shown: {error}",)
        surface, more = self._surface(one, color, is_plain=True)
        return Drawn(surface, one.shape.placement.matrix, (*remarks, *more))

    def drawn(self, one: Seen, usual: Color) -> Drawn:
        """A shape as triangles, in a usual colour where its file says nothing.

        Raises:
            ModelError: if it cannot be drawn.
            MissingPackageError: if that needs a package that is not installed.
        """
        shape = one.shape
        if shape.color is not None:
            color = color_of(shape.color)
        else:
            color = WHITE if self._materials.has_texture(one.body.name, one.index) else usual
        surface, remarks = self._surface(one, color)
        surface, more = self._materials.put_on(surface, one.body.name, one.index, shape)
        return Drawn(surface, shape.placement.matrix, (*remarks, *more))

    def _surface(self, one: Seen, color: Color, *, is_plain: bool = False) -> tuple[Surface, tuple[str, ...]]:
        shape = one.shape
        if shape.shape in ("mesh", "heightfield"):
            from kinetree.appearance.meshes import height_field, mesh_surface

            asset = self._assets.of(one.body.name, one.index, shape)
            if shape.shape == "heightfield":
                return height_field(shape, asset, color), ()
            key = shape.mesh_path, shape.size, color, is_plain, *asset.items()
            if key not in self._known:
                self._known[key] = mesh_surface(shape, asset, color, self._most, self._source, is_plain=is_plain)
            return self._known[key]
        return primitive(shape.shape, shape.size, color), ()


def _most(wanted: Sequence[Seen]) -> int:
    """How many triangles each mesh may have; small files have few and do not count."""
    large = sum(one.shape.shape == "mesh" and _bytes(one.shape.mesh_path) > _LARGE for one in wanted)
    return next((most for most in _LEVELS if most * large <= _TOGETHER), _LEVELS[-1])


def _bytes(path: Path | None) -> int:
    try:
        return 0 if path is None else os.stat(path).st_size
    except OSError:
        return 0
