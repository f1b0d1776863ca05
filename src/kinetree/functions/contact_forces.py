"""Forces between shapes, point by point, as a function of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import Rigid, SoftConstraints, TouchSpec
from kinetree.errors import OptionError
from kinetree.expr import Scalar, dot
from kinetree.functions.contact_options import (
    ContactOption,
    check_whose,
    own_contact_option,
    touching_blocks,
    touching_points,
)
from kinetree.model import Model, check_robot
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.algorithms.convex_dynamics import Block

__all__ = ["ContactForces", "ContactPair", "check_exerted", "contact_forces", "contact_pairs", "exerted"]

_WIDTH = 13


class ContactForces(NamedTuple):
    """The result of `contact_forces`: parts of one array; the k slots of all pairs follow each other."""

    distances: Array
    """Between the shapes (…, k), negative where they are inside each other, m; large in a slot without a point."""
    points: Array
    """In the world's coordinates (…, k, 3), m."""
    normals: Array
    """From the first shape to the second, in the world's axes (…, k, 3)."""
    forces: Array
    """The force on the second shape, in the world's axes (…, k, 3), N; zero where nothing touches."""
    torques: Array
    """The same about the point: torsion and rolling friction, in the world's axes (…, k, 3), N·m."""

    def wrenches(self, pairs: Sequence[ContactPair]) -> Array:
        """The wrench on the second shape of each pair, [f; n] about the world's origin (…, p, 6)."""
        moments = self.torques + np.cross(self.points, self.forces)
        each = np.concatenate((self.forces, moments), axis=-1)
        each = np.where((each[..., :3] != 0.0).any(axis=-1, keepdims=True), each, 0.0)
        sums = [each[..., pair.slots, :].sum(axis=-2) for pair in pairs]
        return np.stack(sums, axis=-2) if sums else np.zeros((*each.shape[:-2], 0, 6))


@record(frozen=True, slots=True)
class ContactPair:
    """Two shapes that may touch."""

    first: str
    second: str
    slots: slice
    """The places of their points in the result of `contact_forces`."""


def _contact_forces(model: Form, q: Slots, v: Slots, qdd: Slots, *, contact: SoftConstraints) -> list[Scalar]:
    from kinetree.algorithms.soft_rows import contact_values, seen
    from kinetree.functions.contact_laws import timed_laws
    from kinetree.functions.contact_tables import looped_contacts

    tree, robot = model.tree, model.one_by_one
    check_whose(robot, contact)
    sight, a = seen(tree, q, v), tree.numbers(qdd[1:], "nv")
    table, order, others = looped_contacts(model, contact, sight, timed_laws(contact.setting, 0.0), for_report=True)
    found: dict[int, list[list[Scalar]]] = {}
    if table is not None:
        rows = iter(table.forces(a))
        found = {k: [next(rows) for _ in range(_slots(contact.touches[k]))] for k in order}
    for k in others:
        touch = contact.touches[k]
        points = touching_points(robot, touch, sight)
        blocks = touching_blocks(robot, contact, touch, sight, points)
        found[k] = [contact_values(*pair) for pair in zip(points, (exerted(block, a) for block in blocks), strict=True)]
    return [x for k in range(len(contact.touches)) for of_point in found[k] for x in of_point]


def _slots(touch: TouchSpec) -> int:
    from kinetree.collision.pairs import slots

    return slots(touch.first.shape.kind, touch.second.shape.kind)


def _count(contact: SoftConstraints) -> int:
    return sum(map(_slots, contact.touches))


CONTACT_FORCES = Definition(
    "contact_forces",
    (("q", "nq"), ("v", "nv"), ("qdd", "nv")),
    lambda _, options: (_count(options["contact"]), _WIDTH),
    _contact_forces,
    {"contact": own_contact_option},
    strategy=Strategy(loops=False, is_dense=lambda _model, _options: True),
)


