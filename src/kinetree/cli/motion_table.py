"""The printed summary of a motion: where its energy went; of several motions, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from kinetree.sim import Trajectory

__all__ = ["document", "summary"]

_ROUNDING = 1e-12
"""The part of the largest energy of a motion below which another is a rounding error."""
_SHOWN = 20
"""Motions that have a line of their own."""


def summary(trajectory: Trajectory, seconds: float, *, touches: bool) -> Table:
    """The table of one motion, or of a batch (N,) of them.

    `seconds` is how long they took to compute, and `touches` says whether contacts take energy, too.
    """
    lost = "lost to friction and contacts" if touches else "lost to friction"
    return (_each if trajectory.shape else _energies)(trajectory, seconds, lost)


def document(trajectory: Trajectory, seconds: float) -> dict[str, Any]:
    """The table for JSON, not rounded; of several motions, lists with a number per motion."""
    import numpy as np

    energies = {name: getattr(trajectory, name) for name in ("kinetic", "potential", "total")}
    return {
        "robot": trajectory.robot, "motions": list(trajectory.shape), "dt": trajectory.dt,
        "steps": len(trajectory.time) - 1, "substeps": trajectory.substeps, "step_counts": trajectory.step_counts,
        "integrator": trajectory.integrator, "seconds": seconds, "ended": trajectory.ended,
        "energy": {
            **{name: {"start": x[..., 0], "end": x[..., -1]} for name, x in energies.items()},
            "work": trajectory.work[..., -1], "dissipated": trajectory.dissipated[..., -1],
            "balance_error": trajectory.balance_error[..., -1],
            "largest_balance_error": np.abs(trajectory.balance_error).max(axis=-1),
        },
    }  # fmt: skip


def _energies(trajectory: Trajectory, seconds: float, lost: str) -> Table:
    """A table with the run in one line, and the energy balance."""
    import numpy as np
    from rich.table import Table

    table = Table(title=_title(trajectory, seconds), title_justify="left", title_style="bold")
    for heading in ("energy, J", "start", "end", "change"):
        table.add_column(heading, justify="left" if heading == "energy, J" else "right")
    all_of_it = np.concatenate([trajectory.kinetic, trajectory.potential, trajectory.work])
    largest = float(np.abs(all_of_it[np.isfinite(all_of_it)]).max(initial=0.0))
    for name in ("kinetic", "potential", "total"):
        series = getattr(trajectory, name)
        with np.errstate(invalid="ignore"):  # infinite energies are shown as such
            texts = [_rounded(x, largest) for x in (series[0], series[-1], series[-1] - series[0])]
        table.add_row(name, *(f"{x:{sign}.6g}" for x, sign in zip(texts, ("", "", "+"), strict=True)))
    table.add_section()
    table.add_row("work of the torques", "", "", f"{_rounded(trajectory.work[-1], largest):+.6g}")
    table.add_row(lost, "", "", f"{_rounded(-trajectory.dissipated[-1], largest):+.6g}")
    table.add_section()
    worst = float(np.abs(trajectory.balance_error).max())
    table.add_row("balance error, end", "", "", f"{trajectory.balance_error[-1]:+.2g}")
    table.add_row("balance error, largest", "", "", f"{worst:.2g}")
    return table


def _rounded(energy: float, largest: float) -> float:
    """An energy as it is printed: zero if it is a rounding error relative to the largest of the motion."""
    return 0.0 if abs(energy) <= _ROUNDING * largest else float(energy)


def _each(trajectory: Trajectory, seconds: float, lost: str) -> Table:
    """A line per motion, then the least, the median and the most of all."""
    import numpy as np
    from rich.table import Table

    columns = {
        "kinetic, end": trajectory.kinetic[:, -1],
        "kinetic, most": trajectory.kinetic.max(axis=1),
        "potential, change": trajectory.potential[:, -1] - trajectory.potential[:, 0],
        "work of the torques": trajectory.work[:, -1],
        lost: 0.0 - trajectory.dissipated[:, -1],
        "balance error, largest": np.abs(trajectory.balance_error).max(axis=1),
    }
    table = Table(title=_title(trajectory, seconds), title_justify="left", title_style="bold")
    for heading in ("energy, J", *columns):
        table.add_column(heading, justify="right")
    count = trajectory.shape[0]
    for k in range(min(count, _SHOWN)):
        until = f", until {trajectory.ended[k]:g} s" if trajectory.ended[k] < trajectory.time[-1] else ""
        table.add_row(f"motion {k}{until}", *(f"{x[k]:.4g}" for x in columns.values()))
    if count > _SHOWN:
        table.add_row(f"… {count - _SHOWN} more", *("" for _ in columns))
    table.add_section()
    for name, of_all in (("least", np.min), ("median", np.median), ("most", np.max)):
        table.add_row(name, *(f"{of_all(x):.4g}" for x in columns.values()))
    return table


def _title(trajectory: Trajectory, seconds: float) -> Text:
    from rich.text import Text

    steps = len(trajectory.time) - 1
    parts = f" in up to {trajectory.substeps} parts (stiff friction or springs)" if trajectory.substeps > 1 else ""
    counts, own = trajectory.step_counts, f"{steps} steps of {trajectory.dt:g} s{parts}"
    if counts is not None:
        accepted, rejected = int(counts.accepted.sum()), int(counts.rejected.sum())
        own = f"{accepted:,} steps ({rejected:,} rejected), a row every {trajectory.dt:g} s"
    samples = f"{trajectory.shape[0]} motions of " if trajectory.shape else ""
    return Text(
        f"{trajectory.robot}: {samples}{trajectory.time[-1]:g} s, {trajectory.integrator}, "
        f"{own}, computed in {seconds:.2g} s"
    )
