"""Tasks that come with kinetree, each a function in a short file."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kinetree.errors import NameNotFoundError, listed

if TYPE_CHECKING:
    from kinetree.learning.environment import Environment

__all__ = ["NAMES", "task", "training_of"]

_FILES = {"quadruped_rough": "quadruped", "g1_stand": "g1", "g1_walk": "g1"}
"""The files of tasks that are not called like their file."""
NAMES = (
    "cart_pole", "reacher", "hopper", "half_cheetah", "walker", "ant", "humanoid", "quadruped", "quadruped_rough",
    "g1_stand", "g1_walk",
)  # fmt: skip
"""The names of all tasks."""


def task(name: str, **options: Any) -> Environment:
    """A task that comes with kinetree, by its name.

    Args:
        name: "cart_pole", "reacher", "hopper", "half_cheetah", "walker", "ant", "humanoid", "quadruped",
            "quadruped_rough", "g1_stand" or "g1_walk".
        options: those of the task, which its own docstring lists, and those of `kt.environment`.

    Raises:
        NameNotFoundError: There is no such task.
        MissingPackageError: The package that holds its robot is not installed.

    >>> import kinetree as kt
    >>> env = kt.learning.task("half_cheetah", reset_noise_scale=0.0)
    >>> out = env.reset(seed=0, worlds=3)
    >>> out.observation.shape
    (3, 17)
    """
    if name not in NAMES:
        raise NameNotFoundError(f"there is no task {name!r:.60}; the tasks are {listed(map(repr, NAMES), most=20)}")
    env: Environment = getattr(_file(name), name)(**options)
    return env


def training_of(name: str) -> Mapping[str, Any]:
    """Settings that suit a task, by algorithm: those of TRAINING in its file, "steps" among them."""
    settings: Mapping[str, Any] = getattr(_file(name), "TRAINING", {})
    return settings


def _file(name: str) -> ModuleType:
    return importlib.import_module(f"kinetree.learning.tasks.{_FILES.get(name, name)}")
