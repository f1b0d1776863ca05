"""The same robot in other body axes: every joint in the axes that suit it best.

A joint about any axis is a joint about z in the right coordinates, so all revolute joints become one kind, and a
general axis costs no more than z. Joint coordinates, forces and rates are unchanged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from kinetree.model.elements import Body, Frame, Named
from kinetree.model.model import Model
from kinetree.spatial import Transform

__all__ = ["aligned"]

T = TypeVar("T", Body, Frame)
_NO_TURN = Transform.identity()


def aligned(model: Model) -> Model:
    """The robot with each body's axes turned as its joint's `aligned` has them; frames stay where they are.

    The very same constants, if its axes are so already.
    """
    tree = model.tree
    kinds, turns = zip(*(kind.aligned() for kind in tree.joint), strict=True)
    if all(turn == _NO_TURN for turn in turns):
        return replace(model, tree=replace(tree, joint=tuple(kinds)))
    back = [turn.inverse for turn in turns]
    X_T, inertia, rotor = list(tree.X_T), list(tree.I), list(tree.rotor)
    for i, p in tree.outward:
        rotor[i] = tuple(turns[i].E @ couple for couple in tree.rotor[i])
        X_T[i] = (turns[i] @ tree.X_T[i] @ back[p]).factored()
        inertia[i] = back[i].back(tree.I[i])

    def turned(part: T) -> T:
        return replace(part, placement=part.placement @ back[part.slot])

    return replace(
        model,
        tree=replace(tree, joint=tuple(kinds), X_T=tuple(X_T), I=tuple(inertia), rotor=tuple(rotor)),
        bodies=Named("body", {name: turned(body) for name, body in model.bodies.items()}),
        frames=Named("frame", {name: turned(frame) for name, frame in model.frames.items()}),
    )
