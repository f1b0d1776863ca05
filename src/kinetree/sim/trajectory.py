"""The result of a simulation.

A motion at other moments than those that were computed.

Source: de Boor, *A Practical Guide to Splines* (1978), chapter IV (cubic Hermite interpolation).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.display import registered
from kinetree.errors import MissingPackageError, OptionError, ShapeError
from kinetree.files import file_path, write_file
from kinetree.inputs import real_array
from kinetree.model import Joint, Model
from kinetree.model.by_identity import ByIdentity
from kinetree.number_files.csv_tables import write_table
from kinetree.records import record
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.outcomes import picked
from kinetree.sim.picking import Rows, Samples, row_numbers, sample_numbers
from kinetree.sim.shown import RecordedMotion, Shown, plot
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.trajectory_arrays import TrajectoryArrays
from kinetree.sim.trajectory_file import PER_MOTION, read_fields, write_trajectory

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

__all__ = ["SimulationInterrupted", "Trajectory", "coordinate_names"]

Array = NDArray[np.float64]
_ENERGIES = ("kinetic", "potential", "work", "dissipated")


@record(frozen=True, slots=True, eq=False, repr=False)
class Trajectory(TrajectoryArrays, Shown):
    """A motion, sampled at T moments: the initial state and the state after each step. Or a batch of them.

    In a batch arrays have its axes first, (…, T, n); `motions[k]` is the trajectory of one of them.

    Attributes:
        robot: the robot's name.
        integrator: its name.
        dt: the length of a step, s; with error control the time from row to row.
        substeps: the most parts that a step was divided into because friction or springs are stiff; 1: none was.
        time: (T,), s.
        q: configurations (…, T, nq).
        v: velocities (…, T, nv).
        qdd: accelerations (…, T, nv), of the state at each moment under the torques and forces that act from then on;
            with contacts those of the step that begins there (`kinetree docs recording`). NaN if they were not to be
            recorded, as are the energies then.
        tau: (…, T, nv), the torques given to `simulate` at each moment, within the limits of motors if these were asked
            for, and without friction and springs; N·m or N.
        kinetic: kinetic energy (…, T), J.
        potential: potential energy (…, T), J, of gravity and springs; gravity's is zero where the centre of mass is at
            the world's origin.
        work: done by the torques and external forces since the beginning (…, T), J.
        dissipated: lost to friction since the beginning (…, T), J. A motion that goes on from a snapshot began where
            the first one did.
        q_names: one name per coordinate.
        q_joints: the joint that each coordinate belongs to.
        q_units: one unit per coordinate: "rad", "m", or "" for the parts of a quaternion.
        v_names: one name per degree of freedom.
        recorded: results other than tau of a controller that is a `kt.program`, at each moment, by name: (…, T,
            *shape). The last row repeats its last results, as that of tau does. With commands of actuators "ctrl" (…,
            T, nu) and "act" (…, T, na), their activations; with contacts "contact.error" (…, T), how exactly the steps
            from each row until the next were solved; if bodies may sleep "asleep" (…, T, nv), 1 for the
            degrees of freedom of those that do. Also the quantities of `record=`: "frame.NAME" (…, T, 4, 4),
            "sensor.NAME" (…, T, n), "contact.force" (…, T, k, 3) and others of k points, "constraint_forces" (…, T,
            nv), or (…, T, m) for the m rows of `constraints=`. Of a motion whose bodies were pushed while it was
            watched, "push.body" (T,): which of `robot.bodies`, -1 for none, "push.force" (T, 3) and "push.point" (T,
            3), where it acts, in the world, NaN without a push.
        units: those of arrays in `recorded`, as far as they have one.
        ended: when each motion of a batch ended (…,), s: at the last moment, at an event, or when it diverged. Later
            rows repeat its last state, with torques of zero.
        events: the events selected by `until=`, in the order of time.
        step_counts: how many steps an integrator with error control took and rejected, and the smallest one
            (`kt.sim.StepCounts`); None for steps of dt.
        diverged: the motions of a batch that could not go on, when and why; by index, such as (3,).
        model: the robot itself: the one that was simulated, or for a motion from a file one that is made again from the
            text form in the file, when it is asked for. None if the file has none.

    >>> import kinetree as kt
    >>> kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=1.0)
    <Trajectory of 'double_pendulum': 1 s in steps of 0.001 s, rk4; q (1001, 2), v (1001, 2)>
    """

    @classmethod
    def of_states(
        cls,
        robot: Model,
        q: ArrayLike,
        v: ArrayLike,
        dt: float,
        *,
        integrator: str = "",
        recorded: Mapping[str, NDArray[Any]] | None = None,
        ended: ArrayLike | None = None,
    ) -> Trajectory:
        """A motion that something else has computed, to be shown and kept: of an environment, a robot or a planner.

        Args:
            robot: the robot.
            q: configurations (…, T, nq).
            v: velocities (…, T, nv).
            dt: the time from row to row, s.
            integrator: the name of the method that computed it.
            recorded: other arrays (…, T, *shape), by name.
            ended: when each motion ended (…,), s; by default at the last row.

        Returns:
            The motion; its accelerations, torques and energies are not known, NaN.

        Raises:
            ShapeError: arrays do not fit the robot, or each other.

        >>> import kinetree as kt
        >>> import numpy as np
        >>> robot = kt.zoo.load("double_pendulum")
        >>> q = np.linspace([0.0, 0.0], [1.0, 0.5], 11)
        >>> kt.sim.Trajectory.of_states(robot, q, np.full((11, 2), [1.0, 0.5]), 0.1, integrator="a plan")
        <Trajectory of 'double_pendulum': 1 s in steps of 0.1 s, a plan; q (11, 2), v (11, 2)>
        """
        q = real_array("q", q, f"(…, T, {robot.nq})")
        v = real_array("v", v, f"(…, T, {robot.nv})")
        rows = q.shape[:-1]
        if q.ndim < 2 or q.shape[-1] != robot.nq or v.shape != (*rows, robot.nv):
            raise ShapeError(f"q is (…, T, {robot.nq}) and v (…, T, {robot.nv}), not {q.shape} and {v.shape}")
        for name, x in (recorded or {}).items():
            if x.shape[: len(rows)] != rows:
                raise ShapeError(f"recorded[{name!r}] is {(*rows, '…')}, one row per moment, not {x.shape}")
        unknown, of_v = np.full(rows, np.nan), np.full(v.shape, np.nan)
        time = np.arange(rows[-1], dtype=np.float64) * dt
        names: dict[str, Any] = {**coordinate_names(robot)}
        return cls(
            robot=robot.name, integrator=integrator, dt=dt, substeps=1, time=time, q=q, v=v, qdd=of_v, tau=of_v,
            kinetic=unknown, potential=unknown, work=unknown, dissipated=unknown, **names,
            recorded=recorded or {}, ended=np.broadcast_to(time[-1] if ended is None else ended, rows[:-1]).copy(),
            kept=KeptRobot(robot),
        )  # fmt: skip

    def __repr__(self) -> str:
        batch = f"{self.shape} motions, " if self.shape else ""
        what = "steps" if self.step_counts is None else "rows"
        return (
            f"<Trajectory of {self.robot!r}: {batch}{self.time[-1]:g} s in {what} of {self.dt:g} s, {self.integrator}; "
            f"q {self.q.shape}, v {self.v.shape}{self._early_ends('; ')}>"
        )

    @property
    def model(self) -> Model | None:
        """The robot of the motion; None if its file does not have it, as with files of older versions.

        Raises:
            ModelError: the robot has no text form (`kinetree docs model_text`), so that the file could not keep it; or
                it has joints of a kind that is not kinetree's own.
            TrajectoryFileError: the file's description of the robot is damaged.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("double_pendulum")
        >>> kt.simulate(robot, duration=0.01).model is robot
        True
        """
        return None if self.kept is None else self.kept.model

    def __getitem__(self, index: Any) -> Trajectory:
        """One of a batch of motions, or a smaller batch.

        >>> import kinetree as kt
        >>> motions = kt.simulate(kt.zoo.load("double_pendulum"), q=[[1.0, 0.5], [0.3, 0.2]], duration=0.01)
        >>> motions.shape, motions[1].q.shape
        ((2,), (11, 2))

        Raises:
            ShapeError: this is one motion, or the batch has fewer axes.
            IndexError: the batch is smaller.
        """
        given = index if isinstance(index, tuple) else (index,)
        if len(given) > len(self.shape):
            what = f"a batch {self.shape}" if self.shape else "one motion, not a batch"
            raise ShapeError(f"this trajectory is {what}; its arrays are in fields such as q, {self.q.shape}")
        recorded = {name: x[given] for name, x in self.recorded.items()}
        events, diverged = picked(self.shape, given, self.events, self.diverged)
        return replace(
            self, **{name: getattr(self, name)[given] for name in PER_MOTION}, recorded=recorded,
            ended=np.asarray(self.ended[given]), events=events, diverged=diverged,
            step_counts=self.step_counts and self.step_counts[given],
            end=self.end if not given else None,
        )  # fmt: skip

    def configurations(self, rows: Rows = slice(None), samples: Samples | None = None) -> Array:
        """Configurations at some moments; motions on disk have the same method, which reads no more than that.

        Args:
            rows: K rows, as a slice or as numbers; by default all.
            samples: m motions of the batch, by their numbers counted through all its axes, or by their indices; by
                default all.

        Returns:
            q (m, K, nq), or (*shape, K, nq) if no samples are named.

        Raises:
            OptionError: the motion has no such rows or samples.

        >>> import kinetree as kt
        >>> motions = kt.simulate(kt.zoo.load("double_pendulum"), q=[[1.0, 0.5], [0.3, 0.2]], duration=0.01)
        >>> motions.configurations(rows=[0, -1], samples=[1]).shape
        (1, 2, 2)
        """
        return self._some("configurations", self.q, rows, samples)

    def rates(self, rows: Rows = slice(None), samples: Samples | None = None) -> tuple[Array, Array]:
        """Velocities and accelerations at some moments; motions on disk have the same method.

        Args:
            rows: K rows, as a slice or as numbers; by default all.
            samples: m motions of the batch, by their numbers counted through all its axes, or by their indices; by
                default all.

        Returns:
            (v, qdd), each (m, K, nv), or (*shape, K, nv) if no samples are named. Accelerations that were not recorded
            are NaN.

        Raises:
            OptionError: the motion has no such rows or samples.

        >>> import kinetree as kt
        >>> motions = kt.simulate(kt.zoo.load("double_pendulum"), q=[[1.0, 0.5], [0.3, 0.2]], duration=0.01)
        >>> v, qdd = motions.rates(rows=[0, -1], samples=[1])
        >>> v.shape, qdd.shape
        ((1, 2, 2), (1, 2, 2))
        """
        return self._some("rates", self.v, rows, samples), self._some("rates", self.qdd, rows, samples)

    def _some(self, function: str, x: Array, rows: Rows, samples: Samples | None) -> Array:
        """Some rows of some motions of an array (*shape, T, n)."""
        numbers = row_numbers(function, rows, len(self.time))
        if samples is None:
            return x[..., numbers, :]
        some = sample_numbers(function, samples, self.shape)
        return x.reshape(math.prod(self.shape), *x.shape[-2:])[np.ix_(some, numbers)]

    def snapshot(self) -> Snapshot:
        """The end of the motion, from which `kt.simulate(robot, resume=…)` goes on to the same bits as without a pause.

        Raises:
            OptionError: the motion was read from a file, is part of a batch, or an event ended it between two steps.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("double_pendulum")
        >>> whole = kt.simulate(robot, q=[1.0, 0.5], duration=0.2)
        >>> half = kt.simulate(robot, q=[1.0, 0.5], duration=0.1)
        >>> rest = kt.simulate(robot, resume=half.snapshot(), duration=0.1)
        >>> bool((rest.q == whole.q[100:]).all())
        True
        """
        if self.end is None:
            raise OptionError(
                "this trajectory has no snapshot: it was read from a file (save motion.snapshot() beside it), is part "
                "of a batch (take that of the batch), or an event ended it within a step (start a new motion from its "
                "q[-1] and v[-1])"
            )
        return self.end

    def resampled(self, times: ArrayLike) -> Trajectory:
        """The motion at other moments of it.

        Coordinates of joints whose rate is their velocity (hinges, sliders) are on the cubics that also have these
        velocities, other coordinates, velocities, accelerations, energies and activations of actuators on straight
        lines; quaternions have length 1. Torques, commands and a controller's records are those that were held at the
        moment.

        Args:
            times: (K,), s, increasing, within the motion.

        Returns:
            A trajectory of these K moments. Its `dt` is still the step that was integrated with.

        Raises:
            OptionError: the times do not increase, or some are outside the motion.
            DTypeError, ShapeError: they are not a row of numbers.

        >>> import kinetree as kt, numpy as np
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=1.0)
        >>> film = motion.resampled(np.linspace(0.0, 1.0, 25))
        >>> film.q.shape
        (25, 2)
        """
        moments = self._checked(real_array("times", times, "(K,)").astype(np.float64))
        at = Moments(self.time, moments)
        energies: Any = {name: at.linear(getattr(self, name)[..., None])[..., 0] for name in _ENERGIES}
        return replace(
            self, time=moments, q=at.configurations(self), v=at.linear(self.v), qdd=at.linear(self.qdd),
            tau=at.held(self.tau), **energies,
            recorded={
                name: at.linear(x) if name == "act" and "ctrl" in self.recorded else self._held_at(at, x)
                for name, x in self.recorded.items()
            },
        )  # fmt: skip

    def _held_at(self, at: Moments, x: NDArray[Any]) -> NDArray[Any]:
        """The records at the beginning of the step that each moment is in."""
        axes = len(self.shape)
        flat = x.reshape((*x.shape[: axes + 1], math.prod(x.shape[axes + 1 :])))
        held = at.held(flat)
        return held.reshape((*held.shape[:-1], *x.shape[axes + 1 :]))

    def _checked(self, times: Array) -> Array:
        if times.ndim != 1 or not times.size:
            raise ShapeError(f"resampled: times must be a row of moments (K,), and has shape {times.shape}")
        start, end = self.time[0], self.time[-1]
        slack = 1e-9 * self.dt  # the last moment is a whole number of steps, rounded
        if not (times >= start - slack).all() or not (times <= end + slack).all():
            raise OptionError(f"resampled: times must be within the motion, {start:g} to {end:g} s, and are not all")
        if (np.diff(times) <= 0.0).any():
            raise OptionError("resampled: times must increase")
        return np.clip(times, start, end)

    def to_dataframe(self) -> pandas.DataFrame:
        """A pandas table: a row per moment, indexed by time; a batch has the number of the motion before it.

        Columns are "q.NAME", "v.NAME", "qdd.NAME" and "tau.NAME" for each coordinate or degree of freedom, and
        "kinetic", "potential", "work" and "dissipated"; units as in this class. A controller's records follow as
        "recorded.NAME", with the indices of each number where it is an array: "recorded.error[0]".

        Raises:
            MissingPackageError: pandas is not installed.

        >>> import kinetree as kt
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=1.0)
        >>> table = motion.to_dataframe()
        >>> table.shape
        (1001, 12)
        """
        try:
            import pandas
        except ImportError:
            raise MissingPackageError("to_dataframe needs pandas: pip install 'kinetree[pandas]'") from None
        index: pandas.Index[float] | pandas.MultiIndex = pandas.Index(self.time, name="time")
        if shape := self.shape:
            axes = ["motion"] if len(shape) == 1 else [f"motion_{k}" for k in range(len(shape))]
            index = pandas.MultiIndex.from_product([*map(range, shape), self.time], names=[*axes, "time"])
        return pandas.DataFrame({name: x.ravel() for name, x in self._columns().items()}, index=index)

    def _columns(self) -> dict[str, NDArray[Any]]:
        """Every number of the motion by name, each (…, T)."""
        vectors = (("q", self.q_names), ("v", self.v_names), ("qdd", self.v_names), ("tau", self.v_names))
        columns = {
            f"{field}.{name}": getattr(self, field)[..., k] for field, names in vectors for k, name in enumerate(names)
        }
        columns |= {field: getattr(self, field) for field in _ENERGIES}
        first = len(self.shape) + 1
        for name, x in self.recorded.items():
            for place in np.ndindex(x.shape[first:]):
                columns[f"recorded.{name}{list(place) or ''}"] = x[(..., *place)]
        return columns

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        what: str | Sequence[str] | None = None,
        joints: str | Sequence[str] | None = None,
        samples: Samples | None = None,
        beside: RecordedMotion | None = None,
        names: Sequence[str] = ("first", "second"),
    ) -> Figure | Path:
        """A picture of the motion over time: how the joints move, the energies, and the error of their balance.

        A batch has a small panel per number, with a line per motion, or with bands of quantiles if they are many.
        Events are marked, except in batches.

        Args:
            path: of the file to write, as PNG, SVG or PDF by its suffix; ".png" is appended to a name without one.
                Without it the picture is returned as a matplotlib figure, which a notebook shows.
            what: some of "positions", "velocities", "accelerations", "torques", "energies", "balance", "contacts", and
                names of arrays in `recorded`, or patterns of them; by default positions, energies and balance.
            joints: patterns of the joints, or coordinates, that are drawn, as for `robot.joints.matching`; by default
                all that move.
            samples: motions of a batch, by their numbers counted through all its axes, or by their indices; by default
                all.
            beside: a second motion, in memory or on disk, drawn dashed on the same axes, with the differences, second
                minus first, in a second column. They are taken at the times that both have rows at; if these are few,
                the second motion is on straight lines between its rows.
            names: of the two motions.

        Returns:
            The figure, or the path of the file.

        Raises:
            NameNotFoundError: the motion has no such quantity or joint.
            OptionError: a requested quantity was not recorded; the suffix is that of another format; the two motions
                have nothing in common.
            MissingPackageError: matplotlib is not installed.
            SaveError: the file cannot be written.

        >>> import kinetree as kt
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=1.0)
        >>> [ax.get_ylabel() for ax in motion.plot().axes]
        ['joint angle, rad', 'energy, J', 'balance\\nerror, J']
        >>> [ax.get_ylabel() for ax in motion.plot(what=["velocities", "torques"], joints="elbow").axes]
        ['velocity, rad/s', 'torque, N·m']
        """
        asked: Any = {"what": what, "joints": joints, "samples": samples, "beside": beside, "names": names}
        if path is not None:
            return plot(self, path, **asked)
        figure: Callable[..., Figure] = registered("figure")
        return figure(self, **asked)

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        fps: float = 30.0,
        robot: Model | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Path:
        """Write a page that shows the motion in any browser, in one file: it needs no server and no network.

        `kt.view` shows the same page with its controls; its `save_html` writes the layers that are switched on there.

        Args:
            path: of the file; ".html" is appended if it is not there.
            fps: moments per second of the motion, however many rows it has.
            robot: the robot, if the motion does not have it because its file is of an old version.
            parameters: as for `kt.view`.

        Returns:
            The path of the file.

        Raises:
            MissingPackageError: viser is not installed.
            SaveError: the file cannot be written.
            OptionError: the motion does not have its robot, or fps is not a number of moments.

        >>> import kinetree as kt, tempfile, pathlib
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     motion.save_html(pathlib.Path(folder) / "swing").name
        'swing.html'
        """
        write: Callable[..., Path] = registered("save_html")
        return write(path, self, fps=fps, robot=robot, parameters=parameters)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all fields to a NumPy .npz file and return its path; ".npz" is appended to a name without it.

        A batch is written as one file, with its axes first. The robot is in the file, in its text form, with the paths
        of its meshes on this disk: `model` of the trajectory read from it makes it again.

        A name that ends with .csv gives a table of one motion instead, with a column "time" and those of
        `to_dataframe`, to the last bit, which `kinetree.identification.read_log` reads; `load` does not.

        The file is written whole or not at all: after any error, an earlier file stays as it was.

        Raises:
            SaveError: the file cannot be written, for example because its folder does not exist or the disk is full.
            DTypeError: `path` is not a path.
            OptionError: `path` names no file, or ends like a file of another format, or it is a .csv file and this is
                a batch.

        >>> import kinetree as kt, tempfile, pathlib
        >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), duration=0.01)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     back = kt.Trajectory.load(motion.save(pathlib.Path(folder) / "run"))
        >>> bool((back.q == motion.q).all())
        True
        """
        target = file_path("save", path)
        if target.suffix.lower() != ".csv":
            target = file_path("save", path, ".npz")
            write_file(target, lambda file: write_trajectory(file, self))
            return target
        if self.shape:
            raise OptionError(f"save: a .csv file holds one motion, and this is a batch {self.shape}; save motions[k]")
        columns = {"time": self.time} | self._columns()
        write_file(target, lambda file: write_table(file, columns))
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read a file of `save`.

        Names, types and shapes of all fields are checked, that times increase, and that time, q and v are finite.
        Nothing is unpacked before its size is known: a file may unpack to 64 MiB, or to 100 times its own size.

        Raises:
            TrajectoryFileError: the file does not exist, cannot be read, or is not a trajectory; the message says
                which.
            DTypeError: `path` is not a path.
        """
        return cls(**read_fields(file_path("load", path)))


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during `simulate`; the motion until then is in `trajectory`."""

    def __init__(self, trajectory: Trajectory, steps: int, kept: str = "") -> None:
        """`steps`: how many were to be taken; `kept`: where the motion is, if it is streamed."""
        super().__init__(
            f"interrupted at t = {trajectory.time[-1]:g} s of {steps * trajectory.dt:g} s; the motion until then is "
            + (kept or "in the attribute `trajectory` of this exception")
        )
        self.trajectory = trajectory
        self.steps = steps


