"""Forces of the medium in which a robot moves, as a function of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.actuation.medium import Immersion, immersion
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.model import Model
from kinetree.tree import Tree

__all__ = ["fluid_forces", "forces_of_medium"]


def _medium_option(model: Model, value: Any) -> Hashable:
    """The medium and the bodies in it: kernels are kept by the data they depend on."""
    if value is not None and not isinstance(value, Immersion):
        raise OptionError(f"the medium is that of the robot's file, and cannot be given: {value!r:.60}")
    return immersion(model) if value is None else value


def forces_of_medium(
    tree: Tree, q: Slots, v: Slots, shapes: Iterable[tuple[int, algorithms.Immersed]], medium: algorithms.Medium
) -> Any:
    """The forces of a medium along the joints, from slot 1 on."""
    by_slot: dict[int, list[algorithms.Immersed]] = {}
    for slot, shape in shapes:
        by_slot.setdefault(slot, []).append(shape)
    return algorithms.fluid_forces(tree, q, v, by_slot, medium)


def _fluid_forces(model: Form, q: Slots, v: Slots, *, medium: Immersion) -> list[Scalar]:
    shapes = medium.in_slots(model.one_by_one.bodies)
    return model.tree.joined(forces_of_medium(model.tree, q, v, shapes, medium.medium), "nv")


FLUID_FORCES = Definition(
    "fluid_forces",
    (("q", "nq"), ("v", "nv")),
    ("nv",),
    _fluid_forces,
    {"medium": _medium_option},
    strategy=Strategy(loops=False),
)


@defined_plainly_by(FLUID_FORCES, in_units=True)
def fluid_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The joint forces of the medium in which a robot's file lets it move (MuJoCo's density, viscosity and wind).

    Each body is taken for the box that has its mass and inertia, or each of its shapes for an ellipsoid, if the file
    says so (`fluidshape="ellipsoid"`). Add the forces to tau.

    Args:
        parameters: values that override some of the robot's parameters, as for `aba`; boxes and
            ellipsoids stay as they are.
        out: where to put the result, (…, nv), of the result's dtype.

    Returns:
        Joint forces (…, nv); N·m, N. Zeros without a medium.

    Raises:
        OptionError: the medium acts as on an ellipsoid on a shape that has no half axes: a mesh, a plane or heights.

    Source: MuJoCo documentation, "Computation", section on fluid forces; version 4.

    >>> import kinetree as kt
    >>> from kinetree.model.extras import Extras, SimulationOptions
    >>> builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    >>> builder.extras = Extras(options=SimulationOptions(density=1000.0))
    >>> slow, fast = kt.dynamics.fluid_forces(builder.build(), [0.0, 0.0], [[1.0, 0.0], [2.0, 0.0]])[:, 0]
    >>> bool(slow < 0.0), float(fast / slow)
    (True, 4.0)
    """
    return run(FLUID_FORCES, robot, (q, v), parameters=parameters, out=out, threads=threads)
