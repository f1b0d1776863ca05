"""Base inertial parameters: the same dynamics from fewer numbers.

What a joint's motion never shows of its body's inertia is handed to the parent, tips first. Joint forces, joint
accelerations and the mass matrix are unchanged (exactly, but for rounding); the wrenches between bodies are not,
nor is the total mass, so kinematic and energy functions keep the tree as it is.

Source: Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of serial robots" (1990).
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.model.tree import Tree

__all__ = ["regrouped"]


def regrouped(tree: Tree) -> Tree:
    """The tree with inertias regrouped toward the root, many of their components exactly zero."""
    return tree.rebuilt(_regrouped)


def _regrouped(tree: Tree) -> Tree:
    inertia = list(tree.I)
    for i, p in tree.inward:
        unseen = tree.joint[i].unseen(inertia[i])
        inertia[i] = inertia[i] - unseen
        inertia[p] = inertia[p] + tree.X_T[i].back(unseen)
    return replace(tree, I=tuple(inertia))
