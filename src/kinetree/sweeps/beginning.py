"""The beginning of a study: settings that must be the same when it goes on, and its arrays, still empty."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.errors import KinetreeError, OptionError
from kinetree.sim.stream import inputs_of
from kinetree.sim.task import Task
from kinetree.store.arrays import StoredArray, write_group
from kinetree.sweeps.folder import StudyFolder
from kinetree.sweeps.impossible import impossible
from kinetree.sweeps.motion_options import kept_options
from kinetree.sweeps.work import Work

__all__ = ["about_study", "begin_arrays"]


def about_study(work: Work, task: Task, chunk: int) -> dict[str, Any]:
    """The description of a study; its `settings` must be the same when it goes on."""
    options = work.options
    inputs = {name: options[name] for name in ("tau", "ctrl", "f_ext", "arguments", "rows", "state")}
    motion = {**task.identity, **inputs_of(task, inputs)}
    del motion["batch"]
    measure = "none" if work.measure is None else getattr(work.measure, "__qualname__", type(work.measure).__name__)
    quantities = "q, v and what is recorded" if work.keep is None else ", ".join(work.keep) or "nothing"
    rows = f"every {task.wanted.stride} steps" if work.has_rows else "at the end"
    plan = work.plan
    return {
        "format": StudyFolder.format,
        "samples": plan.samples,
        "chunk": chunk,
        "grid": plan.grid,
        "each": plan.each,
        "settings": {**plan.settings(), **motion, "keep": quantities, "rows": rows, "measure": measure},
        "motion": kept_options(options),
    }


def begin_arrays(folder: StudyFolder, work: Work, task: Task, chunk: int) -> None:
    """Begin the arrays, whose shapes are those of one sample that is tried in the middle of the distributions."""
    middle = work.plan.middle()
    try:
        if refused := impossible(work.robot, middle):
            raise OptionError(f"kt.sweep: {refused[0]}")
        trial = work.computed(middle)
    except KinetreeError as error:
        error.add_note("(a sample in the middle of what varies was tried first)")
        raise
    samples = work.plan.samples
    for name, shape in work.plan.shapes.items():
        if 0 not in shape:
            _make(folder, "inputs", (samples, *shape), chunk, np.float64, name)
    units = work.units(task)
    for name, x in trial.arrays.items():
        _make(folder, "results", (samples, *x.shape[1:]), chunk, x.dtype, name, work.has_rows, units)
    attributes = {"robot": work.robot.name, "samples": samples, "grid": json.dumps(work.plan.grid)}
    if work.has_rows:
        times = work.times(task)
        place = folder.place("results", "time")
        times_array = StoredArray.made(place, times.shape, len(times), np.float64, ["time"], "s", root=folder.path)
        times_array.write(0, times)
    for group in ("inputs", "results"):
        write_group(folder.path / group, attributes)


def _make(
    folder: StudyFolder,
    group: str,
    shape: tuple[int, ...],
    chunk: int,
    dtype: Any,
    name: str,
    has_rows: bool = False,
    units: Mapping[str, str] | None = None,
) -> None:
    rest = len(shape) - 1
    own = [f"{name}_{k}" for k in range(rest)]
    if has_rows and rest and name not in ("status", "ended"):
        own = ["time", *own[: rest - 1]]
    place, unit = folder.place(group, name), (units or {}).get(name, "")
    StoredArray.made(place, shape, chunk, dtype, ["sample", *own], unit, root=folder.path)
