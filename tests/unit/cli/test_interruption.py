"""Ctrl-C and requests to end during `kinetree simulate`: what was computed is kept, whenever they come."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.interruption import Interruption
from kinetree.sim import Trajectory
from kinetree.sim.stepper import Stepper

from .conftest import Command

if sys.platform == "win32":
    pytest.skip("a process of Windows cannot send itself signals", allow_module_level=True)

WORDS = {signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated"), signal.SIGHUP: (129, "hung up")}
RUN = ("simulate", "double_pendulum", "--q", "1,0.5", "--duration", "0.02", "--out", "run")

MOMENTS = {
    "while the robot is read": ("kinetree.cli.simulate.load_robot", 1),
    "before the first step": ("kinetree.sim.stepper.Stepper.advance", 1),
    "in the second step": ("kinetree.sim.stepper.Stepper.advance", 2),
    "in the middle": ("kinetree.sim.stepper.Stepper.advance", 9),
    "in the last step": ("kinetree.sim.stepper.Stepper.advance", 20),
    "while energies are computed": ("kinetree.sim.recording.kinetic_energy", 1),
    "while the numbers are packed": ("numpy.savez_compressed", 1),
    "while the numbers go to the disk": ("kinetree.files.os.fsync", 1),
    "while the picture is drawn": ("kinetree.plots.figures.dress", 1),
    "while the picture goes to the disk": ("kinetree.files.os.fsync", 2),
    "while the table is printed": ("kinetree.cli.simulate.summary", 1),
}


@pytest.fixture(autouse=True)
def ready(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Signals as a terminal's foreground process has them; one step per call."""
    monkeypatch.setattr(importlib.import_module("kinetree.sim.blocks"), "SECONDS_PER_BLOCK", 0.0)
    old = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    old[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in old.items():
        signal.signal(number, handler)


def send_at(monkeypatch: pytest.MonkeyPatch, moment: str, number: int) -> None:
    """Send this process a signal at the n-th call of a function."""
    target, due = MOMENTS[moment]
    module, name = target.rsplit(".", 1)
    holder: Any = pkgutil.resolve_name(module)
    real, calls = getattr(holder, name), 0

    def called(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == due:
            os.kill(os.getpid(), number)
        return real(*arguments, **options)

    monkeypatch.setattr(holder, name, called)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", MOMENTS)
def test_what_was_computed_is_kept_whenever_a_signal_comes(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch, moment: str, number: signal.Signals
) -> None:
    whole = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.02)
    send_at(monkeypatch, moment, number)
    result = kinetree(*RUN)
    code, word = WORDS[number]
    assert result.code == code
    assert [name for name in os.listdir() if name.startswith(".")] == []
    (line,) = result.err.splitlines()
    if moment in ("while the robot is read", "before the first step"):
        assert line == word
        assert os.listdir() == []
        return
    motion = Trajectory.load("run.npz")
    done = len(motion.time) - 1
    np.testing.assert_array_equal(motion.q, whole.q[: done + 1])
    np.testing.assert_array_equal(motion.kinetic, whole.kinetic[: done + 1])
    if done == 20:
        assert line.startswith(f"{word} when the motion was complete; the computed part is in run.npz")
    else:
        assert line == f"{word} after {done / 1000:g} s of 0.02 s ({done} of 20 steps); the computed part is in run.npz"
    expected = {"in the second step": 1, "in the middle": 8}.get(moment)
    assert expected is None or done == expected
    drawn = moment in ("in the second step", "in the middle", "in the last step", "while the table is printed")
    assert Path("run.png").exists() == drawn
    assert line.endswith("run.npz" if drawn else "run.npz; no picture was drawn")


@pytest.mark.parametrize("moment", list(MOMENTS)[:-1])
def test_pressing_it_again_destroys_nothing(kinetree: Command, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    send_at(monkeypatch, "in the middle", signal.SIGINT)
    if moment != "in the middle":
        send_at(monkeypatch, moment, signal.SIGTERM)
    result = kinetree(*RUN, "--quiet")
    early = moment in ("while the robot is read", "before the first step", "in the second step")
    assert (result.code, result.out) == (143 if early else 130, "")
    if moment in ("while the robot is read", "before the first step"):
        assert os.listdir() == []
    else:
        assert len(Trajectory.load("run.npz").time) == (2 if early else 9)
        assert {"run.npz"} <= set(os.listdir()) <= {"run.npz", "run.png", "run.motion.png"}


def test_an_interrupted_motion_does_not_replace_what_was_there(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kinetree(*RUN).code == 0
    before = Path("run.npz").read_bytes()
    send_at(monkeypatch, "in the middle", signal.SIGHUP)
    result = kinetree(*RUN)
    assert result.code == 129
    assert "the computed part is in run.interrupted.npz" in result.err
    assert Path("run.npz").read_bytes() == before
    assert len(Trajectory.load("run.interrupted.npz").time) == 9
    endings = ("motion.png", "npz", "png")
    assert sorted(os.listdir()) == [f"{name}.{ending}" for name in ("run.interrupted", "run") for ending in endings]


def test_an_exception_that_got_lost_is_raised_again(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python drops what is raised in a finalizer."""
    advance, calls = Stepper.advance, 0

    def swallowing(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 5:
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
        return advance(*arguments)

    monkeypatch.setattr(Stepper, "advance", swallowing)
    result = kinetree(*RUN)
    assert result.code == 143
    assert len(Trajectory.load("run.npz").time) == 5


def test_ignored_signals_stay_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    interruption = Interruption()
    with interruption.watched():
        os.kill(os.getpid(), signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert (interruption.code, interruption.sentence) == (130, "interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_process_that_is_asked_to_end_keeps_what_it_has(tmp_path: Path) -> None:
    """Its readers are dead as well, as those of a pipeline are after Ctrl-C."""
    code = """
import importlib, sys
from kinetree.cli import main
from kinetree.sim.stepper import Stepper
importlib.import_module("kinetree.sim.blocks").SECONDS_PER_BLOCK = 0.0  # one step per call
real, calls = Stepper.advance, 0
def counted(*arguments):
    global calls
    calls += 1
    if calls == 50:
        print("running", flush=True)
    return real(*arguments)
Stepper.advance = counted
main(["simulate", "double_pendulum", "--duration", "2000", "--out", "run"])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    assert process.stderr is not None
    if process.stdout.readline() != "running\n":
        pytest.fail(process.communicate()[1])
    process.stdout.close()
    process.send_signal(signal.SIGTERM)
    with process.stderr as stderr:
        said = stderr.read()
    assert process.wait() == 143
    found = re.fullmatch(r"terminated after \S+ s of 2000 s \(([\d,]+) of .* steps\); .* part is in run.npz\n", said)
    assert found
    assert len(Trajectory.load(tmp_path / "run.npz").time) == 1 + int(found[1].replace(",", ""))


# -- in Python


def test_python_gets_the_motion_with_the_exception() -> None:
    robot = kt.zoo.load("double_pendulum")

    def interrupt(done: int, steps: int) -> None:
        assert steps == 20
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(kt.sim.SimulationInterrupted, match=r"at t = 0\.006 s of 0\.02 s; .* `trajectory`") as caught:
        kt.simulate(robot, q=[1.0, 0.5], duration=0.02, view=kt.sim.Viewing(page=False, progress=interrupt))
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Exception)
    whole, part = kt.simulate(robot, q=[1.0, 0.5], duration=0.02), caught.value.trajectory
    for name in ("time", "q", "v", "tau", "kinetic", "potential", "work", "dissipated"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[:7])


def test_before_the_first_step_there_is_nothing_to_keep() -> None:
    def interrupt(_t: float, _q: object, _v: object) -> list[float]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        kt.simulate(kt.zoo.load("double_pendulum"), tau=interrupt, duration=0.02)
    assert not isinstance(caught.value, kt.sim.SimulationInterrupted)
