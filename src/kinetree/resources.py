"""The cores and the memory that this process may use."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["available_cores", "available_memory"]

_GROUPS = Path("/sys/fs/cgroup")
_UNLIMITED = 1024
_LIMITS = (
    ("memory.max", "memory.current"),  # cgroup v2, then v1
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def available_memory(groups: Path = _GROUPS, system: Path = Path("/proc/meminfo")) -> int | None:
    """Bytes that can be taken without slowing others down, also by a container's limit; None if that is not known.

    >>> (available_memory() or 1) > 0
    True
    """
    limits: list[int] = []
    with suppress(OSError, ValueError, StopIteration):
        line = next(line for line in system.read_text().splitlines() if line.startswith("MemAvailable:"))
        limits.append(1024 * int(line.split()[1]))
    for most, used in _LIMITS:
        with suppress(OSError, ValueError):  # no such file, or "max"
            limits.append(max(0, int((groups / most).read_text()) - int((groups / used).read_text())))
    return min(limits, default=None)


def available_cores() -> int:
    """The cores that this process may use, by its affinity and its container's CPU quota.

    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "process_cpu_count"):  # Python 3.13: also knows -X cpu_count
        cores = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count()
    return max(1, min(cores or 1, _quota()))


@cache
def _quota(root: Path = _GROUPS) -> int:
    """Number of cores that a container's CPU quota amounts to, rounded up."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):  # cgroup v2, then v1
        try:
            quota, period = (int(word) for file in files for word in (root / file).read_text().split())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if quota > 0 and period > 0:
            return -(-quota // period)
    return _UNLIMITED