def coordinate_names(robot: Model) -> dict[str, tuple[str, ...]]:
    """The names of coordinates and degrees of freedom, and the joint and the unit of each coordinate."""
    if robot not in _NAMES:
        units: list[str] = []
        for owner in robot.owners:
            units.extend(owner.kind.q_units if isinstance(owner, Joint) else [""] * len(owner.coordinates))
        joints = tuple(owner.name for owner in robot.owners for _ in range(robot.nq)[owner.q_slice])
        q_names, v_names = tuple(robot.q_names), tuple(robot.v_names)
        _NAMES[robot] = {"q_names": q_names, "q_joints": joints, "q_units": tuple(units), "v_names": v_names}
    return _NAMES[robot]


_NAMES: ByIdentity[dict[str, tuple[str, ...]]] = ByIdentity()


class Moments:
    """Moments within a motion: for each the row before it, and how far it is on the way to the next row."""

    def __init__(self, time: Array, wanted: Array) -> None:
        """`time` (T,), increasing; `wanted` (K,), within it."""
        last = max(len(time) - 2, 0)
        self._before = np.clip(np.searchsorted(time, wanted, side="right") - 1, 0, last)
        self._after = np.minimum(self._before + 1, len(time) - 1)
        step = time[self._after] - time[self._before]
        self._step = np.where(step > 0.0, step, 1.0)
        self._part = (wanted - time[self._before]) / self._step

    def held(self, x: Array) -> Array:
        """Rows of x (…, T, n) that hold until the next, (…, K, n)."""
        reached = np.where(self._part >= 1.0, self._after, self._before)
        result: Array = x[..., reached, :]
        return result

    def linear(self, x: Array) -> Array:
        """Points (…, K, n) on the straight lines between rows of x (…, T, n)."""
        x0, x1 = x[..., self._before, :], x[..., self._after, :]
        result: Array = x0 + self._part[:, None] * (x1 - x0)
        return result

    def cubic(self, x: Array, rates: Array) -> Array:
        """Points on the cubics that have the values x and the rates of change of the rows around them."""
        s, h = self._part[:, None], self._step[:, None]
        x0, x1 = x[..., self._before, :], x[..., self._after, :]
        r0, r1 = h * rates[..., self._before, :], h * rates[..., self._after, :]
        change = x1 - x0
        result: Array = x0 + s * (r0 + s * (3.0 * change - 2.0 * r0 - r1 + s * (r0 + r1 - 2.0 * change)))
        return result

    def configurations(self, motion: TrajectoryArrays) -> Array:
        """Cubics for coordinates whose rates are in v, which have no part in their name; straight lines for others.

        On a straight line between two attitudes quaternions have length 1 again, so that they turn about one axis.
        """
        q, v, names = motion.q, motion.v, motion.q_names
        result = self.linear(q)
        rates = {name: k for k, name in enumerate(motion.v_names)}
        plain = [k for k, name in enumerate(names) if name in rates and "." not in name]
        result[..., plain] = self.cubic(q[..., plain], v[..., [rates[names[k]] for k in plain]])
        for _, k in motion.quaternions:
            nearer = self._shorter_way(q[..., k : k + 4])
            result[..., k : k + 4] = nearer / np.linalg.norm(nearer, axis=-1, keepdims=True)
        return result

    def _shorter_way(self, q: Array) -> Array:
        """Between quaternions; two opposite ones are one attitude."""
        q0, q1 = q[..., self._before, :], q[..., self._after, :]
        q1 = np.where(np.sum(q0 * q1, axis=-1, keepdims=True) < 0.0, -q1, q1)
        result: Array = q0 + self._part[:, None] * (q1 - q0)
        return result
