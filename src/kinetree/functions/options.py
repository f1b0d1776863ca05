"""Options shared by several functions: which frame, in which coordinates, which kind of acceleration."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal

from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.inputs import chosen_word
from kinetree.model import Body, Frame, Model
from kinetree.spatial import Motion, Transform
from kinetree.tree.matrices import Rows

__all__ = [
    "ExpressedIn",
    "Kind",
    "classical",
    "express",
    "expressed_in_option",
    "frame_option",
    "kind_option",
    "one_of",
    "rows_of_bodies",
]

ExpressedIn = Literal["local", "world", "local_world_aligned"]
Kind = Literal["spatial", "classical"]


def frame_option(model: Model, name: Any) -> Frame:
    if not isinstance(name, str):
        raise OptionError(f"frame must be a name, such as {model.root!r}, not {name!r:.60}")
    return model.frames[name]


def one_of(option: str, *allowed: str) -> Callable[[Model, Any], Hashable]:
    def check(_: Model, value: Any) -> str:
        return chosen_word(option, value, *allowed)

    return check


expressed_in_option: Callable[[Model, Any], Hashable] = one_of("expressed_in", "local", "world", "local_world_aligned")
kind_option: Callable[[Model, Any], Hashable] = one_of("kind", "spatial", "classical")


def express(m: Motion, X: Transform, expressed_in: str) -> Motion:
    """Express a motion, given in a frame's coordinates, in others; X leads from the world's to the frame's."""
    if expressed_in == "world":
        return X.back(m)
    if expressed_in == "local_world_aligned":
        return Motion(X.E.T @ m.angular, X.E.T @ m.linear)
    return m


def seen_from_body(placement: Transform, X_0: Transform, expressed_in: str) -> Transform:
    """From the requested coordinates of a frame, by its placement on a body, to those of the body, to which X_0 leads
    from the world's: `.back` then takes forces and inertias to the requested coordinates."""
    if expressed_in == "local":
        return placement.inverse
    if expressed_in == "world":
        return X_0
    return Transform(X_0.E, -(X_0.E.T @ placement.r))


def rows_of_bodies(
    rows: Rows,
    bodies: Iterable[tuple[int, Body]],
    X_0: Sequence[Transform],
    quantities: Sequence[Any],
    expressed_in: str,
) -> list[Scalar]:
    """One row per body: its force or inertia, by slot, in the requested coordinates."""
    for k, body in bodies:
        X = seen_from_body(body.placement, X_0[body.slot], expressed_in)
        rows[k] = X.back(quantities[body.slot]).linear_first()
    return rows.flat()


def classical(a: Motion, v: Motion) -> Motion:
    """The acceleration of the body-fixed point at the origin: RBDA eq. 2.45, inverted."""
    return Motion(a.angular, a.linear + v.angular.cross(v.linear))
