"""Contacts of robots with many pairs of shapes, sorted into loops (`kinetree.algorithms.contact_table`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.collision.far_apart import enclosing_radius, reach
from kinetree.collision.pairs import are_sums, slots
from kinetree.collision.repeated import Corners, edges_of, normals_of
from kinetree.collision.shapes import Hull, Shape, of_kind, sum_of
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints, TouchSpec
from kinetree.contact_model.touches import Touches
from kinetree.expr import Scalar, Symbol, is_zero, maximum
from kinetree.functions.contact_laws import law_of_contact
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.spatial import Transform, Vec3
from kinetree.tree.rolled.memory import Bodies, Slot
from kinetree.tree.rolled.tables import Columns, QuantityTable

if TYPE_CHECKING:
    from kinetree.algorithms.contact_table import ContactTable, PairLoop, PlacedShapes, RowLoop
    from kinetree.algorithms.sleeping_islands import Sleep
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
    model: Form,
    constraints: SoftConstraints,
    sight: Sight,
    timed: Callable[..., Law],
    *,
    for_report: bool = False,
    sleep: Sleep | None = None,
) -> Looped:
    """The contacts in loops, if there are many: which they are depends on the robot alone.

    `for_report`: whether points are asked for, so that there is room for all pairs, and those of pairs that are found
    quickly are found wherever they are. `sleep`: which bodies are left out.
    """
    from kinetree.algorithms.contact_table import ContactTable

    touches = constraints.touches
    if not constraints.are_looped or sight.tree.coordinates is not None or not _has_loops(sight):
        return Looped(None, (), range(len(touches)))
    pairs, rows, others = _sorted(touches)
    if not pairs:
        return Looped(None, (), range(len(touches)))
    shapes = _Shapes(model)
    of_pairs = [_pair_loop(sight, shapes, alike, for_report) for alike in pairs]
    loops = [_row_loop(constraints, sight, timed, alike) for alike in rows]
    order = [k for alike in pairs for k in alike.numbers]
    table = ContactTable(
        sight, shapes.placed(sight), of_pairs, loops, len(touches) if for_report else constraints.room, sleep
    )
    return Looped(table, order, others)


class _AlikePairs:
    """Pairs whose points are found by the same operations on other lengths, and their numbers in tables."""

    def __init__(self, numbers: Sequence[int], touches: Sequence[TouchSpec]) -> None:
        self.numbers, self.touches = numbers, touches
        self.sides = [[(touch.first, touch.second)[side] for touch in touches] for side in (0, 1)]
        self.shapes = [[side.shape for side in some] for some in self.sides]
        kinds = [(a.kind, b.kind) for a, b in zip(*self.shapes, strict=True)]
        self.are_sums = are_sums(*kinds[0])
        if self.are_sums:
            kinds = [some if slots(*some) > 1 else _ROUND for some in kinds]
        self.kinds = [*dict.fromkeys(kinds)]
        """The kinds of both shapes: several, if their nearest points are searched in the same way."""
        self.kind_of = [*map(self.kinds.index, kinds)]
        self.absent = [touch.absent for touch in touches]
        self.have_hulls = [len({id(x.vertices) for x in some if isinstance(x, Hull)}) > 1 for some in self.shapes]
        known: dict[Any, Any] = {}
        """One shape for all that are equal, and one row of both shapes and a distance."""
        one: dict[int, Shape] = {}
        for some in self.shapes:
            for x in some:
                if id(x) not in one:
                    one[id(x)] = x if x.kind not in _SMALL else known.setdefault(x, x)
        rows = ((one[id(a)], one[id(b)], x.selection) for a, b, x in zip(*self.shapes, touches, strict=True))
        self._rows: list[tuple[Shape, Shape, Scalar]] = [
            known.setdefault((id(row[0]), id(row[1]), row[2]), row) for row in rows
        ]

    @cached_property
    def sizes(self) -> Columns:
        """Both shapes, or how far their corners are, and within which distance points are looked for."""

        def of_row(row: tuple[Shape, Shape, Scalar]) -> Any:
            if self.are_sums:
                return sum_of(row[0]), sum_of(row[1]), row[2]
            shapes = zip(self.have_hulls, row[:2], strict=True)
            return (*(enclosing_radius(x) if is_hull else x for is_hull, x in shapes), row[2])

        return Columns(self._mapped(of_row) if any(self.have_hulls) or self.are_sums else self._rows)

    @cached_property
    def _limits(self) -> dict[bool, tuple[bool, Columns]]:
        return {}

    def limits(self, of_all: bool) -> tuple[bool, Columns]:
        """Whether all have a distance beyond which they are far; and that of each, and whether it is absent."""
        if of_all not in self._limits:
            reaches = self._mapped(lambda row: reach(*row, of_all=of_all))
            known: dict[Any, Any] = {}
            rows = [known.setdefault(row, row) for row in zip(reaches, self.absent, strict=True)]
            have_limits = None not in reaches
            self._limits[of_all] = have_limits, Columns(rows if have_limits else [(0.0, x) for _, x in rows])
        return self._limits[of_all]

    def _mapped(self, of: Callable[[tuple[Shape, Shape, Scalar]], Any]) -> list[Any]:
        """A function's value for each row, computed once for those that are the same."""
        values = {id(row): of(row) for row in {id(row): row for row in self._rows}.values()}
        return [values[id(row)] for row in self._rows]


