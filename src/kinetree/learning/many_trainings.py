"""Many trainings: of seeds, settings and tasks, one after another or on a Dask cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, Any

from kinetree.errors import OptionError
from kinetree.files import file_path
from kinetree.learning.environment import Environment
from kinetree.learning.runs import Run, load_run
from kinetree.learning.training import train
from kinetree.sweeps.on_dask import client_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["train_many"]


def train_many(
    task: str | Environment,
    folder: str | PathLike[str],
    *,
    vary: Mapping[str, Sequence[Any]],
    scheduler: str | Client | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> list[Run]:
    """Learn a task many times, with other seeds and settings, each in a folder of its own.

    The same call goes on where an earlier one ended: trainings that were broken off go on from their checkpoints, and
    those that are done are not repeated. More values may be added. No bit depends on where and in which order they ran.

    Args:
        task: as for `train`.
        folder: the folders of the trainings are made in it, named by the varied values, as "seed=1,clip=0.2".
        vary: the varied values, by name: "seed", and everything else that `train` takes. There is a training
            for each combination, and that of the last name changes first.
        scheduler: a `distributed.Client`, or the address of a Dask scheduler, whose workers train, each on one thread;
            by default this process does, one after another. Workers must see the folder under the same path.
        progress: is called with (done, trainings) after each.
        options: the options common to all, as for `train`.

    Returns:
        The trainings, in order.

    Raises:
        OptionError: nothing varies, or two combinations have the same name.
        MissingPackageError: `scheduler` without Dask.

    What `train` raises in one of them ends the call; those that are done are on disk.

    >>> import kinetree as kt
    >>> runs = kt.learning.train_many(
    ...     "hopper", "runs/rates", vary={"learning_rate": [1e-4, 3e-4], "seed": range(3)}
    ... )  # doctest: +SKIP
    >>> [run.history["return"][-1] for run in runs]  # doctest: +SKIP
    """
    place = file_path("kt.learning.train_many", folder, what="folder").absolute()
    values = {name: [*x] for name, x in vary.items()}
    cases = [dict(zip(values, case, strict=True)) for case in product(*values.values())]
    folders = [place / re.sub(r"[^\w.=,+-]", "_", ",".join(f"{k}={x}" for k, x in case.items())) for case in cases]
    if not vary or not cases or len({*folders}) < len(cases):
        raise OptionError(f"vary has names, each with values that differ, to try one by one; not {vary!r:.200}")
    common = {"evaluate_every": 0, **options, "resume": True}
    given = [(task, path, {**common, **case}) for case, path in zip(cases, folders, strict=True)]
    client, close = client_of(scheduler, "kt.learning.train_many")
    try:
        done = (train(task, path, **own) for task, path, own in given) if client is None else _trained_on(client, given)
        for k, _ in enumerate(done, 1):
            if progress is not None:
                progress(k, len(cases))
    finally:
        close()
    own = task if isinstance(task, Environment) else None
    return [load_run(path, own) for path in folders]


def _trained_on(client: Client, given: list[tuple[Any, Any, dict[str, Any]]]) -> Iterator[None]:
    """Train on the workers of a cluster; one item after each training."""
    from distributed import as_completed

    futures = client.map(_trained, given, pure=False)
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        client.cancel(futures, force=True)


def _trained(given: tuple[Any, Any, dict[str, Any]]) -> None:
    """Train on one thread, without a line of progress; the results are on disk."""
    task, path, options = given
    train(task, path, **{"threads": 1, "progress": _quiet, **options})


def _quiet(_: Mapping[str, float]) -> None:
    """The figures of an iteration go nowhere."""
