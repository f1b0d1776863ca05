"""Optimised code is made while a program runs, whatever happens to the program meanwhile."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.codegen.cpu import background, modules
from kinetree.codegen.kept import cache
from kinetree.compiler.calls import _kernels
from kinetree.compiler.compiled import CompiledFunction

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")

_PROGRAM = """
import os, sys, time
import numpy as np
import kinetree as kt
from kinetree.codegen.cpu import background, modules
from kinetree.codegen.kept import identity
identity._WHILE_IMPORTING = -1e9  # files of kinetree may have been edited just now
modules._AT_ONCE = 0
started = []

class Counted(background.OwnProcess):
    def __init__(self, *given, **named):
        started.append(1)
        super().__init__(*given, **named)

background.OwnProcess = Counted
robot = kt.zoo.load({robot!r})
f = kt.compile(robot, {function})
q, v, tau = np.full((3, 6), 0.1)

def wait(seconds=60.0):
    until = time.monotonic() + seconds
    while not f.__self__.optimized and time.monotonic() < until:
        time.sleep(0.01)
    return f.__self__.optimized

"""


def program(text: str, function: str = "kt.aba", robot: str = "arm6") -> list[str]:
    return [sys.executable, "-c", _PROGRAM.format(function=function, robot=robot) + text]


@pytest.fixture(autouse=True)
def _background(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KINETREE_OPTIMIZE", "background")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr("kinetree.codegen.cpu.backend.toolchain", lambda *_: bytes(32))
    monkeypatch.setattr("kinetree.codegen.cpu.modules.assembler", lambda how, *_: how.encode().ljust(32))
    monkeypatch.setattr(modules, "_AT_ONCE", 0)
    monkeypatch.setattr(background, "_said", False)


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def workers(place: Path) -> list[int]:
    """The processes that compile for programs with this cache."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                command, environment = (process / "cmdline").read_bytes(), (process / "environ").read_bytes()
            except OSError:  # has ended, or belongs to someone else
                continue
            if b"own_process" in command and str(place).encode() in environment:
                found.append(int(process.name))
    return found


def arm() -> kt.Model:
    return kt.zoo.load("arm6")


def result(f: Any) -> np.ndarray:
    return np.array(f(*np.full((3, 6), 0.1)))


def test_what_was_compiled_quickly_is_optimised_while_it_is_used() -> None:
    f = kt.compile(arm(), kt.aba)
    compiled: CompiledFunction = f.__self__
    first = result(f)
    batch = compiled(*np.full((3, 5, 6), 0.1))
    assert until(lambda: compiled.optimized)
    np.testing.assert_array_equal(result(f), first)
    np.testing.assert_array_equal(compiled(*np.full((3, 5, 6), 0.1)), batch)
    assert f.__self__ is compiled
    assert compiled.call is f  # the very builtin that was returned before


def test_small_code_is_optimised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "_AT_ONCE", 10**9)
    assert kt.compile(arm(), kt.aba).__self__.optimized


