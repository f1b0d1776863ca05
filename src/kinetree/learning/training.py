"""Trainings: iterations of an algorithm, with checkpoints, episodes to look at, and figures of how it goes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from kinetree.errors import NameNotFoundError, OptionError, nearest_names
from kinetree.files import file_path
from kinetree.inputs import chosen_word
from kinetree.interop.installed import check_installed
from kinetree.learning.environment import Environment
from kinetree.learning.runs import Run, has_run, load_run
from kinetree.learning.settings import ARS, PPO
from kinetree.learning.tasks import task as task_of_name
from kinetree.learning.tasks import training_of
from kinetree.progress import bar, live_line

__all__ = ["TrainingInterrupted", "train"]

Figures = Mapping[str, float]
_KINDS = {"ppo": PPO, "ars": ARS}
_BETWEEN_CHECKPOINTS = 30.0
"""Seconds."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C during `train`; the training until then is in `run`, and in its folder."""

    def __init__(self, run: Run) -> None:
        super().__init__(
            f"interrupted after {run.about['iterations']:,} iterations, which are in {run.folder}; with resume=True "
            "the same call goes on from there"
        )
        self.run = run


def train(
    task: str | Environment,
    folder: str | PathLike[str],
    *,
    algorithm: str = "ppo",
    steps: int | None = None,
    seed: int = 0,
    resume: bool = False,
    options: Mapping[str, Any] = _NOTHING,
    evaluate_every: int = 100,
    threads: int | None = None,
    progress: Callable[[Figures], None] | None = None,
    **settings: Any,
) -> Run:
    """Learn a task, with checkpoints in a folder.

    The same call with `resume=True` continues a training that was interrupted or killed, and ends with the same
    bits as one that was not. They do not depend on the number of threads either.

    Args:
        task: the name of a task of kinetree's, as for `kt.learning.task`, or a `kt.environment`.
        folder: where the checkpoint goes, run.npz, and the motions of evaluations. Made if it is missing.
        algorithm: "ppo", proximal policy optimisation with PyTorch; or "ars", augmented random search.
        steps: of all worlds together, after which the training ends; by default those of the task, or a million.
        seed: of everything that is random.
        resume: whether a training in the folder is continued; otherwise it is an error that there is one.
        options: those of the task.
        evaluate_every: iterations between episodes without noise, whose motions are saved; 0 for none.
        threads: how many threads there may be; by default as many as there are processors.
        progress: a function that is called with the figures of each iteration; by default there is a line about them.
        settings: those of the algorithm, the fields of `kt.learning.PPO` and `kt.learning.ARS`; by default the task's
            own, or theirs.

    Returns:
        The training, with the policy and its weights.

    Raises:
        NameNotFoundError: there is no such task, algorithm or setting.
        OptionError: there is another training in the folder, or one of a task that has been changed since.
        MissingPackageError: PyTorch is not installed.
        TrainingInterrupted: for Ctrl-C; the last whole iteration is saved.

    Warns:
        SimulationWarning: what `env.check` says of the beginnings of episodes.

    >>> import kinetree as kt
    >>> run = kt.learning.train("hopper", "runs/hopper", steps=4_000_000)  # doctest: +SKIP
    >>> run.play().film("hopper.mp4")  # doctest: +SKIP
    """
    env, name, usual = task, None, _NOTHING
    if not isinstance(env, Environment):
        name, env = str(task), task_of_name(str(task), **options)
        usual = training_of(name)
    if chosen_word("algorithm", algorithm, *_KINDS) == "ppo":
        check_installed("kt.learning.train", "torch", extra="learning")
    usual = dict(usual.get(algorithm, {}))
    own_steps = usual.pop("steps", 1_000_000)
    steps = int(steps or own_steps)
    module = import_module(f"kinetree.learning.{algorithm}")
    setting = _settings(_KINDS[algorithm], {**usual, **settings})
    about: dict[str, Any] = {
        "task": name or env.name, "options": None if name is None else _plain(options), "algorithm": algorithm,
        "settings": {key: _plain(x) for key, x in asdict(setting).items() if not callable(x)}, "seed": seed,
        "digest": env.digest,
    }  # fmt: skip
    path = file_path("kt.learning.train", folder, what="folder")
    learner = module.Learner(env, setting, seed, threads)
    history: list[Figures] = []
    if has_run(path):
        history = _restored(learner, load_run(path, env), about, resume)
    else:
        env.check(seed=seed)
    training = _Training(path, env, about, learner, history)
    training.run(steps, evaluate_every, progress)
    return training.saved


