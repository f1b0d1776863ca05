"""Singularities of coordinates: the condition of each joint's motion subspace, and the switch to other coordinates.

Users access these as `Model.conditioning`, `Model.near_singular` and `Model.rechart`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ConfigurationError
from kinetree.inputs import common_axes
from kinetree.joints import JointKind
from kinetree.model.elements import Joint
from kinetree.model.robot import Robot

__all__ = ["conditioning", "rechart", "refuse_singular"]

Array = NDArray[np.float64]

_SINGULAR = 1e-6
"""A joint whose condition is below it leaves no digits of an acceleration, not even in single precision."""


def conditioning(model: Robot, q: Array) -> Array:
    """For each joint, smallest over largest singular value of S(q), its columns at comparable lengths."""
    coordinates: list[Any] = [q[..., k] for k in range(model.nq)]
    pieces = model.tree.split(coordinates, "nq")[1:]
    result = np.empty((*q.shape[:-1], len(model.joints)))
    for k, (kind, piece) in enumerate(zip(model.tree.joint[1:], pieces, strict=True)):
        result[..., k] = _of_subspace(kind, list(piece), q.shape[:-1])
    return result


def refuse_singular(function: str, model: Robot, q: Array, wrong: NDArray[np.bool_], name: str) -> None:
    """Raise if a joint is singular in one of the samples of q (…, nq) whose results (…,) are wrong."""
    shape = np.broadcast_shapes(q.shape[:-1], wrong.shape)
    wrong = np.broadcast_to(wrong, shape)
    q = np.broadcast_to(q, (*shape, model.nq))
    for index in map(tuple, np.argwhere(wrong & np.isfinite(q).all(axis=-1)).tolist()):
        values = conditioning(model, q[index].astype(np.float64))
        if (values < _SINGULAR).any():
            joint = list(model.joints.values())[int(np.argmin(values))]
            where = "".join(f"[{k}]" for k in index)
            raise ConfigurationError(
                f"{function}: {name}{where} has joint {joint.name!r} ({joint.kind.description}) at a singularity of "
                "its coordinates, where some of their rates do not move it, so no accelerations follow from forces; "
                "move it away from there (robot.near_singular says which joints are close), or use a joint without "
                "singularities, such as Spherical or Free"
            )


def _of_subspace(kind: JointKind, q: list[Any], shape: tuple[int, ...]) -> Array:
    S = np.zeros((*shape, 6, kind.nv))
    for c, column in enumerate(kind.calc(q, [0.0] * kind.nv).S.columns):
        for row, x in enumerate(column.linear_first()):
            S[..., row, c] = x
    # Metres are not compared with radians. A column that is negligible among others of its kind is a singularity.
    lengths = np.linalg.norm(S, axis=-2)
    turning = S[..., 3:, :].any(axis=-2)
    longest = (np.where(sort, lengths, 0.0).max(axis=-1, keepdims=True) for sort in (turning, ~turning))
    scale = np.where(turning, *longest)[..., None, :]
    S = np.divide(S, scale, out=np.zeros_like(S), where=scale > 0.0)
    sizes = np.linalg.svd(S, compute_uv=False)
    smallest, largest = sizes[..., -1], sizes[..., 0]
    ratio: Array = np.divide(smallest, largest, out=np.zeros_like(largest), where=largest > 0.0)
    return ratio


def rechart(model: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    """The same state, with every joint that supports it moved to coordinates far from their singularities."""
    shape = common_axes("rechart", {"q": q.shape[:-1], "v": v.shape[:-1]})
    q, v = (np.broadcast_to(x, (*shape, x.shape[-1])).copy() for x in (q, v))
    for owner in model.owners:
        if not (isinstance(owner, Joint) and owner.kind.recharts):
            continue
        parts = (q, owner.q_slice), (v, owner.v_slice)
        own = ([x[..., k].copy() for k in range(x.shape[-1])[part]] for x, part in parts)
        for (x, part), moved in zip(parts, owner.kind.rechart(*own), strict=True):
            for k, numbers in zip(range(x.shape[-1])[part], moved, strict=True):
                x[..., k] = numbers
    return q, v