@pytest.mark.parametrize("variable", [False, True])
def test_it_is_optimised_when_that_is_asked_for(variable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(when: str) -> CompiledFunction:
        if variable:
            monkeypatch.setenv("KINETREE_OPTIMIZE", when)
            return kt.compile(arm(), kt.aba).__self__
        return kt.compile(arm(), kt.aba, optimize=when).__self__

    monkeypatch.setattr(background.Waiting, "optimize_later", lambda _: asked.append(1))
    asked: list[int] = []
    assert not made("quick").optimized
    assert asked == []
    assert not made("background").optimized
    assert asked == [1]
    assert made("now").optimized
    assert asked == [1]


def test_the_most_that_callers_ask_for_is_done() -> None:
    robot = arm()
    f = kt.compile(robot, kt.aba, optimize="quick")
    first = result(f)
    assert not f.__self__.optimized
    assert kt.compile(robot, kt.aba, optimize="now") is f
    assert f.__self__.optimized
    assert kt.compile(robot, kt.aba, optimize="quick").__self__.optimized
    f.__self__(*np.full((3, 5, 6), 0.1))  # code for batches, made now
    assert f.__self__.optimized
    np.testing.assert_array_equal(result(f), first)


def test_now_takes_over_from_the_background() -> None:
    f = kt.compile(arm(), kt.dynamics.aba_derivatives)
    kt.compile(f.__self__.source.model, kt.dynamics.aba_derivatives)  # another copy of the robot: another function
    f.__self__.optimize("now")
    assert f.__self__.optimized


def test_programs_are_optimised_in_the_background_too() -> None:
    @kt.program(x=3)
    def squares(x: Any) -> Any:
        return x * x + 1.0

    f = squares.compile(optimize="quick")
    assert not f.__self__.optimized
    assert squares.compile() is f
    assert until(lambda: f.__self__.optimized)
    np.testing.assert_array_equal(squares(np.arange(3.0)), [1.0, 2.0, 5.0])


@pytest.mark.parametrize("wrong", ["later", "", True, 1, ["now"]])
def test_another_word_is_refused(wrong: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match='optimize must be "background", "now" or "quick", or None for '):
        kt.compile(arm(), kt.aba, optimize=wrong)


def test_another_word_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_OPTIMIZE", "later")
    with pytest.raises(
        kt.errors.OptionError, match="KINETREE_OPTIMIZE must be background, now or quick, not 'later'; unset"
    ):
        kt.aba(arm(), *np.zeros((3, 6)))


def test_a_program_that_python_is_built_into_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    for executable in ("", "/usr/bin/blender", None):
        monkeypatch.setattr(sys, "executable", executable)
        assert kt.compile(arm(), kt.aba).__self__.optimized


def test_a_process_that_dies_leaves_the_code_that_there_is_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "_MEMORY", -(10**12))  # less than nothing
    with caplog.at_level(logging.WARNING, "kinetree"):
        made = [kt.compile(arm(), function) for function in (kt.aba, kt.crba, kt.rnea)]
        assert until(lambda: not background._running and not background._queue)
    assert [f.__self__.optimized for f in made] == [False] * 3
    (record,) = caplog.records
    assert record.getMessage().startswith("code could not be optimised in the background and stays slower")
    assert np.isfinite(result(made[0])).all()


def test_it_waits_for_another_time_if_there_is_not_enough_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "available_memory", lambda: 100 << 20)
    monkeypatch.setattr(background, "OwnProcess", None)  # is not called
    with caplog.at_level(logging.WARNING, "kinetree"):
        f = kt.compile(arm(), kt.aba)
        assert until(lambda: bool(caplog.records))
    assert "it would take about 15" in caplog.text
    assert "100 MiB are free" in caplog.text
    assert not f.__self__.optimized


@linux
def test_a_killed_worker_leaves_the_code_that_there_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    f = kt.compile(arm(), kt.dynamics.aba_derivatives)
    assert until(lambda: bool(workers(tmp_path)))
    for worker in workers(tmp_path):
        os.kill(worker, signal.SIGKILL)
    assert until(lambda: "its process ended with code -9" in caplog.text)
    assert not f.__self__.optimized
    assert np.isfinite(f(*np.full((3, 6), 0.1))).all()


def test_without_a_cache_it_is_optimised_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "off")
    f = kt.compile(arm(), kt.aba)
    assert until(lambda: f.__self__.optimized)


def test_code_of_a_robot_that_is_gone_is_not_optimised(monkeypatch: pytest.MonkeyPatch) -> None:
    import gc

    waiting: list[background.Waiting] = []
    monkeypatch.setattr(background.Waiting, "optimize_later", lambda self: waiting.append(self))
    kt.compile(arm(), kt.aba)
    gc.collect()
    assert [x.is_over for x in waiting] == [True]


