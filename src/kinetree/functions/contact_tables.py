"""Contacts of robots with many pairs of shapes, sorted into loops (`kinetree.algorithms.contact_table`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.collision.far_apart import enclosing_radius
from kinetree.collision.repeated import Corners
from kinetree.collision.shapes import Hull
from kinetree.contact_model import SoftConstraints, TouchSpec
from kinetree.expr import Scalar, Symbol, is_zero, maximum
from kinetree.functions.contact_laws import law_of_contact
from kinetree.model import Model
from kinetree.spatial import Transform

if TYPE_CHECKING:
    from kinetree.algorithms.contact_table import ContactTable, Found, PairLoop, RowLoop
    from kinetree.algorithms.soft_rows import Law, Sight

__all__ = ["Looped", "looped_contacts"]


class Looped(NamedTuple):
    """The contacts of a robot, in loops as far as that is better."""

    table: ContactTable | None
    order: Sequence[int]
    """The pairs of shapes in the table, by their places in `touches`."""
    others: Sequence[int]
    """The pairs whose contacts are written out."""


def looped_contacts(robot: Model, constraints: SoftConstraints, sight: Sight, timed: Callable[..., Law]) -> Looped:
    """The contacts in loops, if there are many: which they are depends on the robot alone."""
    from kinetree.algorithms.contact_table import ContactTable

    touches = constraints.touches
    if not constraints.are_looped or sight.tree.coordinates is not None or not _has_loops(sight):
        return Looped(None, (), range(len(touches)))
    plain = [k for k, touch in enumerate(touches) if _is_plain(touch)]
    if not plain:
        return Looped(None, (), range(len(touches)))
    alike: dict[Hashable, dict[Hashable, list[int]]] = {}
    for k in plain:
        kinds = alike.setdefault(_rows_key(touches[k]), {})
        kinds.setdefault(_shapes_key(robot, touches[k]), []).append(k)
    loops = [
        _row_loop(robot, constraints, sight, timed, [[touches[k] for k in some] for some in kinds.values()])
        for kinds in alike.values()
    ]
    order = [k for kinds in alike.values() for some in kinds.values() for k in some]
    return Looped(ContactTable(sight, loops), order, [k for k, touch in enumerate(touches) if not _is_plain(touch)])


def _has_loops(sight: Sight) -> bool:
    """Whether there are loops to have them in: in a trace with memory, or on plain numbers."""
    return hasattr(sight.tree, "recorder") or not any(isinstance(x, Symbol) for x in sight.v)


def _is_plain(touch: TouchSpec) -> bool:
    return not touch.adhesion and not any(any(motion) for motion in touch.surface_velocity)


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
    robot: Model, constraints: SoftConstraints, sight: Sight, timed: Callable[..., Law],
    kinds: Sequence[Sequence[TouchSpec]],
) -> RowLoop:  # fmt: skip
    from kinetree.algorithms.contact_table import Row, RowLoop

    pairs = [_pair_loop(robot, sight, touches) for touches in kinds]
    size = kinds[0][0].dimension
    rows = [
        (touch.margin, touch.softness, touch.friction[: size - 1], touch.friction_reference)
        for loop, touches in zip(pairs, kinds, strict=True)
        for touch in touches
        for _ in range(loop.slots)
    ]
    look = _looked_up(sight, rows)

    def row(k: Any) -> Row:
        margin, softness, friction, across = look(k)
        return Row(margin, *law_of_contact(constraints, timed, softness, friction, across))

    return RowLoop(pairs, size, size if constraints.is_elliptic and size > 1 else 1, row)


def _pair_loop(robot: Model, sight: Sight, touches: Sequence[TouchSpec]) -> PairLoop:
    from kinetree.algorithms.contact_table import Found, PairLoop
    from kinetree.collision import contacts, is_far
    from kinetree.collision.contact_point import nowhere_unless
    from kinetree.collision.pairs import slots

    sides = [[(touch.first, touch.second)[side] for touch in touches] for side in (0, 1)]
    bodies = [[_slot(robot, side.body) for side in some] for some in sides]
    placed = [
        [side.placement if side.body is None else side.placement @ robot.bodies[side.body].placement for side in some]
        for some in sides
    ]
    hulls = [_hulls(sight, [side.shape for side in some]) for some in sides]
    shapes = zip(
        *(
            [side.shape if hull is None else enclosing_radius(side.shape) for side in some]
            for hull, some in zip(hulls, sides, strict=True)
        ),
        strict=True,
    )
    numbers = zip(
        shapes, zip(*placed, strict=True), ((touch.selection, touch.absent) for touch in touches), strict=True
    )
    look = _looked_up(sight, [(*pair, *(X.plain() for X in Xs), *more) for pair, Xs, more in numbers])

    def find(k: Any, X_1: Transform, X_2: Transform) -> Found:
        a, b, X_a, X_b, within, absent = look(k)
        a, b = (shape if hull is None else hull(k, shape) for hull, shape in zip(hulls, (a, b), strict=True))
        if any(bodies[0]):
            X_a = X_a @ X_1
        if any(bodies[1]):
            X_b = X_b @ X_2
        far = is_far(a, X_a, b, X_b, within)
        points = partial(contacts, a, X_a, b, X_b, within)
        if not is_zero(absent):
            far = absent if far is None else maximum(far, absent)
            return Found(far, lambda: [nowhere_unless(1.0 - absent, point) for point in points()])
        return Found(0.0 if far is None else far, points)

    own: Callable[[Any], Scalar] | None = None
    if not all(is_zero(touch.absent) for touch in touches):
        flags = _looked_up(sight, [(touch.absent,) for touch in touches])
        own = lambda k: flags(k)[0]  # noqa: E731
    count = slots(touches[0].first.shape.kind, touches[0].second.shape.kind)
    return PairLoop((bodies[0], bodies[1]), count, find, own)


def _hulls(sight: Sight, shapes: Sequence[Any]) -> Callable[[Any, Scalar], Hull] | None:
    """The hull of each pair at the counter of a loop, from the distance of its farthest corner; None for other shapes
    and where all pairs have the same hull."""
    different = {id(shape.vertices): shape.vertices for shape in shapes if shape.kind == "hull"}
    if len(different) < 2:
        return None
    ends = dict(zip(different, accumulate(map(len, different.values())), strict=True))
    table = [corner for vertices in different.values() for corner in vertices]
    spans = [(ends[id(x.vertices)] - len(x.vertices), ends[id(x.vertices)]) for x in shapes]

    def hull(k: Any, reach: Scalar) -> Hull:
        if isinstance(k, int):
            own: Hull = shapes[k]
            return own
        recorder: Any = getattr(sight.tree, "recorder", None)
        begin, end = (recorder.look_up(places, k) for places in zip(*spans, strict=True))
        vertices: Any = Corners(table, begin, end, reach, recorder)
        return Hull(vertices)

    return hull


def _looked_up(sight: Sight, quantities: Sequence[Any]) -> Callable[[Any], Any]:
    """The quantities by their numbers, or at the counter of a loop, where what they have in common is a constant."""
    from kinetree.tree.rolled.memory import Bodies, Slot
    from kinetree.tree.rolled.tables import Columns, QuantityTable

    recorder: Any = getattr(sight.tree, "recorder", None)
    table = QuantityTable(recorder, Bodies([0] * len(quantities)), Columns(quantities), "contacts")
    only = frozenset({0})
    return lambda k: table[k if isinstance(k, int) else Slot(k, only)]
