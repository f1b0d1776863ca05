"""`kinetree view`: robots and motions in the browser, as a picture, or as a page in a file."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinetree.cli import options
from kinetree.cli.interruption import Interruption
from kinetree.cli.output import print_lines, print_note, warnings_as_lines
from kinetree.cli.robots import Loading, load_robot, takes_loading_options
from kinetree.cli.values import parse_values
from kinetree.files import check_target

if TYPE_CHECKING:
    from kinetree.viewer import Viewer

__all__ = ["announce", "view"]

_MOMENTS = 5
"""How many moments of a motion are in a picture."""


@takes_loading_options()
def view(
    context: typer.Context,
    shown: options.Shown,
    beside: options.SecondMotion = None,
    q: options.RestQ = None,
    robot: options.MotionRobot = None,
    shapes: options.DrawnShapes = options.Shapes.visual,
    samples: options.SeenSamples = options.SideBySide.ghosts,
    show: options.ShownParts = None,
    picture: options.Picture = None,
    html: options.Html = None,
    host: options.Host = "127.0.0.1",
    allow_host: options.AllowHost = None,
    port: options.Port = None,
    browser: options.Browser = None,
    *,
    loading: Loading,
) -> None:
    """Show a robot or a motion in the browser, until Ctrl-C.

    A robot at rest has sliders for its joints, a motion a slider for the time; switches show collision shapes, frames,
    joint axes, contacts, velocities and names.
    """
    for target in (picture, html):
        if target is not None:
            check_target(target)
    looks: dict[str, Any] = {"shapes": shapes.value, "samples": samples.value, "show": show or ()}
    subject = _subject(shown, beside, q, robot, loading, looks)
    if picture is not None or html is not None:
        _write(subject, looks, picture, html)
        return
    from kinetree.viewer import view as page

    with warnings_as_lines():
        viewer = page(subject, host=host, port=port, allow_hosts=allow_host or (), **looks)
    with viewer:
        _serve(viewer, browser, Interruption.of(context))


def _subject(
    shown: str, second: Path | None, q: str | None, robot: str | None, loading: Loading, looks: dict[str, Any]
) -> Any:
    """The robot, the motion or the motions that the arguments name; `looks` gets the options that belong to them."""
    if not _is_motion(shown):
        if second is not None:
            raise typer.BadParameter(
                f"{shown} is a robot, which is shown alone; kinetree compare compares two robots", param_hint="OTHER"
            )
        subject = load_robot(shown, loading)
        looks["q"] = None if q is None else parse_values("--q", q, subject.q_names, subject.neutral(), subject.name)
        return subject
    if q is not None:
        raise typer.BadParameter("a motion has its own configurations; --q is for robots at rest", param_hint="--q")
    looks["robot"] = None if robot is None else load_robot(robot, loading)
    from kinetree.sim import load_trajectory

    motions = [load_trajectory(name) for name in (shown, second) if name is not None]
    return motions if second is not None else motions[0]


def _is_motion(name: str) -> bool:
    return name.endswith(".npz") or os.path.exists(os.path.join(name, "motion.json"))


def _picture(seen: Any, looks: dict[str, Any], path: Path) -> Path:
    """A picture of the robot, or of a few moments of the first motion."""
    from kinetree.pictures.render import render
    from kinetree.viewer.subject import subject_of

    subject = subject_of("view", seen, **looks)
    q = subject.motions[0].some(_MOMENTS) if subject.motions else subject.q
    return render(subject.robot, q, shapes=looks["shapes"], samples="ghosts", path=path)


def _write(subject: Any, looks: dict[str, Any], picture: Path | None, html: Path | None) -> None:
    from kinetree.viewer import save_html

    with warnings_as_lines():
        if html is not None:
            print_lines(f"wrote {save_html(html, subject, **looks)}")
        if picture is not None:
            print_lines(f"wrote {_picture(subject, looks, picture)}")


def _serve(viewer: Viewer, browser: bool | None, interruption: Interruption) -> None:
    interruption.outcome = "; the page is closed"
    announce(repr(viewer.robot.name), viewer.url, browser)
    viewer.wait()


def announce(shown: str, url: str, browser: bool | None = None) -> None:
    """Say where the page is, and open it if there is a screen."""
    print_lines(f"showing {shown} at {url} (Ctrl-C ends it)")
    if not open_in_browser(url, browser):
        print_note(f"no browser could be opened; open {url} in one, or write the page to a file with --html")
    sys.stdout.flush()


def open_in_browser(address: str, browser: bool | None) -> bool:
    """Open a page, by default if there is a screen; False if it should be open and is not."""
    if browser is False or (browser is None and not _has_screen()):
        return True
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return sys.stdout.isatty()
    return sys.stdout.isatty() and bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
