"""Studies on a cluster of processes: no sample is lost or computed differently when workers and clients are killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sweeps import Study, Uniform, load_study, on_dask

distributed = pytest.importorskip("distributed", reason="distributed is not installed")

ROBOT = kt.zoo.load("double_pendulum")
STUDY: dict[str, Any] = {
    "vary": {"q": Uniform(-1.0, 1.0)}, "samples": 24, "chunk": 2, "duration": 0.08, "dt": 0.01,
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return kt.sweep(ROBOT, tmp_path_factory.mktemp("expected") / "study", **STUDY)


def same(one: Study, other: Study) -> None:
    assert one.is_complete
    for name, x in other.results.items():
        np.testing.assert_array_equal(one.results[name], x, err_msg=name)


def test_workers_that_are_killed_lose_nothing(tmp_path: Path, client: Any, expected: Study) -> None:
    kills: list[int] = []

    def kill(done: int, samples: int) -> None:
        if done >= 4 and not kills:
            kills.extend(client.run(os.getpid).values())
            os.kill(kills[0], signal.SIGKILL)
        assert samples == 24

    study = kt.sweep(ROBOT, tmp_path / "study", scheduler=client, progress=kill, **STUDY)
    assert len(kills) == 2
    same(study, expected)
    assert not (tmp_path / "study" / "work.pickle").exists()


def test_a_client_that_is_interrupted_leaves_whole_chunks(tmp_path: Path, client: Any, expected: Study) -> None:
    def stop(done: int, samples: int) -> None:  # noqa: ARG001
        if done >= 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kt.sweep(ROBOT, tmp_path / "study", scheduler=client, progress=stop, **STUDY)
    assert load_study(tmp_path / "study").done >= 6
    same(kt.sweep(ROBOT, tmp_path / "study", scheduler=client.scheduler.address, **STUDY), expected)


def test_functions_of_a_script_go_along(tmp_path: Path, client: Any) -> None:
    gain = 2.0

    def pulls(_t: float, q: Any, _v: Any) -> Any:
        return -gain * q

    def most(motion: kt.Trajectory) -> dict[str, Any]:
        return {"most": abs(motion.tau).max(axis=(1, 2))}

    more: dict[str, Any] = {"tau": pulls, "measure": most}
    study = kt.sweep(ROBOT, tmp_path / "study", scheduler=client, **STUDY, **more)
    here = kt.sweep(ROBOT, tmp_path / "here", **STUDY, **more)
    same(study, here)


def test_what_does_not_work_on_a_cluster(tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "_PATIENCE", 0.2)
    with pytest.raises(kt.errors.OptionError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        kt.sweep(ROBOT, tmp_path / "study", scheduler="tcp://127.0.0.1:1", **STUDY)
    lock = threading.Lock()

    def measure(motion: kt.Trajectory) -> dict[str, Any]:
        with lock:
            return {"x": motion.ended}

    with pytest.raises(kt.errors.DTypeError, match="cannot be sent to workers"):
        kt.sweep(ROBOT, tmp_path / "study", scheduler=client, measure=measure, **STUDY)
