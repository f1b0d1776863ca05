"""`kinetree simulate --view`: the motion on a page while it is computed, and the files as always."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kinetree.sim import Trajectory
from kinetree.viewer.viewer import Viewer

from .conftest import Command

RUN = ("simulate", "double_pendulum", "--q", "1,0.5", "--duration", "0.05")


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody opens a page, and Ctrl-C comes at once."""
    monkeypatch.setattr("kinetree.viewer.live.PATIENCE", 0.01)
    monkeypatch.setattr(Viewer, "wait", lambda _: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # viser: what is sent to a server that is about to stop
        yield


@pytest.mark.parametrize("more", [(), ("--speed", "inf"), ("--integrator", "discrete")])
def test_the_files_are_the_same(kinetree: Command, tmp_path: Path, more: tuple[str, ...]) -> None:
    shown = kinetree(*RUN, "--view", *more, "--out", str(tmp_path / "seen"))
    assert shown.code == 0
    assert "http://127.0.0.1:" in shown.out + shown.err
    assert kinetree(*RUN, *(x for x in more if x not in ("--speed", "inf")), "--out", str(tmp_path / "alone")).code == 0
    seen, alone = (Trajectory.load(tmp_path / f"{name}.npz") for name in ("seen", "alone"))
    np.testing.assert_array_equal(seen.q, alone.q)
    assert seen.recorded.keys() == alone.recorded.keys()


def test_ctrl_c_during_the_motion_writes_it_and_does_not_wait(
    kinetree: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kinetree.viewer.live.LivePage.show", stop)
    found = kinetree(*RUN, "--view", "--out", str(tmp_path / "run"))
    assert found.code == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--speed", "0"), "a positive number or inf"), (("--view", "--speed", "-1"), "a positive number or inf")],
)
def test_wrong_speeds(kinetree: Command, options: tuple[str, ...], message: str) -> None:
    found = kinetree(*RUN, *options)
    assert found.code == 2
    assert message in " ".join(found.err.split())