@defined_by(CONTACT_FORCES, in_units=True)
def contact_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    *,
    contact: ContactOption = True,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ContactForces:
    """The forces between shapes at given accelerations, such as those of `contact_dynamics`.

    A contact is a spring and a damper in accelerations, so its force follows from q, v and qdd, without a search. Each
    pair of shapes has a fixed number of points; `contact_pairs` says which they are.

    Args:
        contact: as for `contact_dynamics`; not of rigid contacts that are accurate or have
            restitution, whose forces do not follow from the acceleration.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, (…, k, 13), of the result's dtype.

    Returns:
        (distances, points, normals, forces, torques) of all k points. `found.wrenches(pairs)` are the sums of pairs.

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `contact_dynamics`.

    Source: Todorov, "Convex and analytically-invertible dynamics with contacts and constraints" (2014).

    >>> import kinetree as kt
    >>> empty = kt.ModelBuilder("ball on the ground")
    >>> empty.add_body("world")
    >>> robot = empty.build().with_free_body("sphere", 0.1, mass=1.0).on_ground()
    >>> pressed = [0.0, 0.0, 0.099, 0.0, 0.0, 0.0, 1.0]
    >>> found = kt.contact.contact_forces(robot, pressed, [0.0] * 6, [0.0] * 6)
    >>> round(float(found.forces[0, 2]), 6)
    50.0
    """
    model = check_robot(robot)
    options: dict[str, Any] = {"contact": own_contact_option(model, contact).called_for(model, parameters or ())}
    check_exerted("contact_forces", options["contact"])
    if not options["contact"].touches:
        return _parts(np.zeros((*_leading(q, v, qdd), 0, _WIDTH)))
    return _parts(run(CONTACT_FORCES, model, (q, v, qdd), parameters=parameters, out=out, threads=threads, **options))


def contact_pairs(
    robot: Model, *, contact: ContactOption = True, parameters: Iterable[str] = ()
) -> tuple[ContactPair, ...]:
    """The pairs of shapes whose forces `contact_forces` returns, and where.

    Args:
        robot: the robot.
        contact: as for `contact_dynamics`.
        parameters: the names of those that `contact_forces` is given. Where one of them chooses from the alternatives
            of a body, pairs with shapes of all of them follow the others; of absent ones nothing touches.

    Returns:
        A record for each pair: the names of both shapes, and the slice of its points.

    Raises:
        OptionError: as for `contact_dynamics`.

    >>> import kinetree as kt
    >>> [(pair.first, pair.second) for pair in kt.contact.contact_pairs(kt.zoo.load("cart_pole"))]
    [('rail[1]', 'pole[1]')]
    """
    pairs, start = [], 0
    for touch in own_contact_option(check_robot(robot), contact).called_for(robot, parameters).touches:
        end = start + _slots(touch)
        pairs.append(ContactPair(touch.first.name, touch.second.name, slice(start, end)))
        start = end
    return tuple(pairs)


def _parts(flat: Array) -> ContactForces:
    return ContactForces(flat[..., 0], *(flat[..., k : k + 3] for k in range(1, _WIDTH, 3)))


def _leading(*given: ArrayLike) -> tuple[int, ...]:
    """The axes of the batch, of arrays that no kernel looks at."""
    shapes = [np.shape(x)[:-1] for x in given]
    return np.broadcast_shapes(*shapes)


def exerted(block: Block, a: Sequence[Scalar]) -> list[Scalar]:
    """Forces of the rows of a soft constraint at an acceleration in the order of v: -s'(J a - a_ref), less pulls.

    Those of rigid contacts that are accurate or bounce do not follow from it: `check_exerted`.
    """
    from kinetree.algorithms.rigid_contact import has_rigid_contacts, in_one_round

    (rows,) = in_one_round([block]) if has_rigid_contacts([block]) else [block]
    x = [dot(row, a) - reference for row, reference in zip(rows.J, rows.reference, strict=True)]
    first, *others = rows.cost.at(x).force
    return [first - rows.pull, *others]


def check_exerted(function: str, constraints: SoftConstraints | None) -> None:
    """Reject contacts whose forces do not follow from the acceleration."""
    setting = None if constraints is None else constraints.setting
    if isinstance(setting, Rigid) and (setting.accurate or setting.restitution > 0.0):
        which = "accurate rigid contacts have no compliance" if setting.accurate else "bounces depend on their energy"
        raise OptionError(
            f"{function}: {which}, so the forces do not follow from the acceleration, and are not "
            "computed one by one; kt.contact_dynamics(…).forces has what all of them exert along the joints, and "
            "accurate=False contacts without restitution have forces one by one"
        )
