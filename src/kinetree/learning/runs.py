"""Trainings on disk: the policy, everything that the next iteration depends on, and how it went."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError, TrajectoryFileError
from kinetree.files import file_path, open_regular, reason, write_file
from kinetree.learning.environment import Environment
from kinetree.learning.playing import play
from kinetree.learning.policies import Policy
from kinetree.learning.tasks import task as task_of_name
from kinetree.records import record
from kinetree.sim import Trajectory

__all__ = ["Run", "load_run"]

Array = NDArray[Any]
_FILE = "run.npz"
_VERSION = 1


@record(frozen=True, slots=True, eq=False)
class Run:
    """A training, as far as it has come; `kt.learning.train` returns it, and `kt.learning.load_run` reads it."""

    folder: Path
    env: Environment
    """The task."""
    policy: Policy
    weights: Array
    """The numbers of the policy (policy.size,): `policy(weights, observation)` is the action without noise."""
    about: Mapping[str, Any]
    """The task, its options, the algorithm, its settings and the seed; the iterations and steps until now."""
    history: Mapping[str, Array]
    """Figures of each iteration by name (iterations,)."""
    state: Mapping[str, Array]
    """Everything that the next iteration depends on, by name."""

    def __repr__(self) -> str:
        training = "{task} with {algorithm}: {steps:,} steps in {iterations:,} iterations".format(**self.about)
        return f"<run of {training}, {self.folder}>"

    def play(self, worlds: int | None = None, *, seed: int = 0, steps: int | None = None) -> Trajectory:
        """An episode of the policy without noise, as a motion to show: `film`, `strip`, `kt.view`, `save`.

        Args:
            worlds: how many episodes, as a batch; None for one.
            seed: that of the worlds' random numbers.
            steps: the longest episode; by default the task's own, or 1000.

        >>> run = kt.learning.load_run("runs/hopper")  # doctest: +SKIP
        >>> run.play().film("hopper.mp4")  # doctest: +SKIP
        """
        return play(self.env, self.policy, self.weights, worlds, seed=seed, steps=steps)

    def save(self) -> Path:
        """Write the checkpoint, wholly or not at all; `train` does so by itself."""
        policy = asdict(self.policy)
        header = json.dumps({"version": _VERSION, "about": dict(self.about), "policy": policy})
        arrays = {"header": np.array(header), "weights": self.weights}
        arrays |= {f"history {name}": x for name, x in self.history.items()}
        arrays |= {f"state {name}": x for name, x in self.state.items()}
        path = self.folder / _FILE
        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(path, lambda stream: np.savez(stream, allow_pickle=False, **arrays))
        return path


def has_run(folder: Path) -> bool:
    """Whether there is a checkpoint in a folder."""
    return (folder / _FILE).exists()


def load_run(folder: str | PathLike[str], env: Environment | None = None) -> Run:
    """The training in a folder: its policy to play, to compile and to write as C, and how it went.

    The file holds arrays and text alone: nothing in it is executed.

    Args:
        folder: that of `kt.learning.train`.
        env: the task, if it is not one of kinetree's own.

    Raises:
        TrajectoryFileError: there is no training, or its file is damaged.
        OptionError: it is a training of another task, or of one that only its author has and `env` is missing.

    >>> import kinetree as kt
    >>> run = kt.learning.load_run("runs/hopper")  # doctest: +SKIP
    >>> run.policy(run.weights, observation)  # doctest: +SKIP
    """
    path = file_path("kt.learning.load_run", folder, what="folder") / _FILE
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays.pop("header")))
        about, given = header["about"], header["policy"]
        if header["version"] != _VERSION:
            raise TrajectoryFileError(f"{path} is of another version of kinetree")
        bounds = given.pop("bounds")
        policy = Policy(sizes=tuple(given.pop("sizes")), bounds=bounds and tuple(map(tuple, bounds)), **given)
        weights = arrays.pop("weights")
    except FileNotFoundError:
        raise TrajectoryFileError(
            f"there is no training in {path.parent}: no {_FILE}, which kt.learning.train writes"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise TrajectoryFileError(
            f"{path} does not hold a training of kinetree, or is damaged: {reason(error)}"
        ) from None
    env = _task_of(about, path) if env is None else env
    sizes = env.observation_size, env.action_size
    if about["task"] != env.name or (policy.observation_size, policy.action_size) != sizes:
        raise OptionError(
            f"{path} is a training of {about['task']}, with observations of {policy.observation_size} numbers and "
            f"actions of {policy.action_size}; this is {env.name}, with {sizes[0]} and {sizes[1]}"
        )

    def part(kind: str) -> dict[str, Array]:
        return {name.removeprefix(kind): x for name, x in arrays.items() if name.startswith(kind)}

    return Run(path.parent, env, policy, weights, about, part("history "), part("state "))


def _task_of(about: Mapping[str, Any], path: Path) -> Environment:
    if about["options"] is None:
        raise OptionError(
            f"{path} is a training of {about['task']!r}, and does not say how to make it: give env= as well"
        )
    return task_of_name(about["task"], **about["options"])
