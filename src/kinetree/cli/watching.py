"""`kinetree simulate --view`: the page on which a motion is seen while it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.interruption import Interruption
from kinetree.cli.options import optional
from kinetree.cli.output import output_console, warnings_as_lines
from kinetree.cli.view import announce

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kinetree.model import Model
    from kinetree.viewer import Viewer

__all__ = ["OnPage", "Speed", "check_speed", "opened", "stays"]

OnPage = Annotated[
    bool,
    typer.Option(
        "--view",
        help="Show the motion in the browser while it is computed, in real time; its bodies can be pushed there with "
        "the mouse. The page stays until Ctrl-C.",
    ),
]
Speed = Annotated[
    float | None,
    optional(
        "--speed",
        help="How many seconds of the motion pass per second; inf for as fast as it goes.  [default: 1 with --view, "
        "otherwise inf]",
    ),
]


def check_speed(speed: float | None) -> None:
    """Refuse a speed that is not a positive number."""
    if speed is not None and not speed > 0.0:
        raise typer.BadParameter(f"it must be a positive number or inf, not {speed:g}", param_hint="--speed")


def opened(robot: Model, q: NDArray[np.float64] | None) -> Viewer:
    """The page of a robot where its motion begins, once it is open in a browser; or after some time."""
    from kinetree.sim.watched import PATIENCE
    from kinetree.viewer import view

    with warnings_as_lines():
        viewer = view(robot, q=q)
    announce(viewer)
    viewer.wait_for_somebody(PATIENCE)
    return viewer


def stays(viewer: Viewer, interruption: Interruption) -> None:
    """Let the page play the motion, which is written, until Ctrl-C."""
    with viewer:
        interruption.outcome = "; the page is closed"
        output_console().print(f"the motion is at {viewer.url} until Ctrl-C", markup=False, soft_wrap=True)
        viewer.wait()
