"""`kinetree simulate --compare mujoco`: a motion beside MuJoCo, step after step."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import typer

from kinetree.cli.output import output_console
from kinetree.progress import progress_bar

if TYPE_CHECKING:
    from kinetree.model import Model
    from kinetree.sim import Trajectory

__all__ = ["check_peer", "compare_with"]

_DIFFERENT = 1


def check_peer(contact: str | None) -> None:
    """Raise a usage error before a long motion is computed, if there is nothing to compare it with."""
    if contact in ("compliant", "rigid"):
        raise typer.BadParameter(
            f"MuJoCo has no contacts like those of --contact {contact}; compare with --contact mujoco",
            param_hint="--compare",
        )
    if find_spec("mujoco") is None:
        raise typer.BadParameter("mujoco is not installed (pip install mujoco)", param_hint="--compare")


def compare_with(robot: Model, trajectory: Trajectory, quiet: bool, *, contact: bool | str, passive: Any) -> None:
    """Print where the two part, and exit with 1 if they do."""
    from kinetree.comparison.steps import compare_steps

    motion = trajectory[0] if trajectory.shape else trajectory
    with progress_bar("comparing", quiet=quiet) as show:
        result = compare_steps(robot, motion, contact=contact, passive=passive, progress=show)
    if not quiet:
        output_console().print(str(result), markup=False, soft_wrap=True)
    if result.parting is not None:
        raise typer.Exit(_DIFFERENT)
