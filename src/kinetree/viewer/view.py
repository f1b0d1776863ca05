"""`kt.view`: from robots and motions to a page in the browser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from kinetree.appearance.looks import warn_of_unseen
from kinetree.model import Model
from kinetree.viewer.server import LOOPBACK, started
from kinetree.viewer.subject import subject_of
from kinetree.viewer.viewer import Viewer

__all__ = ["view"]


def view(
    shown: Any,
    *,
    q: ArrayLike | None = None,
    robot: Model | None = None,
    shapes: Literal["visual", "collision", "both"] = "visual",
    samples: Literal["one", "ghosts", "side by side"] = "ghosts",
    show: Iterable[str] = (),
    parameters: Mapping[str, ArrayLike] | None = None,
    host: str = LOOPBACK,
    port: int | None = None,
    allow_hosts: Sequence[str] = (),
) -> Viewer:
    """Show a robot, a motion or several motions in the browser.

    A server on this machine makes the page; `viewer.url` is its address. A robot at rest has sliders for its
    coordinates, a motion a slider for the time, and switches show collision shapes, frames, joint axes, the centre of
    mass, contacts, velocities and names.

    Args:
        shown: a robot; or a motion, such as `kt.simulate` returns or `kt.load_trajectory` opens; or a list of motions,
            which run together: the first as it looks, the others in one colour and seen through.
        q: where a robot at rest is first, (nq,), or (samples, nq) for several samples. By default where its file
            places it, or `robot.neutral()`.
        robot: the robot of motions that do not have theirs, because they were read from files of an old version.
        shapes: "visual", "collision" or "both".
        samples: how several samples of a batch are seen: "one" of them, the others as "ghosts", or "side by side".
        show: overlays that are on at first: "frames", "axes", "center of mass", "contacts", "velocities", "names".
        parameters: values that override some of the robot's parameters, such as {"body.NAME.placement": (7,)}, one for
            all samples: those that a motion was simulated with.
        host: the address to listen on; pages can be opened on this machine only unless it is another one, such as
            "0.0.0.0". The page's address then has a secret in it: whoever knows it can move the robot.
        port: the port to listen on; the first free one from 8080 on if None, any free one if 0.
        allow_hosts: names under which browsers may open the page, such as ["lab.example.org"] for a proxy in front of
            it, in addition to localhost and the names and numbers of this machine. Requests under other names are
            rejected, and so are those of pages from elsewhere.

    Returns:
        The page, which is there until its `close` is called or Python ends.

    Raises:
        MissingPackageError: viser is not installed.
        OptionError: an option has none of its values, a port is in use, or a motion does not have its robot.
        ShapeError, DTypeError, ConfigurationError: q is not a configuration of the robot; or parameters are wrong.
        NameNotFoundError: the robot has no such parameter.

    >>> import kinetree as kt
    >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.1)
    >>> with kt.view(motion, port=0) as viewer:
    ...     viewer.set_time(0.05)
    """
    subject = subject_of("view", shown, q=q, robot=robot, shapes=shapes, samples=samples, show=show,
        parameters=parameters)  # fmt: skip
    server = started(host, port, allow_hosts)
    try:
        viewer = Viewer(server, subject)
    except BaseException:
        server.stop()
        raise
    warn_of_unseen(viewer.unseen, "viewer.unseen")
    return viewer
