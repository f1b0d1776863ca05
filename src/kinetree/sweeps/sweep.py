"""Parameter studies and Monte Carlo simulations, of any size."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.compiler.thread_count import at_most, thread_count
from kinetree.errors import KinetreeError, OptionError, SimulationWarning, nearest_names
from kinetree.files import file_path
from kinetree.model import Model, check_robot
from kinetree.sim.durations import MAX_STEPS
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.simulate import with_records
from kinetree.sim.stream import inputs_of
from kinetree.sim.task import Task
from kinetree.sim.trajectory import Trajectory
from kinetree.sim.wanted import Every, Recording, RecordOption
from kinetree.store.arrays import StoredArray, write_group
from kinetree.sweeps.folder import StudyFolder
from kinetree.sweeps.impossible import impossible
from kinetree.sweeps.motion_options import DEFAULTS, IN_FILES, kept_options
from kinetree.sweeps.on_dask import client_of, compute_on
from kinetree.sweeps.plan import planned
from kinetree.sweeps.quantities import Quantities
from kinetree.sweeps.study import Study
from kinetree.sweeps.variations import Variation
from kinetree.sweeps.work import Work

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["sweep"]

_NUMBERS_PER_CHUNK = 2**22
"""Numbers in the rows of all steps of a chunk, which a worker has in memory while it computes."""
_CHUNKS = 64
"""Chunks that there are at least, so that many cores have something to do; unless chunks were too small then."""
_LEAST_SAMPLES = 256
"""Samples of a chunk whose kernels run as quickly as those of larger ones."""
_LEAST_STEPS = 2**17
"""Steps of all samples of a chunk that take longer than writing its files."""


def sweep(
    robot: Model,
    path: str | os.PathLike[str],
    *,
    vary: Mapping[str | tuple[str, ...], Variation | ArrayLike],
    samples: int | None = None,
    seed: int = 0,
    keep: Sequence[str] | None = None,
    every: Every | None = None,
    record: RecordOption = (),
    measure: Callable[[Trajectory], Mapping[str, Any]] | None = None,
    chunk: int | None = None,
    scheduler: str | Client | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Study:
    """Simulate a robot many times, with values that vary from sample to sample, and write the results into a folder.

    `vary` defines the varied quantities, by name: "q", "v", "tau", "ctrl", "act", or one element of these, such as
    "q.elbow"; "dq", a displacement of the start (nv,); a parameter of the robot, such as "body.hand.mass";
    "f_ext.FRAME", an external force (6,); "arguments.NAME" and "state.NAME" of a controller that is a program. It
    varies as `kt.sweeps.Uniform`, `LogUniform`, `Normal`, `Grid` or `Anywhere` say, or is an array (samples, …). A
    tuple of names varies together:
    `{("body.hand.mass", "body.hand.inertia"): kt.sweeps.Uniform(0.8, 1.2, relative=True)}` scales both by one factor.
    All else that `kt.simulate` takes is the same for all samples: `duration`, `dt`, `contact`, a controller, …

    There are `samples` samples; if there are grids, so many for each of their points (one by default). The values drawn
    for a sample follow from `seed`, the name of the varied quantity and the sample's number, so no bit of any result
    depends on chunks, on workers or on interruptions.

    `path` is a folder. The same call goes on where an earlier one ended, however that was: chunks that are on disk are
    not computed again. A folder of another study is rejected. In it are "inputs" and "results", two groups of arrays in
    Zarr's format, the robot, and a description of the study.

    Args:
        keep: which arrays are kept: of "q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated", and of
            recorded quantities; by default "q", "v" and all that `record` asks for.
        every: keep rows every so many steps (an int) or seconds (a float), (samples, T, …); by default those at the end
            alone, (samples, …).
        record: additional quantities to record, as for `simulate`.
        measure: a function from the motions of some samples, a `kt.Trajectory` of a batch (n,), to a dict of arrays
            (n, …), which are kept as well. It must treat each motion by itself, and may be called on several
            threads at once. It sees the rows that `every` says.
        chunk: how many samples are computed and written together; by default as many as fit well into memory.
        scheduler: a `distributed.Client`, or the address of a Dask scheduler; by default this process computes, on as
            many threads as it has cores. Workers must see the folder under the same path.
        progress: is called with (done, samples) now and then.

    Raises `OptionError`, `ShapeError`, `DTypeError` and `NameNotFoundError` for unusable arguments, before anything is
    computed, and all that `simulate` raises in the middle of the distributions; `SaveError` if the folder cannot be
    written. Samples that diverge, or whose values are rejected, do not stop the others: a `SimulationWarning` counts
    them, and `failures` of the study has them. After Ctrl-C the folder has the chunks that were computed.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     study = kt.sweep(
    ...         robot, pathlib.Path(place) / "study", samples=20, duration=0.1,
    ...         vary={"q": kt.sweeps.Uniform(-1.0, 1.0), "body.lower_rod.mass": kt.sweeps.Normal(1.0, 0.1)},
    ...     )
    ...     print(study)
    ...     study.results["q"].shape, study.inputs["body.lower_rod.mass"].shape
    <Study of 'double_pendulum': 20 samples, all computed; results q, v; varied q, body.lower_rod.mass>
    ((20, 2), (20,))
    """
    check_robot(robot)
    for name in options:
        if name not in IN_FILES:
            raise OptionError(
                f"kt.sweep takes the options of kt.simulate, and {name!r:.60} is not one: "
                f"{nearest_names(name, IN_FILES)}"
            )
    options = with_records(options, warns=True)
    if progress is not None and not callable(progress):
        raise OptionError(f"progress must be a function of (done, samples), not {progress!r:.60}")
    if measure is not None and not callable(measure):
        raise OptionError(f"kt.sweep: measure must be a function of a kt.Trajectory, not {measure!r:.60}")
    plan = planned(robot, Quantities(robot, options), vary, samples, seed)
    names = _names(keep)
    recording = Recording(_recorded(record, names), 2**52 if every is None else every)
    work = Work(robot, plan, {**DEFAULTS, **options, "record": recording}, names, every is not None, measure)
    task = work.task(plan.middle(), 1)
    folder = StudyFolder(file_path("kt.sweep", path, what="folder").absolute())
    client, closes = client_of(scheduler)
    try:
        with folder.only_writer():
            about = folder.begin(about_study(work, task, _chunk(chunk, work, task)), KeptRobot(robot).text)
            study = Study(folder, work)
            pending = [k for k in range(study.chunks) if k not in folder.whole_chunks()]
            if pending:
                begin_arrays(folder, work, task, int(about["chunk"]))
                report = _reporter(progress, study)
                compute = _compute_here if client is None else lambda *x: compute_on(client, *x)
                compute(folder, work, pending, report)
    finally:
        closes()
    if count := study.failed:
        warnings.warn(
            f"{count:,} of {plan.samples:,} samples failed; study.failures lists them, with times and reasons",
            SimulationWarning,
            stacklevel=2,
        )
    return study


def _names(keep: Any) -> tuple[str, ...] | None:
    if keep is None:
        return None
    if isinstance(keep, str) or not isinstance(keep, Sequence) or not all(isinstance(x, str) for x in keep):
        raise OptionError(f'kt.sweep: keep must be a list of names, such as ["q", "v"], not {keep!r:.60}')
    return tuple(dict.fromkeys(keep))


def _recorded(record: Any, keep: tuple[str, ...] | None) -> Any:
    """The quantities that `simulate` records: those asked for, and accelerations and energies that are kept."""
    needed = {"qdd": "accelerations", "kinetic": "energies", "potential": "energies"}
    more = dict.fromkeys(needed[name] for name in keep or () if name in needed)
    if isinstance(record, Mapping):
        return {**dict.fromkeys(more, True), **record}
    if isinstance(record, str) or not isinstance(record, Sequence) or not all(isinstance(x, str) for x in record):
        return record  # which simulate refuses
    return list(dict.fromkeys((*record, *more)))


def _chunk(chunk: Any, work: Work, task: Task) -> int:
    """How many samples are computed together."""
    if chunk is not None:
        if not isinstance(chunk, int | np.integer) or isinstance(chunk, bool) or chunk < 1:
            raise OptionError(f"kt.sweep: chunk must be a whole number of samples from 1 on, not {chunk!r:.60}")
        if chunk * task.steps > MAX_STEPS:
            raise OptionError(
                f"kt.sweep: {chunk:,} samples of {task.steps:,} steps are more than {MAX_STEPS:,} steps, which is the "
                "most that are computed together; take smaller chunks"
            )
        return int(chunk)
    robot = work.robot
    width = robot.nq + 3 * robot.nv + 6 + 16 * len(task.wanted.frames)
    most = min(_NUMBERS_PER_CHUNK // (width * task.steps), MAX_STEPS // task.steps)
    least = max(_LEAST_SAMPLES, _LEAST_STEPS // task.steps, -(-work.plan.samples // _CHUNKS))
    return max(1, min(most, least, work.plan.samples))


def _reporter(progress: Callable[[int, int], None] | None, study: Study) -> Callable[[int], None]:
    """A function that is called with the number of each chunk that is done."""
    done, samples, chunk = study.done, study.samples, study.chunk
    count = [done]

    def report(number: int) -> None:
        count[0] += min(chunk, samples - number * chunk)
        if progress is not None:
            progress(count[0], samples)

    return report


def _compute_here(folder: StudyFolder, work: Work, pending: Sequence[int], report: Callable[[int], None]) -> None:
    """Compute chunks in this process, on as many threads as there are cores; `report` gets the number of each.

    Kernels release Python's lock, so chunks that are computed side by side use all cores, which the steps of one do
    not. A Python function that steps call would hold all others up, so then they are computed one after another.
    """
    threads = 1 if work.is_python else min(thread_count(), len(pending))
    if threads == 1:
        for number in pending:
            folder.write_chunk(work, number)
            report(number)
        return

    def compute(number: int) -> int:
        with at_most(1):
            folder.write_chunk(work, number)
        return number

    left, going = iter(pending), set[Future[int]]()
    executor = ThreadPoolExecutor(threads, "kinetree-sweep")
    try:
        going.update(executor.submit(compute, k) for k in islice(left, threads))
        while going:
            done, going = wait(going, return_when=FIRST_COMPLETED)
            going.update(executor.submit(compute, k) for k in islice(left, len(done)))
            for future in done:
                report(future.result())
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def about_study(work: Work, task: Task, chunk: int) -> dict[str, Any]:
    """The description of a study; its `settings` must be the same when it goes on."""
    motion = {**task.identity, **inputs_of(task, work.options)}
    del motion["batch"]
    measure = "none" if work.measure is None else getattr(work.measure, "__qualname__", type(work.measure).__name__)
    quantities = "q, v and recorded quantities" if work.keep is None else ", ".join(work.keep) or "nothing"
    rows = f"every {task.wanted.stride} steps" if work.has_rows else "at the end"
    plan = work.plan
    return {
        "format": StudyFolder.format,
        "samples": plan.samples,
        "chunk": chunk,
        "grid": plan.grid,
        "each": plan.each,
        "settings": {**plan.settings(), **motion, "keep": quantities, "rows": rows, "measure": measure},
        "motion": kept_options(work.options),
    }


def begin_arrays(folder: StudyFolder, work: Work, task: Task, chunk: int) -> None:
    """Begin the arrays, whose shapes are those of one sample that is tried in the middle of the distributions."""
    middle = work.plan.middle()
    try:
        if refused := impossible(work.robot, middle):
            raise OptionError(f"kt.sweep: {refused[0]}")
        trial = work.computed(middle)
    except KinetreeError as error:
        error.add_note("(a sample in the middle of all ranges was tried first)")
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