_ROUND = "sum", "sum"
"""The kinds of two shapes of which nothing is found but the nearest point."""
_SMALL = ("sphere", "capsule", "box", "cylinder", "ellipsoid")
"""Kinds of shapes that are a few numbers."""


class _AlikeRows:
    """Pairs whose contacts have the same kind of rows, by their numbers in the table."""

    def __init__(self, numbers: Sequence[int], touches: Sequence[TouchSpec]) -> None:
        self.numbers = numbers
        self.size = size = touches[0].dimension
        known: dict[Any, Any] = {}
        rows: list[Any] = []
        for touch in touches:
            key = touch.margin, id(touch.softness), touch.friction, touch.friction_reference
            if key not in known:
                known[key] = touch.margin, touch.softness, touch.friction[: size - 1], touch.friction_reference
            rows.append(known[key])
        self.rows = Columns(rows)


class _Sorted(NamedTuple):
    """Pairs that are in loops, and the places of the others."""

    pairs: Sequence[_AlikePairs]
    """Pairs that are searched in a loop each, one after another: the order of the table."""
    rows: Sequence[_AlikeRows]
    """The same pairs, by their rows."""
    others: Sequence[int]


_SORTED: ByIdentity[_Sorted] = ByIdentity()


def _sorted(touches: Sequence[TouchSpec]) -> _Sorted:
    """The pairs in the order of the loops; those of a robot's own numbers are sorted once."""
    is_kept = isinstance(touches, Touches)
    if is_kept and touches in _SORTED:
        return _SORTED[touches]
    of_shapes: dict[Hashable, list[int]] = {}
    of_rows: dict[Hashable, list[int]] = {}
    others: list[int] = []
    keys: dict[Hashable, Hashable] = {}

    def known(key: Hashable, make: Callable[[], Hashable]) -> Hashable:
        if key not in keys:
            keys[key] = make()
        return keys[key]

    for k, touch in enumerate(touches):
        if not touch.is_plain:
            others.append(k)
            continue
        first, second = touch.first, touch.second
        if are_sums(first.shape.kind, second.shape.kind):
            of_shapes.setdefault("sums", []).append(k)
            continue
        has_vertices = first.shape.kind in ("plane", "heightfield")
        of_sides = (known((id(side), has_vertices), partial(_side_key, side, has_vertices)) for side in (first, second))
        of_shapes.setdefault(tuple(of_sides), []).append(k)
    pairs = [_AlikePairs(some, [touches[k] for k in some]) for some in of_shapes.values()]
    order = [touch for alike in pairs for touch in alike.touches]
    for p, touch in enumerate(order):
        key = known((touch.dimension, id(touch.softness), touch.friction_reference), partial(_rows_key, touch))
        of_rows.setdefault(key, []).append(p)
    rows = [_AlikeRows(some, [order[p] for p in some]) for some in of_rows.values()]
    result = _Sorted(pairs, rows, others)
    if is_kept:
        _SORTED[touches] = result
    return result


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
        look = looked_up(sight, Columns([(X.plain(),) for X in placed]))
        return PlacedShapes([_slot(self._model.one_by_one, x.body) for x in sides], lambda k: look(k)[0])


def _has_loops(sight: Sight) -> bool:
    """Whether there are loops to have them in: in a trace with memory, or on plain numbers."""
    return hasattr(sight.tree, "recorder") or not any(isinstance(x, Symbol) for x in sight.v)


