"""The chunks of a study computed by the workers of a Dask cluster.

A task is a chunk's number. The worker computes it and writes it, so results never pass through the scheduler. The work
is in the study's folder as a pickle, which each worker process reads once; a task has its digest, so nothing else is
unpickled. A task that ran twice, since its worker was thought to be dead, has written the same bytes twice.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from kinetree.compiler.thread_count import at_most
from kinetree.errors import DTypeError, MissingPackageError, OptionError, SaveError, SimulationError
from kinetree.files import read_regular, reason, write_file
from kinetree.sweeps.folder import StudyFolder
from kinetree.sweeps.work import Work

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["client_of", "compute_on"]

_PICKLE = "work.pickle"
_PER_THREAD = 3
"""Tasks that the scheduler has for each thread of its workers: none of them waits for the client."""
_PATIENCE = 10.0
"""Seconds until a scheduler has answered."""


def client_of(scheduler: Any, function: str = "kt.sweep") -> tuple[Client | None, Callable[[], object]]:
    """The client of a given scheduler, and a function that closes it if it is ours; None without a scheduler."""
    if scheduler is None:
        return None, lambda: None
    try:
        from distributed import Client
    except ImportError:
        raise MissingPackageError(
            f"{function}(scheduler=…) needs dask and distributed: pip install 'kinetree[dask]'"
        ) from None
    if isinstance(scheduler, Client):
        if scheduler.asynchronous:
            raise OptionError(
                f"{function} waits for its results: give a client that is not asynchronous, or its address"
            )
        return scheduler, lambda: None
    if not isinstance(scheduler, str):
        raise DTypeError(
            f"{function}: scheduler is a distributed.Client or the address of one, not {type(scheduler).__name__}"
        )
    try:
        client = Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OptionError(f"{function}: no scheduler answers at {scheduler!r:.200}: {error}") from None
    return client, client.close


def compute_on(
    client: Client, folder: StudyFolder, work: Work, pending: Sequence[int], report: Callable[[int], None]
) -> None:
    """Compute chunks on a cluster, in any order; `report` gets the number of each."""
    place = str(folder.path)
    digest, size = _write(folder.path / _PICKLE, work)
    _check_workers(client, place)
    left = iter(pending)
    going: set[Any] = set()
    ended: SimpleQueue[Any] = SimpleQueue()

    def submit() -> None:
        """Give the scheduler as many tasks as it should have."""
        room = _PER_THREAD * sum(client.nthreads().values()) - len(going)
        for number in islice(left, max(1 if not going else 0, room)):
            future = client.submit(
                _compute, place, digest, size, number, key=f"kinetree-sweep-{digest[:16]}-{number}", pure=False
            )
            going.add(future)
            future.add_done_callback(ended.put)

    try:
        submit()
        while going:
            future = ended.get()
            going.discard(future)
            report(_result(future))
            submit()
    finally:
        client.cancel([*going], force=True)
    with suppress(OSError):
        os.unlink(folder.path / _PICKLE)


def _result(future: Any) -> int:
    from distributed.scheduler import KilledWorker

    try:
        return int(future.result())
    except KilledWorker as error:
        raise SimulationError(
            f"kt.sweep: a chunk of samples was given up, since the workers that computed it died, one after another; "
            f"they may lack memory: take smaller chunks in a new folder, or more memory per worker ({error})"
        ) from None


def _write(path: Path, work: Work) -> tuple[str, int]:
    """Write the work; return its digest and its length in bytes.

    Functions of the user's script go by value, as Dask sends them.
    """
    from distributed.protocol.pickle import dumps

    try:
        data = dumps(work)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise DTypeError(f"kt.sweep: the computation cannot be sent to workers: {error}") from None
    write_file(path, lambda file: file.write(data), within=path.parent)
    return hashlib.sha256(data).hexdigest(), len(data)


def _check_workers(client: Client, place: str) -> None:
    """Raise an error if there is a worker that cannot write into the folder."""
    for address, answer in client.run(_write_error, place).items():
        if answer is not None:
            raise SaveError(
                f"kt.sweep: the worker {address} cannot write into {place}: {answer}; the folder must be where all "
                "workers reach it under the same path"
            )


def _write_error(place: str) -> str | None:
    """The reason why a worker cannot write into a folder, if there is one."""
    if not os.path.exists(os.path.join(place, _PICKLE)):
        return "the study is not there"
    return None if os.access(place, os.W_OK | os.X_OK) else "it must not"


def _compute(place: str, digest: str, size: int, number: int) -> int:
    """Compute a chunk, on one thread, since Dask counts on that."""
    folder = StudyFolder(Path(place))
    with at_most(1):
        folder.write_chunk(_work(place, digest, size), number)
    return number


@lru_cache(maxsize=4)
def _work(place: str, digest: str, size: int) -> Work:
    """The work of a study, read once in each process."""
    path = Path(place) / _PICKLE
    try:
        data = read_regular(path, size)
    except OSError as error:
        raise SaveError(f"{path} cannot be read: {reason(error)}") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise SaveError(f"{path} is not the file that the client wrote; call kt.sweep again")
    work = pickle.loads(data)
    assert isinstance(work, Work)
    return work
