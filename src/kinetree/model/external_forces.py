"""External forces: on which frame, in which axes, and in which form.

A `WrenchOn` or a `ForceOn` is a key of `f_ext=`, or an entry of its list in `kinetree.compile`; a frame's name alone is
a wrench in the frame's own axes. They are plain records: hashable, comparable, and the same for every robot with a
frame of this name. `acting` looks up the frame in one robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from kinetree.errors import OptionError
from kinetree.inputs import plain
from kinetree.model.elements import Frame, Named
from kinetree.records import record

__all__ = ["Acting", "ExternalForces", "ForceKey", "ForceOn", "WrenchOn", "acting", "is_force_key"]

_WAYS = ("local", "world", "local_world_aligned")


@record(frozen=True, slots=True, repr=False)
class _OnFrame:
    frame: str
    expressed_in: str = "local"

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if not isinstance(self.frame, str):
            raise OptionError(f"{kind}: frame must be the name of a frame, not {self.frame!r:.60}")
        if not isinstance(self.expressed_in, str) or self.expressed_in not in _WAYS:
            raise OptionError(
                f"{kind}: expressed_in must be 'local', 'world' or 'local_world_aligned', not {self.expressed_in!r:.60}"
            )
        for name in ("frame", "expressed_in"):
            object.__setattr__(self, name, plain(getattr(self, name)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.frame!r}, {self.expressed_in!r})"


@record(frozen=True, slots=True, repr=False)
class WrenchOn(_OnFrame):
    """An external wrench on a frame, [f; n] (…, 6); N, N·m.

    Attributes:
        frame: the name of the frame.
        expressed_in: "local" for the frame's axes and about its origin, as for the frame's name alone;
            "local_world_aligned" for the world's axes and about the frame's origin; "world" for the world's axes and
            about the world's origin.

    Raises:
        OptionError: frame is not a name, or expressed_in is not one of the three.

    The weight of a payload in the hand, which stays vertical however the hand turns:

    >>> import kinetree as kt
    >>> arm = kt.zoo.load("arm6")
    >>> weight = {kt.dynamics.WrenchOn("tool", "local_world_aligned"): [0.0, 0.0, -9.81, 0.0, 0.0, 0.0]}
    >>> kt.rnea(arm, arm.neutral(), [0.0] * 6, [0.0] * 6, f_ext=weight).shape
    (6,)
    """


@record(frozen=True, slots=True, repr=False)
class ForceOn(_OnFrame):
    """An external force at a point of a frame's body: [f; p] (…, 6), the force and the point; N, m.

    Attributes:
        frame: the name of the frame.
        expressed_in: "local" for a force in the frame's axes; "local_world_aligned" for one in the world's; for both
            the point is fixed in the frame, and given in its coordinates. "world": both in the world's coordinates, so
            the line of action stays where it is while the body moves.

    Raises:
        OptionError: frame is not a name, or expressed_in is not one of the three.

    >>> import kinetree as kt
    >>> kt.dynamics.ForceOn("tool", "world")
    ForceOn('tool', 'world')
    """


ForceKey = str | WrenchOn | ForceOn
ExternalForces = Mapping[Any, ArrayLike]
"""Numbers (…, 6) by `ForceKey`."""


def is_force_key(key: object) -> bool:
    """Whether it says on which frame an external force acts."""
    return isinstance(key, ForceKey)


@record(frozen=True, slots=True)
class Acting:
    """An external force of one robot."""

    key: ForceKey
    """As it was given; a name is a wrench in the frame's own axes."""
    frame: Frame
    expressed_in: str
    at_point: bool

    @property
    def turns(self) -> bool:
        """Whether its components in the body's own axes depend on the configuration."""
        return self.expressed_in != "local"


def acting(frames: Named[Frame], key: Any) -> Acting:
    """Look up one external force of a robot with these frames.

    Raises:
        NameNotFoundError: the robot has no such frame.
    """
    if isinstance(key, WrenchOn | ForceOn):
        return Acting(key, frames[key.frame], key.expressed_in, isinstance(key, ForceOn))
    return Acting(plain(key), frames[key], "local", at_point=False)