def _rows_key(touch: TouchSpec) -> Hashable:
    """Equal for pairs whose contacts have rows of the same operations, on laws of other numbers."""
    soft, across = touch.softness, touch.friction_reference
    numbers = (soft.impedance[-1], *across)  # powers are products, if they are known
    return touch.dimension, is_zero(soft.period), tuple(x if isinstance(x, float) else None for x in numbers)


def _side_key(side: TouchingShape, has_vertices: bool) -> Hashable:
    """Equal, for both sides, for pairs whose points are found by the same operations on other lengths."""
    names = ["heights", "is_smooth", *(["vertices"] if has_vertices else [])]
    tables = [id(getattr(side.shape, name, None)) for name in names]
    return side.shape.kind, *tables


def _slot(robot: Model, body: str | None) -> int:
    return 0 if body is None else robot.bodies[body].slot


def _row_loop(constraints: SoftConstraints, sight: Sight, timed: Callable[..., Law], alike: _AlikeRows) -> RowLoop:
    from kinetree.algorithms.contact_table import Row, RowLoop

    size, look = alike.size, looked_up(sight, alike.rows)

    def row(k: Any) -> Row:
        margin, softness, friction, across = look(k)
        return Row(margin, *law_of_contact(constraints, timed, softness, friction, across))

    return RowLoop(alike.numbers, size, size if constraints.is_elliptic and size > 1 else 1, row)


def _pair_loop(sight: Sight, shapes: _Shapes, alike: _AlikePairs, for_report: bool) -> PairLoop:
    from kinetree.algorithms.contact_table import PairKind, PairLoop
    from kinetree.collision import contacts, is_beyond
    from kinetree.collision.contact_point import nowhere_unless
    from kinetree.collision.convex import convex_convex
    from kinetree.collision.manifold import with_faces

    hulls = [
        _hulls(sight, some) if is_hull else None for is_hull, some in zip(alike.have_hulls, alike.shapes, strict=True)
    ]
    have_limits, limits = alike.limits(not for_report)
    look, limit_of = looked_up(sight, alike.sizes), looked_up(sight, limits)

    def is_far(k: Any, r_a: Vec3, r_b: Vec3) -> Scalar:
        limit, missing = limit_of(k)
        far: Scalar = maximum(is_beyond(limit, r_a, r_b), missing) if have_limits else missing
        return far

    def search(k: Any, X_a: Transform, X_b: Transform) -> Any:
        a, b, within = look(k)
        a, b = (shape if hull is None else hull(k, shape) for hull, shape in zip(hulls, (a, b), strict=True))
        return a, b, within, *(convex_convex(a, X_a, b, X_b, within) if alike.are_sums else ())

    def points(
        kinds: tuple[str, str], k: Any, X_a: Transform, X_b: Transform, found: Sequence[Any]
    ) -> Sequence[ContactPoint]:
        a, b, within, *nearest = found
        touching: Sequence[ContactPoint] = nearest
        if not nearest:
            touching = contacts(a, X_a, b, X_b, within)
        elif kinds != _ROUND:
            a, b = map(of_kind, kinds, (a, b))
            touching = with_faces(a, X_a, b, X_b, within, nearest[0], slots(*kinds))
        _, missing = limit_of(k)
        return touching if is_zero(missing) else [nowhere_unless(1.0 - missing, point) for point in touching]

    numbers = [[shapes.number(side) for side in some] for some in alike.sides]
    own = None if all(map(is_zero, alike.absent)) else lambda k: limit_of(k)[1]
    kinds = [PairKind(1 if some == _ROUND else slots(*some), partial(points, some)) for some in alike.kinds]
    return PairLoop((numbers[0], numbers[1]), kinds, alike.kind_of, is_far, search, own)


def _hulls(sight: Sight, shapes: Sequence[Any]) -> Callable[[Any, Scalar], Hull]:
    """The hull of each pair at the counter of a loop, from the distance of its farthest corner."""
    different = {id(shape.vertices): shape.vertices for shape in shapes}
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


def looked_up(sight: Sight, quantities: Columns) -> Callable[[Any], Any]:
    """The quantities by their numbers, or at the counter of a loop, where what they have in common is a constant."""
    recorder: Any = getattr(sight.tree, "recorder", None)
    table = QuantityTable(recorder, Bodies([0] * len(quantities)), quantities, "contacts")
    only = frozenset({0})
    return lambda k: table[k if isinstance(k, int) else Slot(k, only)]
