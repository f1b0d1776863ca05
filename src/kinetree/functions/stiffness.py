"""The search for the fastest decay by friction, or swing of springs, at several configurations of a motion in turn.

This is not public: `kinetree.sim` calls it.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.model import Model

__all__ = ["stiffest"]


def _stiffest(
    model: Form, u: Slots, _: Sequence[Scalar], q: Slots, seed: Slots, weights: Sequence[Scalar]
) -> tuple[Slots, list[Scalar]]:
    following, value = algorithms.stiffest_round(model.tree, q, u, seed, weights)
    return following, [value]


STIFFEST = Definition(
    "simulate",
    (("u", "nv"), ("value", 1), ("q", "nq"), ("seed", "nv"), ("weights", 3)),
    (),
    _stiffest,
    divides_by_inertia=True,
    regroups=True,
    is_step=True,
    has_length=False,
)


@defined_by(STIFFEST)
def stiffest(robot: Model, u: ArrayLike, value: ArrayLike, q: ArrayLike, seed: ArrayLike, weights: ArrayLike) -> Array:
    """Rounds of power iteration for the largest eigenvalue of M(q)⁻¹ Gᵀ C G, each from where the last one ended.

    Args:
        u: the eigenvector so far (…, nv).
        value: the eigenvalue so far (…, 1), which is not used.
        q: the configuration of each round (…, T, nq).
        seed: what is added to the vector C^½ G u before each round, as G times it (…, T, nv).
        weights: of damping, friction where it is steepest, and stiffness in C (…, T, 3).

    Returns:
        [u, value] after each round (…, T, nv + 1); C^½ G u has the length 1.
    """
    return run(STIFFEST, robot, (u, value, q, seed, weights))
