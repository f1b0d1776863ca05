"""Contacts of robots with many pairs of shapes, sorted into loops (`kinetree.algorithms.contact_table`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.collision.far_apart import enclosing_radius
from kinetree.collision.repeated import Corners, edges_of, normals_of
from kinetree.collision.shapes import Hull
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints, TouchSpec
from kinetree.expr import Scalar, Symbol, is_zero, maximum
from kinetree.functions.contact_laws import law_of_contact
from kinetree.model import Model
from kinetree.spatial import Transform, Vec3

if TYPE_CHECKING:
    from kinetree.algorithms.contact_table import ContactTable, PairLoop, PlacedShapes, RowLoop
    from kinetree.algorithms.soft_rows import Law, Sight
    from kinetree.collision import ContactPoint
    from kinetree.contact_model.touches import TouchingShape

__all__ = ["Looped", "looked_up", "looped_contacts"]


class Looped(NamedTuple):
    """The contacts of a robot, in loops as far as that is better."""

    table: ContactTable | None
    order: Sequence[int]
    """The pairs of shapes in the table, by their places in `touches`."""
    others: Sequence[int]
    """The pairs whose contacts are written out."""


def looped_contacts(
    model: Form, constraints: SoftConstraints, sight: Sight, timed: Callable[..., Law], *, are_told: bool = False
) -> Looped:
    """The contacts in loops, if there are many: which they are depends on the robot alone.

    `are_told`: whether points are asked for, so that there is room for all pairs, and those of pairs that are found
    quickly are found wherever they are.
    """
    from kinetree.algorithms.contact_table import ContactTable

    robot, touches = model.one_by_one, constraints.touches
    if not constraints.are_looped or sight.tree.coordinates is not None or not _has_loops(sight):
        return Looped(None, (), range(len(touches)))
    plain = [k for k, touch in enumerate(touches) if touch.is_plain]
    if not plain:
        return Looped(None, (), range(len(touches)))
    alike: dict[Hashable, dict[Hashable, list[int]]] = {}
    for k in plain:
        kinds = alike.setdefault(_rows_key(touches[k]), {})
        kinds.setdefault(_shapes_key(robot, touches[k]), []).append(k)
    shapes = _Shapes(model)
    loops = [
        _row_loop(constraints, sight, timed, shapes, [[touches[k] for k in some] for some in kinds.values()], are_told)
        for kinds in alike.values()
    ]
    order = [k for kinds in alike.values() for some in kinds.values() for k in some]
    table = ContactTable(sight, shapes.placed(sight), loops, len(touches) if are_told else constraints.room)
    return Looped(table, order, [k for k, touch in enumerate(touches) if not touch.is_plain])


class _Shapes:
    """The shapes that may touch, numbered."""

    def __init__(self, model: Form) -> None:
        self._model = model
        self._sides: dict[int, TouchingShape] = {}
        self._numbers: dict[int, int] = {}

    def number(self, side: TouchingShape) -> int:
        """The number of a shape."""
        self._sides[id(side)] = side
        return self._numbers.setdefault(id(side), len(self._numbers))

    def placed(self, sight: Sight) -> PlacedShapes:
        """All shapes that have a number."""
        from kinetree.algorithms.contact_table import PlacedShapes

        bodies, sides = self._model.bodies, self._sides.values()
        placed = [x.placement if x.body is None else x.placement @ bodies[x.body].placement for x in sides]
        look = looked_up(sight, [(X.plain(),) for X in placed])
        return PlacedShapes([_slot(self._model.one_by_one, x.body) for x in sides], lambda k: look(k)[0])


def _has_loops(sight: Sight) -> bool:
    """Whether there are loops to have them in: in a trace with memory, or on plain numbers."""
    return hasattr(sight.tree, "recorder") or not any(isinstance(x, Symbol) for x in sight.v)


def _rows_key(touch: TouchSpec) -> Hashable:
    """Equal for pairs whose contacts have the same kind of rows, with laws that differ in lengths and masses alone."""
    soft = touch.softness
    numbers = (*soft.reference, *soft.impedance, soft.period, *touch.friction_reference)
    return touch.dimension, tuple(x if isinstance(x, float) else None for x in numbers)


def _shapes_key(robot: Model, touch: TouchSpec) -> Hashable:
    """Equal for pairs whose points are found by the same operations on other lengths."""
    sides = touch.first, touch.second
    names = ["heights", "is_smooth"]
    if touch.first.shape.kind in ("plane", "heightfield"):
        names.append("vertices")
    tables = [id(getattr(side.shape, name, None)) for side in sides for name in names]
    return (*(side.shape.kind for side in sides), *(_slot(robot, side.body) == 0 for side in sides), *tables)


def _slot(robot: Model, body: str | None) -> int:
    return 0 if body is None else robot.bodies[body].slot


def _row_loop(
    constraints: SoftConstraints, sight: Sight, timed: Callable[..., Law], shapes: _Shapes,
    kinds: Sequence[Sequence[TouchSpec]], are_told: bool,
) -> RowLoop:  # fmt: skip
    from kinetree.algorithms.contact_table import Row, RowLoop

    pairs = [_pair_loop(sight, shapes, touches, are_told) for touches in kinds]
    size = kinds[0][0].dimension
    rows = [
        (touch.margin, touch.softness, touch.friction[: size - 1], touch.friction_reference)
        for touches in kinds
        for touch in touches
    ]
    look = looked_up(sight, rows)

    def row(k: Any) -> Row:
        margin, softness, friction, across = look(k)
        return Row(margin, *law_of_contact(constraints, timed, softness, friction, across))

    return RowLoop(pairs, size, size if constraints.is_elliptic and size > 1 else 1, row)


def _pair_loop(sight: Sight, shapes: _Shapes, touches: Sequence[TouchSpec], are_told: bool) -> PairLoop:
    from kinetree.algorithms.contact_table import PairLoop
    from kinetree.collision import contacts, is_beyond, reach
    from kinetree.collision.contact_point import nowhere_unless
    from kinetree.collision.pairs import slots

    sides = [[(touch.first, touch.second)[side] for touch in touches] for side in (0, 1)]
    hulls = [_hulls(sight, [side.shape for side in some]) for some in sides]
    sizes = (
        [side.shape if hull is None else enclosing_radius(side.shape) for side in some]
        for hull, some in zip(hulls, sides, strict=True)
    )
    look = looked_up(sight, [*zip(*sizes, [touch.selection for touch in touches], strict=True)])
    limits = [reach(one.first.shape, one.second.shape, one.selection, of_all=not are_told) for one in touches]
    absent = [touch.absent for touch in touches]
    tell = looked_up(sight, [(0.0 if limit is None else limit, x) for limit, x in zip(limits, absent, strict=True)])

    def is_far(k: Any, r_a: Vec3, r_b: Vec3) -> Scalar:
        limit, missing = tell(k)
        far: Scalar = missing if None in limits else maximum(is_beyond(limit, r_a, r_b), missing)
        return far

    def points(k: Any, X_a: Transform, X_b: Transform) -> Sequence[ContactPoint]:
        a, b, within = look(k)
        a, b = (shape if hull is None else hull(k, shape) for hull, shape in zip(hulls, (a, b), strict=True))
        found = contacts(a, X_a, b, X_b, within)
        _, missing = tell(k)
        return found if is_zero(missing) else [nowhere_unless(1.0 - missing, point) for point in found]

    numbers = [[shapes.number(side) for side in some] for some in sides]
    count = slots(touches[0].first.shape.kind, touches[0].second.shape.kind)
    own = None if all(map(is_zero, absent)) else lambda k: tell(k)[1]
    return PairLoop((numbers[0], numbers[1]), count, is_far, points, own)


def _hulls(sight: Sight, shapes: Sequence[Any]) -> Callable[[Any, Scalar], Hull] | None:
    """The hull of each pair at the counter of a loop, from the distance of its farthest corner; None for other shapes
    and where all pairs have the same hull."""
    different = {id(shape.vertices): shape.vertices for shape in shapes if shape.kind == "hull"}
    if len(different) < 2:
        return None
    columns = [[rows(vertices) or () for vertices in different.values()] for rows in (tuple, edges_of, normals_of)]
    places = {key: place for place, key in enumerate(different)}
    own = [places[id(shape.vertices)] for shape in shapes]

    def hull(k: Any, reach: Scalar) -> Hull:
        if isinstance(k, int):
            alone: Hull = shapes[k]
            return alone
        recorder: Any = getattr(sight.tree, "recorder", None)

        def rows(tables: Sequence[Sequence[tuple[float, ...]]], **others: Any) -> Corners:
            ends = [*accumulate(map(len, tables), initial=0)]
            begin, end = (recorder.look_up([ends[place + last] for place in own], k) for last in (0, 1))
            return Corners([row for table in tables for row in table], begin, end, reach, recorder, **others)

        vertices: Any = rows(columns[0], edges=rows(columns[1]), normals=rows(columns[2]))
        return Hull(vertices)

    return hull


def looked_up(sight: Sight, quantities: Sequence[Any]) -> Callable[[Any], Any]:
    """The quantities by their numbers, or at the counter of a loop, where what they have in common is a constant."""
    from kinetree.tree.rolled.memory import Bodies, Slot
    from kinetree.tree.rolled.tables import Columns, QuantityTable

    recorder: Any = getattr(sight.tree, "recorder", None)
    table = QuantityTable(recorder, Bodies([0] * len(quantities)), Columns(quantities), "contacts")
    only = frozenset({0})
    return lambda k: table[k if isinstance(k, int) else Slot(k, only)]