def test_rollouts_are_optimised_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their kernels, which are run once per step, of one motion and of many."""
    monkeypatch.setenv("KINETREE_OPTIMIZE", "quick")
    robot = kt.zoo.load("double_pendulum")
    q, v, tau = np.array([0.1, 0.2]), np.zeros(2), np.full((5, 2), 0.3)
    many = [np.broadcast_to(x, (3, *x.shape)) for x in (q, v, tau)]
    before = kt.rollout(robot, q, v, tau, 0.01), kt.rollout(robot, *many, 0.01)
    compiled = [f for f in _kernels[id(robot)].values() if not f.optimized]
    codes = [waiting._code() for f in compiled for waiting in f._kernels._modules.waiting]  # type: ignore[attr-defined]
    addresses = [code.address("kernel") for code in codes]
    assert len(codes) >= 2
    for f in compiled:
        f.optimize("now")
        assert f.optimized
    assert not set(addresses) & {code.address("kernel") for code in codes}
    after = kt.rollout(robot, q, v, tau, 0.01), kt.rollout(robot, *many, 0.01)
    for x, y in zip(before, after, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_text_that_is_not_on_the_disk_is_made_again(tmp_path: Path) -> None:
    kt.compile(arm(), kt.aba, optimize="quick")  # keeps no text
    assert list((tmp_path / "kept").glob("*.text")) == []
    f = kt.compile(arm(), kt.aba)
    first = result(f)
    assert f.__self__._program is None or not f.__self__.optimized
    assert until(lambda: f.__self__.optimized)
    np.testing.assert_array_equal(result(f), first)


# -- processes


def test_what_one_process_has_not_finished_the_next_one_does(tmp_path: Path) -> None:
    """Without tracing: the module's text is on the disk until the code is optimised."""
    ended = subprocess.run(
        program("print(f.__self__.optimized)", "kt.dynamics.aba_derivatives"), capture_output=True, text=True
    )
    assert ended.stdout == "False\n"
    assert all(line.startswith("compiling ") for line in ended.stderr.splitlines())  # on a busy machine
    kept = tmp_path / "kept"
    assert len(list(kept.glob("*.code"))) == len(list(kept.glob("*.text"))) == 1
    text = "from kinetree.compiler.specialization import Specialization\n"
    again = program(text + "assert f.__self__._program is None and wait() and f.__self__._program is None")
    again[-1] = again[-1].replace("kt.aba)", "kt.dynamics.aba_derivatives)")
    done = subprocess.run(again, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(kept.glob("*.code"))) == 2
    assert list(kept.glob("*.text")) == []


@linux
@pytest.mark.parametrize("end", ["", "sys.exit(3)", "os._exit(0)", "os.kill(os.getpid(), 9)", "raise KeyError(1)"])
def test_when_the_program_ends_its_worker_does_without_delay(end: str, tmp_path: Path) -> None:
    running = "while not background._running or None in background._running.values(): time.sleep(0.001)\n"
    text = f"{running}time.sleep(0.3)\nprint(f.__self__.optimized, time.time(), flush=True)\n{end}"
    work = program(text, "kt.dynamics.aba_derivatives", "quadruped")  # its worker takes several times 0.3 s
    process = subprocess.run(work, capture_output=True, text=True)
    was_optimised, at = process.stdout.split()
    assert was_optimised == "False"
    assert time.time() - float(at) < 5.0  # nobody waits for the worker
    assert until(lambda: not workers(tmp_path), 5.0)


