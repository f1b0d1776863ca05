"""Forces of springs and dampers along tendons, and of cubic ones of joints, as a function of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.actuation.tendons import PulledTendon, pulled_tendons
from kinetree.algorithms.transmissions import along_tendon, reach_velocity, viewed
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.expr import Scalar
from kinetree.functions.options import one_of
from kinetree.model import Model

__all__ = ["tendon_forces"]


_one_part = one_of("part", "all", "springs", "dampers")


def _part_option(model: Model, value: Any) -> Hashable:
    """The selected tendons: kernels are kept by the data they depend on."""
    part = "all" if value is None else _one_part(model, value)
    return "tendons", pulled_tendons(model, part != "dampers", part != "springs")


def _tendon_forces(model: Form, q: Slots, v: Slots, *, part: tuple[str, tuple[PulledTendon, ...]]) -> list[Scalar]:
    tree, robot = model.tree, model.one_by_one
    view = viewed(tree, q)
    pieces: list[list[Scalar]] = [[0.0] * joint.nv for joint in tree.joint]
    for tendon in part[1]:
        reach = along_tendon(view, [(robot.joints[joint].slot, factor) for joint, factor in tendon.terms], 1.0)
        force = algorithms.tendon_force(tendon.law, reach.length, reach_velocity(reach, v))
        for slot, row in reach.moment.items():
            pieces[slot] = [x + m * force for x, m in zip(pieces[slot], row, strict=True)]
    return tree.joined(pieces[1:], "nv")


TENDON_FORCES = Definition(
    "tendon_forces",
    (("q", "nq"), ("v", "nv")),
    ("nv",),
    _tendon_forces,
    {"part": _part_option},
    strategy=Strategy(loops=False),
)


@defined_plainly_by(TENDON_FORCES, in_units=True)
def tendon_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    part: Literal["all", "springs", "dampers"] = "all",
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The joint forces of springs and dampers of a robot's file beyond `passive_forces`, to be added to tau.

    They are those along fixed tendons, and the quadratic and cubic terms of joints with one coordinate. The damping of
    actuators on a tendon is part of the tendon's. Limits, dry friction and inertia of tendons are not forces of this
    kind.

    Args:
        part: "springs" or "dampers" for these alone.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Joint forces (…, nv); N·m, N. Zeros if the robot has no such spring or damper.

    Raises:
        OptionError: a spatial tendon has a spring or damper, a spring yields, a free joint has a spring, or a joint
            with several coordinates has quadratic terms; the message names it.

    Source: MuJoCo documentation, "XML Reference", section on tendons; version 4.

    >>> import kinetree as kt
    >>> from kinetree.model.extras import Extras, Tendon, TendonJoint
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    >>> cord = Tendon("cord", "fixed", (TendonJoint("slider", 2.0),), stiffness=(10.0, 0.0, 0.0))
    >>> builder.extras = Extras(tendons=(cord,))
    >>> kt.dynamics.tendon_forces(builder.build(), [0.5, 0.0], [0.0, 0.0]).tolist()
    [-20.0, 0.0]
    """
    options: dict[str, Any] = {} if part == "all" else {"part": part}
    return run(TENDON_FORCES, robot, (q, v), parameters=parameters, out=out, threads=threads, **options)
