"""The result of a sweep: a study on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import MissingPackageError, NameNotFoundError, OptionError, listed, nearest_names, visible
from kinetree.files import file_path
from kinetree.model import Model
from kinetree.sim.simulate import with_records
from kinetree.sim.task import at_once
from kinetree.sim.trajectory import Trajectory
from kinetree.sim.wanted import Recording
from kinetree.sweeps.folder import StudyFolder
from kinetree.sweeps.impossible import impossible
from kinetree.sweeps.motion_options import DEFAULTS
from kinetree.sweeps.work import Failure, Work, task_of

if TYPE_CHECKING:
    import xarray

__all__ = ["Study", "load_study"]


class _Arrays(Mapping[str, NDArray[Any]]):
    """The arrays of one group, read when they are asked for."""

    def __init__(self, folder: StudyFolder, group: str) -> None:
        self._folder, self._group = folder, group

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.part(name, 0, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._folder.names(self._group))

    def __len__(self) -> int:
        return len(self._folder.names(self._group))

    def __repr__(self) -> str:
        return visible(f"<{self._group} of {self._folder.path}: {', '.join(self) or 'nothing yet'}>")

    def part(self, name: str, begin: int, end: int | None) -> NDArray[Any]:
        """The rows of an array from `begin` to `end`."""
        names = self._folder.names(self._group)
        if name not in names:
            raise NameNotFoundError(
                f"{self._folder.path} has nothing called {name!r:.60} among its {self._group}: "
                f"{nearest_names(str(name), names)}"
            )
        array = self._folder.array(self._group, name)
        rows = slice(begin, end).indices(array.shape[0])
        return array.read(rows[0], rows[1])


class Study:
    """A study on disk: the varied quantities, and the results of each sample. Nothing is read before it is asked for.

    Attributes:
        path: the folder. "inputs" and "results" in it are groups in Zarr's format.
        inputs: the varied values (samples, …), by name.
        results: the kept arrays (samples, …), by name; NaN, zero or false of samples that are not computed or were
            rejected. "status" is 0 for a sample that is not computed, 1 for one that went on to its end, 2 for one that
            an event ended, 3 for one that diverged, 4 for one whose values were rejected; "ended" is when it ended, s;
            "time" has the times of the rows, if there are rows.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     study = kt.sweep(
    ...         robot, pathlib.Path(place) / "study", duration=0.1,
    ...         vary={"q.shoulder": kt.sweeps.Grid([0.1, 0.2, 0.3]), "v.elbow": kt.sweeps.Grid([0.0, 1.0])},
    ...     )
    ...     study.grid, study.results["q"].reshape(3, 2, 2)[2, 0].shape, study.inputs["q.shoulder"].tolist()
    ({'q.shoulder': 3, 'v.elbow': 2}, (2,), [0.1, 0.1, 0.2, 0.2, 0.3, 0.3])
    """

    def __init__(self, folder: StudyFolder, work: Work | None = None) -> None:
        self._folder, self._work = folder, work
        self._about = folder.about()
        self.path: Path = folder.path
        self.inputs: _Arrays = _Arrays(folder, "inputs")
        self.results: _Arrays = _Arrays(folder, "results")

    @property
    def samples(self) -> int:
        """How many there are in all."""
        return int(self._about["samples"])

    @property
    def chunk(self) -> int:
        """How many are computed and written together."""
        return int(self._about["chunk"])

    @property
    def chunks(self) -> int:
        """How many chunks there are in all."""
        return -(-self.samples // self.chunk)

    @property
    def done(self) -> int:
        """How many samples are computed."""
        last = self.chunks - 1
        whole = [k for k in self._folder.whole_chunks() if k <= last]
        return sum(self.samples - last * self.chunk if k == last else self.chunk for k in whole)

    @property
    def is_complete(self) -> bool:
        """Whether all samples are computed."""
        return self.done == self.samples

    @property
    def grid(self) -> dict[str, int]:
        """How many values each grid has, by the quantity that varies there. Results reshape to (*grid, each, …)."""
        return {str(name): int(n) for name, n in self._about["grid"].items()}

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the study, as texts by name."""
        return {str(name): str(x) for name, x in self._about["settings"].items()}

    @property
    def failures(self) -> list[Failure]:
        """The samples that diverged or were rejected, in order: (sample, time, name, cause) each."""
        return list(self._folder.failures())

    @property
    def failed(self) -> int:
        """How many samples diverged or were rejected."""
        return len(self.failures)

    @property
    def model(self) -> Model | None:
        """The robot; None if the folder does not have it. Raises as `Trajectory.model` does."""
        if self._work is not None:
            return self._work.robot
        robot = self._folder.robot()
        return None if robot is None else robot.model

    def __repr__(self) -> str:
        computed, samples = self.done, self.samples
        how_many = "all computed" if computed == samples else f"{computed:,} of them computed"
        failed = f", {count:,} failed" if (count := self.failed) else ""
        results = ", ".join(x for x in self.results if x not in ("status", "ended", "time")) or "status"
        return visible(
            f"<Study of {self.settings['robot']!r}: {samples:,} samples, {how_many}{failed}; results {results}; varied "
            f"{self.settings['varied'].replace(';', ',')}>"
        )

    def motion(self, sample: int, **changes: Any) -> Trajectory:
        """The whole motion of one sample, computed again to the same bits, to see or plot it.

        `changes` are options that do not change the motion: `record` and `every`, which is 1 by default.

        Raises:
            OptionError: the sample's values were rejected, or the study was loaded from its folder, and is of motions
                with functions or objects such as controllers, which no folder holds: call `kt.sweep` with its arguments
                again, which computes nothing that is there.

        >>> import kinetree as kt, tempfile, pathlib
        >>> robot = kt.zoo.load("double_pendulum")
        >>> with tempfile.TemporaryDirectory() as place:
        ...     path = pathlib.Path(place) / "study"
        ...     study = kt.sweep(robot, path, samples=5, duration=0.1, vary={"q": kt.sweeps.Anywhere()})
        ...     motion = study.motion(3)
        ...     motion.q.shape, bool((motion.q[-1] == study.results["q"][3]).all())
        ((101, 2), True)
        """
        if not isinstance(sample, int | np.integer) or not 0 <= sample < self.samples:
            raise OptionError(f"motion: there are samples 0 to {self.samples - 1:,}, and not {sample!r:.60}")
        if wrong := [name for name in changes if name not in ("record", "every")]:
            raise OptionError(f"motion: {wrong[0]} would change the motion; record and every can be given")
        robot, options, values = self._sample(int(sample))
        if refused := impossible(robot, values):
            raise OptionError(f"motion: sample {sample} was refused: {refused[0]}")
        recording = Recording(changes.get("record"), changes.get("every", 1))
        return at_once(task_of(robot, options, values, 1, record=recording), None)[0]

    def _sample(self, number: int) -> tuple[Model, Mapping[str, Any], Mapping[str, NDArray[Any]]]:
        """The robot, the options of `simulate`, and the values (1, …) of a sample."""
        if self._work is not None:
            return self._work.robot, self._work.options, self._work.plan.values(number, number + 1)
        again = "call kt.sweep with the arguments of before, which computes nothing that is there"
        about, robot = self._about.get("motion"), self.model
        if about is None or robot is None:
            raise OptionError(f"motion: {self.path} was written without the inputs of its motions; {again}")
        if about["missing"]:
            raise OptionError(
                f"motion: no folder holds functions, objects and long arrays, here {listed(about['missing'])}; {again}"
            )
        if number // self.chunk not in self._folder.whole_chunks():
            raise OptionError(f"motion: sample {number} is not computed yet; {again}")
        return (
            robot,
            {**DEFAULTS, **with_records(about["options"])},
            {name: self.inputs.part(name, number, number + 1) for name in self.inputs},
        )

    def to_xarray(self) -> xarray.Dataset:
        """The results as a dataset, lazily if Dask is installed; the varied values are coordinates "varied.NAME".

        Raises:
            MissingPackageError: xarray or zarr is not installed.
        """
        try:
            import xarray
            import zarr  # noqa: F401
        except ImportError:
            raise MissingPackageError("Study.to_xarray needs xarray and zarr: pip install 'kinetree[dask]'") from None
        results = xarray.open_zarr(self.path / "results")
        inputs = xarray.open_zarr(self.path / "inputs")
        dataset: xarray.Dataset = results.assign_coords({f"varied.{name}": x for name, x in inputs.data_vars.items()})
        return dataset


def load_study(path: str | os.PathLike[str]) -> Study:
    """The study of a folder, whether or not it is complete.

    Raises `TrajectoryFileError` for a folder without one.

    >>> import kinetree as kt
    >>> kt.sweeps.load_study("nowhere")
    Traceback (most recent call last):
        ...
    kinetree.errors.TrajectoryFileError: nowhere holds no study: there is no study.json in it
    """
    return Study(StudyFolder(file_path("load_study", path, what="folder")))