@linux
def test_an_interrupt_ends_the_program_and_not_what_it_compiles(tmp_path: Path) -> None:
    """Ctrl-C goes to all processes that the terminal shows; a program that goes on has its optimised code."""
    text = (
        "try:\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print(wait(), flush=True)\n"
    )
    process = subprocess.Popen(
        program(text, "kt.dynamics.aba_derivatives"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    assert until(lambda: bool(workers(tmp_path)))
    os.killpg(process.pid, signal.SIGINT)
    printed, warned = process.communicate()
    assert printed == "True\n"
    assert all(line.startswith("compiling ") for line in warned.splitlines())  # on a busy machine


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_children_of_a_fork_have_the_optimised_code_as_well() -> None:
    text = (
        "children = []\n"
        "for k in range(3):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        fine = not f.__self__.optimized and wait() and np.isfinite(f(q, v, tau)).all()\n"
        "        os._exit(0 if fine else 1)\n"
        "    children.append(child)\n"
        "fine = wait()\n"
        "print(fine, [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])\n"
    )
    done = subprocess.run(program(text, "kt.dynamics.aba_derivatives"), capture_output=True, text=True, timeout=120)
    assert done.stdout == "True [0, 0, 0]\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_child_without_a_cache_starts_a_worker_of_its_own() -> None:
    text = (
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if wait() else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    environment = {**os.environ, "KINETREE_CACHE": "off"}
    done = subprocess.run(program(text), capture_output=True, text=True, timeout=120, env=environment)
    assert done.stdout == "0\n", done.stderr


@pytest.mark.deep
@linux
def test_programs_killed_at_any_time_leave_whole_entries_and_no_workers(tmp_path: Path) -> None:
    kills = int(os.environ.get("KINETREE_TEST_KILLS", "6"))
    text = "print('ready', flush=True)\nwait()\nprint('done', flush=True)\ntime.sleep(60)"
    for turn in range(kills):
        process = subprocess.Popen(program(text), stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.3 * turn / kills)
        process.kill()
        process.wait()
        process.stdout.close()
        kept = cache.Cache(tmp_path / "kept")
        for path in (tmp_path / "kept").glob("*.code"):
            assert kept.read(bytes.fromhex(path.stem)) is not None, turn
        if turn % 3 == 2:
            kept.clear()
    assert until(lambda: not workers(tmp_path), 5.0)
    done = subprocess.run(program("print(wait(), *f(q, v, tau))"), capture_output=True, text=True, check=True)
    expected = kt.compile(arm(), kt.aba, optimize="now")(*np.full((3, 6), 0.1))
    assert done.stdout.split() == ["True", *map(str, expected)]


@pytest.mark.deep
def test_many_processes_at_once_all_have_it_in_the_end(tmp_path: Path) -> None:
    count = int(os.environ.get("KINETREE_TEST_PROCESSES", "4"))
    processes = [
        subprocess.Popen(program("print(wait(300.0), *f(q, v, tau), len(started))"), stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    answers = [process.communicate()[0].split() for process in processes]
    assert len({(*answer[:-1],) for answer in answers}) == 1
    assert answers[0][0] == "True"
    assert sum(int(answer[-1]) for answer in answers) == 1  # one compiles for all
    assert len(list((tmp_path / "kept").glob("*.code"))) == 2
    assert list((tmp_path / "kept").glob("*.text")) == []


@linux
@pytest.mark.parametrize("has_locks", [True, False])
def test_what_a_killed_process_has_claimed_another_one_compiles(has_locks: bool, tmp_path: Path) -> None:
    """At once where files can be locked, and otherwise when the claim is old."""
    place = tmp_path / "kept"
    without = "" if has_locks else "from kinetree import files\nfiles._lock = lambda file: None\n"
    text = "print(len(started), flush=True)\nprint(wait(), len(started), flush=True)\n"
    running = "while not background._running or None in background._running.values(): time.sleep(0.001)\n"
    command = program(f"{running}print('claimed', flush=True)\ntime.sleep(60)", "kt.dynamics.aba_derivatives")
    command[-1] = without + command[-1]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    assert first.stdout.readline() == "claimed\n"
    os.kill(first.pid, signal.SIGSTOP)  # what its worker makes will not be kept
    second = program(f"time.sleep(1.0)\n{text}", "kt.dynamics.aba_derivatives")
    second[-1] = without + second[-1]
    waiting = subprocess.Popen(second, stdout=subprocess.PIPE, text=True)
    assert waiting.stdout is not None
    assert waiting.stdout.readline() == "0\n"
    first.kill()
    first.wait()
    first.stdout.close()
    if not has_locks:
        (claim,) = place.glob("*.claim")
        os.utime(claim, (0.0, time.time() - 1.1 * cache._CLAIM))
    assert waiting.communicate()[0] == "True 1\n"
    assert list(place.glob("*.claim")) == []


def test_a_claim_of_another_process_holds_nothing_else_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "available_cores", lambda: 2)  # one thread for all
    monkeypatch.setattr(background, "_LOOKS", 0.05)
    waits = kt.compile(arm(), kt.aba, optimize="quick")
    (waiting,) = waits.__self__._kernels._modules.waiting
    claim = cache.claimed(waiting.keys[0])
    assert claim is not None
    assert cache.claimed(waiting.keys[0]) is None
    waits.__self__.optimize("background")
    free = kt.compile(arm(), kt.rnea)
    assert until(lambda: free.__self__.optimized)
    assert not waits.__self__.optimized
    claim.release()
    assert until(lambda: waits.__self__.optimized)


@pytest.mark.skipif(sys.platform == "win32", reason="an open file stays there")
def test_a_claim_ends_with_its_time(tmp_path: Path) -> None:
    folder = cache.Cache(tmp_path)
    first = folder.claim(bytes(32))
    assert first is not None
    assert folder.claim(bytes(32)) is None
    (path,) = tmp_path.iterdir()
    os.utime(path, (0.0, time.time() - 1.1 * cache._CLAIM))
    second = folder.claim(bytes(32))
    assert second is not None
    first.release()  # which is not the second's
    assert folder.claim(bytes(32)) is None
    second.release()
    second.release()
    assert list(tmp_path.iterdir()) == []
    assert cache.claimed(None) is not None


def test_at_most_one_compiles_per_core_but_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "available_cores", lambda: 3)
    most: list[int] = []
    real = background._optimize

    def watched(waiting: background.Waiting) -> bool:
        most.append(len(background._running))
        return real(waiting)

    monkeypatch.setattr(background, "_optimize", watched)
    made = [kt.compile(arm(), function) for function in (kt.aba, kt.rnea, kt.crba, kt.gravity_forces, kt.bias_forces)]
    assert until(lambda: all(f.__self__.optimized for f in made))
    assert max(most) == 2
