"""The same robot in other body axes: every joint in the axes that suit it best.

A joint about any axis is a joint about z in the right coordinates, so all revolute joints become one kind, and a
general axis costs no more than z. A body whose frame is not at its joint (`Placed`) gets the joint's frame. Joint
coordinates, forces and rates are unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeVar

from kinetree.expr import Scalar, Symbol
from kinetree.joints import JointKind, Placed
from kinetree.model.elements import Body, Frame, Named
from kinetree.model.model import Model
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["aligned"]

T = TypeVar("T", Body, Frame)
_NO_TURN = Transform.identity()
_ROUNDING = 4e-15
"""Relative error bound of a quantity transformed to another frame and back."""


class _Change(NamedTuple):
    """A joint in other axes."""

    kind: JointKind
    fixed: Transform
    """From the axes of the joint's fixed side to the new ones."""
    moving: Transform
    """From the moving body's axes to the new ones."""


def aligned(model: Model) -> Model:
    """The robot with each body's axes as given by its joint's `aligned`; frames stay where they are.

    If the axes are already so, the constants are exactly the same.
    """
    tree = model.tree
    changes = [_change(kind) for kind in tree.joint]
    kinds = tuple(change.kind for change in changes)
    if all(change.fixed == _NO_TURN and change.moving == _NO_TURN for change in changes):
        return replace(model, tree=replace(tree, joint=kinds))
    back = [change.moving.inverse for change in changes]
    moved = [_length(kind.after.r) if isinstance(kind, Placed) else None for kind in tree.joint]
    X_T, inertia, rotor = list(tree.X_T), list(tree.I), list(tree.rotor)
    for i, p in tree.outward:
        rotor[i] = tuple(changes[i].fixed.E @ couple for couple in tree.rotor[i])
        X = changes[i].fixed @ tree.X_T[i] @ back[p]
        inertia[i] = back[i].back(tree.I[i])
        if moved[i] is not None or moved[p] is not None:
            X = _tidy_placement(X, _length(tree.X_T[i].r) + (moved[p] or 0.0))
        if (offset := moved[i]) is not None:
            inertia[i] = _tidy_inertia(inertia[i], offset)
        X_T[i] = X.factored()

    def turned(part: T) -> T:
        return replace(part, placement=part.placement @ back[part.slot])

    return replace(
        model,
        tree=replace(tree, joint=kinds, X_T=tuple(X_T), I=tuple(inertia), rotor=tuple(rotor)),
        bodies=Named("body", {name: turned(body) for name, body in model.bodies.items()}),
        frames=Named("frame", {name: turned(frame) for name, frame in model.frames.items()}),
    )


def _change(kind: JointKind) -> _Change:
    if isinstance(kind, Placed):
        inner, fixed, moving = _change(kind.kind)
        return _Change(inner, fixed @ kind.before, moving @ kind.after.inverse)
    own, turn = kind.aligned()
    return _Change(own, turn, turn)


def _tidy(x: Scalar, scale: float) -> Scalar:
    """Replace x by zero if it is within rounding error for numbers of this size."""
    return 0.0 if not isinstance(x, Symbol) and abs(x) <= _ROUNDING * scale else x


def _tidy_placement(X: Transform, scale: float) -> Transform:
    """Restore zeros and ones hidden by rounding: exact ones cost no operations, approximate ones would."""
    rows = []
    for row in (X.E.x, X.E.y, X.E.z):
        e = [_tidy(x, 1.0) for x in row.components()]
        renames = [not isinstance(x, Symbol) and abs(abs(x) - 1.0) <= _ROUNDING for x in e]
        rows.append(Vec3(*(round(float(x)) * 1.0 if one else x for x, one in zip(e, renames, strict=True))))
    return Transform(Mat3(*rows), Vec3(*(_tidy(x, scale) for x in X.r.components())))


def _tidy_inertia(inertia: Inertia, offset: float) -> Inertia:
    """Restore zeros of an inertia; `offset` is the distance the body's frame was moved."""
    I, mass = inertia.I.components(), inertia.mass
    size = max((abs(x) for x in I if not isinstance(x, Symbol)), default=0.0)
    moment = 0.0 if isinstance(mass, Symbol) else abs(mass) * offset
    h = Vec3(*(_tidy(x, moment) for x in inertia.h.components()))
    return Inertia(mass, h, Sym3(*(_tidy(x, size) for x in I)))


def _length(r: Vec3) -> float:
    return sum(abs(x) for x in r.components() if not isinstance(x, Symbol))
