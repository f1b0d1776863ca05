"""How many threads a call may use, and who decides."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import resources
from kinetree.compiler import helper_threads
from kinetree.compiler.batch_pieces import call_in_pieces, worth_splitting
from kinetree.compiler.thread_count import thread_count


@pytest.mark.parametrize("threads", [0, -1, 1025, True, 2.0, "2", np.float64(2.0), [2]])
def test_a_wrong_number_of_threads_is_refused_for_small_batches_too(threads: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match=r"threads must be a whole number from 1 to 1024, or None .*, not "):
        call_in_pieces(np.positive, [np.ones(3)], None, (0,), (), float, 1e-9, threads)


@pytest.mark.parametrize("text", ["0", "-1", "two", "2.0", "1025", "9" * 50, "²"])
def test_a_wrong_environment_variable_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_NUM_THREADS", text)
    with pytest.raises(
        kt.errors.OptionError, match=r"KINETREE_NUM_THREADS must be a whole number .* from 1 to 1024, not "
    ):
        thread_count()
    with pytest.raises(kt.errors.OptionError, match="KINETREE_NUM_THREADS"):
        call_in_pieces(np.positive, [np.ones(300)], None, (0,), (), float, 1.0)


def test_the_call_decides_before_the_environment_and_that_before_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_NUM_THREADS", " 5 ")
    assert thread_count() == 5
    assert thread_count(3) == 3
    assert thread_count(np.int64(7)) == 7  # type: ignore[arg-type]
    monkeypatch.setenv("KINETREE_NUM_THREADS", "wrong")
    assert thread_count(3) == 3
    for unset in ("", " "):
        monkeypatch.setenv("KINETREE_NUM_THREADS", unset)
        assert 1 <= thread_count() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity of processes to cores")
def test_cores_that_the_process_may_not_use_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KINETREE_NUM_THREADS", raising=False)
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert thread_count() == 1
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "20000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, 1024),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1024),
        ({"cpu.max": "\n"}, 1024),
        ({}, 1024),
    ],
)
def test_a_containers_quota_counts_as_cores(files: dict[str, str], cores: int, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert resources._quota(tmp_path) == cores


def test_two_tenths_of_a_millisecond_are_worth_splitting() -> None:
    assert worth_splitting(2001, 1e-7)
    assert not worth_splitting(1999, 1e-7)
    assert not worth_splitting(0, 1.0)


@pytest.mark.parametrize(
    ("samples", "work", "threads"), [(100, 1e-9, None), (100, 1e-9, 4), (100, 1.0, 1), (1, 1.0, 4)]
)
def test_small_batches_and_one_thread_never_ask_for_helpers(
    samples: int, work: float, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helper_threads, "_helpers", None)
    x = np.arange(float(samples))
    assert (call_in_pieces(np.positive, [x], None, (0,), (), float, work, threads) == x).all()
