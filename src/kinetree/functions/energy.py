"""Energies and the centre of mass, as functions of arrays.

They run on the tree with regrouped inertias: a body's share that its parent gets stays in every sum over bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots
from kinetree.compiler.forms.form import Form
from kinetree.compiler.usual_calls import defined_plainly_by
from kinetree.errors import ModelError
from kinetree.expr import Scalar
from kinetree.functions.drives import Passive, passive_option, switched_on
from kinetree.model import Model

__all__ = ["center_of_mass", "kinetic_energy", "potential_energy"]


def _kinetic(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    return [algorithms.kinetic_energy(model.tree, q, v)]


def _potential(model: Form, q: Slots, *, passive: Sequence[str]) -> list[Scalar]:
    energy = algorithms.potential_energy(model.tree, q)
    return [energy + algorithms.spring_energy(model.tree, q) if "spring" in passive else energy]


def _center_of_mass(model: Form, q: Slots) -> Sequence[Scalar]:
    if model.mass == 0.0:
        raise ModelError(f"center_of_mass: {model.name!r} has no mass at all, so it has no centre of mass")
    return algorithms.center_of_mass(model.tree, q, model.mass).components()


KINETIC_ENERGY = Definition("kinetic_energy", (("q", "nq"), ("v", "nv")), (), _kinetic, regroups=True)
POTENTIAL_ENERGY = Definition(
    "potential_energy", (("q", "nq"),), (), _potential, {"passive": passive_option}, regroups=True
)
CENTER_OF_MASS = Definition("center_of_mass", (("q", "nq"),), (3,), _center_of_mass, regroups=True)


@defined_plainly_by(KINETIC_ENERGY)
def kinetic_energy(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The kinetic energy, vᵀ M v / 2, including rotors.

    Args:
        out: where to put the result, (…), of the result's dtype.

    Returns:
        Energy (…); J.

    Source: Featherstone, RBDA (2008), eq. 2.67.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> float(kt.kinetic_energy(robot, [0.3, 0.1], [0.0, 0.0]))
    0.0
    """
    return run(KINETIC_ENERGY, robot, (q, v), parameters=parameters, out=out, threads=threads)


@defined_plainly_by(POTENTIAL_ENERGY)
def potential_energy(
    robot: Model,
    q: ArrayLike,
    *,
    passive: Passive = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The potential energy in gravity, zero with the centre of mass at the world's origin, and of springs if requested.

    Args:
        passive: True, or a list that contains "spring", adds the energy stored in the joints' springs. Other passive
            forces, named as for `aba`, store nothing.
        out: where to put the result, (…), of the result's dtype.

    Returns:
        Energy (…); J. The mass of a fixed base counts.

    Raises:
        ShapeError, DTypeError, ConfigurationError, OptionError: as for `aba`.

    Source: -m g · c, with the centre of mass c; k/2 |q - rest|² for springs.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> bool(kt.potential_energy(robot, [3.14, 0.0]) > kt.potential_energy(robot, [0.0, 0.0]))
    True
    """
    options = switched_on(robot, passive)
    return run(POTENTIAL_ENERGY, robot, (q,), parameters=parameters, out=out, threads=threads, **options)


@defined_plainly_by(CENTER_OF_MASS)
def center_of_mass(
    robot: Model,
    q: ArrayLike,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The position of the centre of mass, including the mass of a fixed base.

    Args:
        out: where to put the result, (…, 3), of the result's dtype.

    Returns:
        Position (…, 3) in the world; m.

    Raises:
        ModelError: the robot has no mass.

    Source: the first moment of mass, passed from each body to its parent.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> kt.center_of_mass(robot, robot.neutral()).shape
    (3,)
    """
    return run(CENTER_OF_MASS, robot, (q,), parameters=parameters, out=out, threads=threads)
