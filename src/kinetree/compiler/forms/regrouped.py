"""Base inertial parameters: the same dynamics from fewer numbers.

The part of a body's inertia that its joint's motion does not reveal is moved to the parent, tips first. Joint forces,
joint accelerations, the mass matrix, and sums over all bodies such as momentum, energy and mass, are unchanged
(exactly, except for rounding); quantities of a single body, and the wrenches between bodies, are not. A parameter that
is an input of the function is moved only if this does not turn a constant of the parent into an extra sum for every
sample.

Source: Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of serial robots" (1990).
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.compiler.forms.form import Form
from kinetree.expr import Symbol
from kinetree.model.elements import Body, Frame, Named
from kinetree.model.model import Model
from kinetree.records import record
from kinetree.spatial import Inertia
from kinetree.tree import Tree, UnrolledTree

__all__ = ["regrouped", "with_regrouped_inertias"]


def with_regrouped_inertias(model: Form) -> Form:
    """The robot with regrouped inertias in its tree, for an algorithm; everything else is that of the robot itself."""
    return _RegroupedForm(
        model.name, regrouped(model.tree), model.frames, model.bodies, model.mass, model.driven_nv, model.one_by_one
    )


@record(frozen=True, slots=True)
class _RegroupedForm:
    """A `Form` with another tree. Its mass is not the new tree's, whose sum may round differently."""

    name: str
    tree: Tree
    frames: Named[Frame]
    bodies: Named[Body]
    mass: float
    driven_nv: int
    one_by_one: Model


def regrouped(tree: Tree) -> Tree:
    """The tree with inertias regrouped toward the root, many of their components exactly zero."""
    return tree.rebuilt(_regrouped)


def _regrouped(tree: UnrolledTree) -> UnrolledTree:
    inertia = list(tree.I)
    for i, p in tree.inward:
        unseen = tree.joint[i].unseen(inertia[i])
        handed = tree.X_T[i].back(unseen)
        if _has_inputs(handed) and not _has_inputs(inertia[p]):
            continue
        inertia[i] = inertia[i] - unseen
        inertia[p] = inertia[p] + handed
    return replace(tree, I=tuple(inertia))


def _has_inputs(inertia: Inertia) -> bool:
    numbers = (inertia.mass, *inertia.h.components(), *inertia.I.components())
    return any(isinstance(x, Symbol) for x in numbers)
