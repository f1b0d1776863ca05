"""The chunks of a study computed in this process, on as many threads as there are cores.

Kernels release Python's lock, so chunks that are computed side by side use all cores, which the steps of one do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from kinetree.compiler.thread_count import at_most, thread_count
from kinetree.sweeps.folder import StudyFolder
from kinetree.sweeps.work import Work

__all__ = ["compute_here"]


def compute_here(folder: StudyFolder, work: Work, pending: Sequence[int], told: Callable[[int], None]) -> None:
    """Compute chunks; `told` gets the number of each. A Python function that steps call would hold all others up, so
    then they are computed one after another."""
    threads = 1 if work.is_python else min(thread_count(), len(pending))
    if threads == 1:
        for number in pending:
            folder.write_chunk(work, number)
            told(number)
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
                told(future.result())
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
