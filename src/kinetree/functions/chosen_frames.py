"""Functions of several frames at once: which frames, about which point of each, and the rows of the result."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from kinetree.compiler.forms.form import Form
from kinetree.errors import OptionError
from kinetree.expr import is_zero
from kinetree.functions.options import one_of
from kinetree.model import Body, Frame, Model
from kinetree.spatial import Mat3, Transform
from kinetree.tree.matrices import Rows

__all__ = ["CHOICE", "About", "Names", "asked", "frame_count", "frame_rows", "numbered_frames", "row_per_frame"]

About = Literal["origin", "center_of_mass"]
Names = tuple[str, ...] | None


def _frames_option(model: Model, value: Any) -> Hashable:
    """The names of frames, in the order given; None for all bodies."""
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence):
        hint = f", such as [{value!r}]" if isinstance(value, str) else ""
        raise OptionError(f"frames must be a list of names{hint}, or None for all bodies, not {value!r:.60}")
    if not value:
        raise OptionError("frames is empty, so there would be no result; name at least one, or leave it out for all")
    return tuple(model.frames[name].name for name in value)


_DEFAULT = "origin"
_NONE: dict[str, Any] = {}
_one_of_them = one_of("about", "origin", "center_of_mass")


def _about_option(model: Model, value: Any) -> Hashable:
    """The point of each frame; its origin for None."""
    return "origin" if value is None else _one_of_them(model, value)


CHOICE = {"frames": _frames_option, "about": _about_option}
"""The options of functions of several frames."""


def asked(frames: Any, about: Any) -> dict[str, Any]:
    """The options of a call that are not the defaults, so that a call without any finds its kernel fastest."""
    if frames is None and about is _DEFAULT:  # the usual call
        return _NONE
    options: dict[str, Any] = {}
    if frames is not None:
        options["frames"] = tuple(frames) if isinstance(frames, list) else frames
    if not isinstance(about, str) or about != _DEFAULT:
        options["about"] = about
    return options


def frame_count(model: Model, frames: Names) -> int:
    """How many frames are chosen."""
    return len(model.bodies) if frames is None else len(frames)


def row_per_frame(*shape: int | str) -> Callable[[Model, Mapping[str, Any]], tuple[int | str, ...]]:
    """The shape of a result with such an array per frame."""
    return lambda model, options: (frame_count(model, options["frames"]), *shape)


def frame_rows(model: Form, frames: Names) -> Rows:
    """An empty result with one row per frame."""
    from kinetree.compiler.forms.bodies import body_rows
    from kinetree.compiler.forms.rolled import RolledModel

    return body_rows(model) if frames is None or isinstance(model, RolledModel) else Rows(len(frames))


def numbered_frames(model: Form, frames: Names, about: str) -> Iterable[tuple[int, Body | Frame]]:
    """(k, frame k), with a placement about the chosen point: a slot, and the place of the frame's axes on its body."""
    from kinetree.compiler.forms.bodies import numbered_bodies
    from kinetree.compiler.forms.rolled import RolledModel

    if frames is None and about == "origin":
        return numbered_bodies(model)
    names = tuple(model.one_by_one.bodies) if frames is None else frames
    chosen = [model.frames[name] for name in names]
    if about == "center_of_mass":
        _need_bodies(model.one_by_one, chosen)
        chosen = [_at_its_center(frame, model.one_by_one.bodies[frame.name]) for frame in chosen]
    if isinstance(model, RolledModel):
        return cast(Iterable[tuple[int, Frame]], model.numbered_frames(chosen))
    return enumerate(chosen)


def _at_its_center(frame: Frame, body: Body) -> Frame:
    """The body's frame, moved to its own centre of mass; where it is if the body has no mass."""
    if is_zero(body.inertia.mass):
        return frame
    center = body.inertia.h * (1.0 / body.inertia.mass)
    return replace(frame, placement=Transform(Mat3.identity(), center) @ frame.placement)


def _need_bodies(robot: Model, frames: Sequence[Frame]) -> None:
    """Raise if one of the frames is not a body."""
    for frame in frames:
        if frame.name not in robot.bodies:
            raise OptionError(
                f"about='center_of_mass': {frame.name!r} is a frame on body {frame.body!r} and has no mass of its own; "
                "name the body in frames, or use about='origin'"
            )