class _Training:
    """A training that goes on."""

    def __init__(
        self, folder: Path, env: Environment, about: Mapping[str, Any], learner: Any, history: list[Figures]
    ) -> None:
        self._folder, self._env, self._about, self._learner = folder, env, about, learner
        self._history = history
        self.saved: Run = self._present()

    def _present(self) -> Run:
        names = self._history[0] if self._history else ()
        history = {name: np.array([row[name] for row in self._history]) for name in names}
        iterations = len(self._history)
        about = {**self._about, "iterations": iterations, "steps": iterations * self._learner.steps}
        return Run(
            self._folder, self._env, self._learner.policy, self._learner.weights, about, history, self._learner.state()
        )

    def run(self, steps: int, evaluate_every: int, progress: Callable[[Figures], None] | None) -> None:
        """Iterate until so many steps were taken; at the end, now and then and when interrupted all is saved."""
        iterations = -(-steps // self._learner.steps)
        board, line = _tensorboard(self._folder), live_line() if progress is None else None
        written = time.monotonic()
        before = self._history[-1]["time"] if self._history else 0.0
        begin = time.perf_counter() - before
        try:
            while len(self._history) < iterations:
                figures = self._learner.iterate()
                count = len(self._history) + 1
                figures = {"time": time.perf_counter() - begin, "steps": float(count * self._learner.steps), **figures}
                self._history.append(figures)
                self.saved = self._present()
                if board is not None:
                    for name, x in figures.items():
                        board.add_scalar(name, x, count * self._learner.steps)
                if progress is not None:
                    progress(figures)
                elif line is not None:
                    line.show(_sentence(figures, count / iterations))
                if evaluate_every and count % evaluate_every == 0:
                    self._evaluate(count)
                if time.monotonic() - written > _BETWEEN_CHECKPOINTS:
                    self.saved.save()
                    written = time.monotonic()
        except (KeyboardInterrupt, Exception) as error:
            self.saved.save()
            if isinstance(error, KeyboardInterrupt):
                raise TrainingInterrupted(self.saved) from None
            raise
        finally:
            if line is not None:
                line.end()
            if board is not None:
                board.close()
        self.saved.save()

    def _evaluate(self, count: int) -> None:
        """Save the motion of an episode without noise."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.saved.play().save(self._folder / f"evaluation_{count:06d}.npz")


def _settings(kind: Any, given: Mapping[str, Any]) -> Any:
    """Settings of an algorithm, if it has all those that are given."""
    known = {field.name: field.type for field in fields(kind)}
    for name in given:
        if name not in known:
            raise NameNotFoundError(f"{kind.__name__} has no setting {name!r:.60}: {nearest_names(name, known)}")
    return kind(**given)


def _restored(learner: Any, run: Run, about: Mapping[str, Any], resume: bool) -> list[Figures]:
    """The history of a training that is continued."""
    if not resume:
        raise OptionError(
            f"there is a training of {run.about['task']} in {run.folder} already: give resume=True to continue it, "
            "or another folder"
        )
    was, now = ({**record, **record["settings"]} for record in (run.about, about))
    if was.get("digest", now["digest"]) != now["digest"]:
        raise OptionError(
            f"the task {now['task']} is not the one whose training is in {run.folder}: its robot, functions or numbers "
            "have changed since (or Python's version); a training goes on with what it began with: give another folder"
        )
    for name in now.keys() - {"settings", "digest"}:
        if was.get(name) != now[name]:
            raise OptionError(
                f"the training in {run.folder} has {name} {was.get(name)!r}, and this one {now[name]!r}; a training "
                "keeps its settings: give another folder"
            )
    learner.restore(run.state)
    count = run.about["iterations"]
    return [{name: float(x[k]) for name, x in run.history.items()} for k in range(count)]


def _plain(x: Any) -> Any:
    """A value as JSON has it; None if it has none, as for a distribution."""
    try:
        return json.loads(json.dumps(dict(x) if isinstance(x, Mapping) else x))
    except TypeError:
        return None


def _tensorboard(folder: Path) -> Any:
    """A writer of TensorBoard's files, if that is installed."""
    if find_spec("tensorboard") is None or find_spec("torch") is None:
        return None
    return import_module("torch.utils.tensorboard").SummaryWriter(str(folder / "tensorboard"))


def _sentence(figures: Figures, share: float) -> str:
    return (
        f"training {bar(share)} {share:4.0%}, return {figures['return']:.4g}, length {figures['length']:.4g}, "
        f"{figures['steps/s']:,.0f} steps/s"
    )
