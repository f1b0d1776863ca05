"""`kt.view`: from robots and motions to a page."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ModelWarning, OptionError, listed
from kinetree.model import Model
from kinetree.viewer.batch import Batch
from kinetree.viewer.motions import Frames
from kinetree.viewer.server import LOOPBACK, started, stopped
from kinetree.viewer.stage import ARRANGEMENTS, TINTS, Stage, configurations
from kinetree.viewer.switches import SWITCHES
from kinetree.viewer.viewer import Viewer

__all__ = ["view"]

_SHAPES = {"visual": ("visual",), "collision": ("collision",), "both": ("visual", "collision")}


def view(
    shown: Any,
    *,
    q: ArrayLike | None = None,
    robot: Model | None = None,
    shapes: Literal["visual", "collision", "both"] = "visual",
    samples: Literal["one", "ghosts", "side by side"] = "ghosts",
    show: Iterable[str] = (),
    host: str = LOOPBACK,
    port: int | None = None,
) -> Viewer:
    """Show a robot, a motion or several motions in the browser.

    A server on this machine makes the page, and prints nothing: `viewer.url` is its address. A robot at rest has
    sliders for its coordinates, a motion a slider for the time, and switches show collision shapes, frames, joint axes,
    the centre of mass, contacts, velocities and names.

    Args:
        shown: a robot; or a motion, such as `kt.simulate` returns or `kt.Trajectory.load` reads; or a list of motions,
            which run together: the first as it looks, the others in one colour and seen through.
        q: where a robot at rest is first, (nq,), or (samples, nq) for several samples; neutral if None.
        robot: the robot of motions that do not know theirs, because they were read from files of an old version.
        shapes: "visual", "collision" or "both".
        samples: how several samples of a batch are seen: "one" of them, the others as "ghosts", or "side by side".
        show: what else is on at first: "frames", "axes", "center of mass", "contacts", "velocities", "names".
        host: the address to listen on; pages can be opened on this machine only unless it is another one, such as
            "0.0.0.0". Whoever can open the page can move the robot on it.
        port: the port to listen on; the first free one from 8080 on if None, any free one if 0.

    Returns:
        The page, which is there until its `close` is called or Python ends.

    Raises:
        MissingPackageError: viser is not installed.
        OptionError: an option has none of its values, a port is in use, or a motion does not know its robot.
        ShapeError, DTypeError, ConfigurationError: q is no configuration of the robot.

    >>> import kinetree as kt
    >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.1)
    >>> with kt.view(motion, port=0) as viewer:
    ...     viewer.set_time(0.05)
    """
    if shapes not in _SHAPES:
        raise OptionError(f"shapes is {', '.join(map(repr, _SHAPES))}, not {shapes!r:.60}")
    if samples not in ARRANGEMENTS:
        raise OptionError(f"samples is {', '.join(map(repr, ARRANGEMENTS))}, not {samples!r:.60}")
    wanted = [show] if isinstance(show, str) else list(show)
    if unknown := [name for name in wanted if name not in SWITCHES]:
        raise OptionError(f"show takes {', '.join(map(repr, SWITCHES))}, and not {unknown[0]!r:.60}")
    on = {name: name in (*_SHAPES[shapes], "ground", *wanted) for name in SWITCHES}
    if isinstance(shown, Model):
        place, motions = configurations(shown, q), []
        count = len(place)
    else:
        motions = [Frames(motion, robot) for motion in (shown if isinstance(shown, Sequence) else [shown])]
        if not motions:
            raise OptionError("view takes a robot, a motion, or a list of at least one motion, and the list is empty")
        if q is not None:
            raise OptionError("q is where a robot at rest is; a motion has its own configurations")
        place, count = np.empty((0, 0)), motions[0].count
    server = started(host, port)
    try:
        scene = server.scene
        if not motions:
            stages = [Stage(scene, "", shown, place)]
        else:
            stages = [
                Stage(
                    scene,
                    f"/motion {k + 1}" if k else "",
                    one.robot,
                    one.some(),
                    TINTS[(k - 1) % len(TINTS)] if k else None,
                )
                for k, one in enumerate(motions)
            ]
        viewer = Viewer(server, stages, motions, Batch(count, samples), on, place)
    except BaseException:
        stopped(server)
        raise
    if viewer.unseen:
        lost = listed((f"{one.part}: {one.reason}" for one in viewer.unseen), 3, "; ")
        warnings.warn(f"not everything is drawn; viewer.unseen has the list: {lost}", ModelWarning, stacklevel=2)
    return viewer
