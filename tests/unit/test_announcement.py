"""Announcements of long compilations: on a terminal, in a notebook, in the log; and none of short ones."""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import announcement, expr
from kinetree.announcement import announced, because, learn, phase, watched
from kinetree.codegen.cpu import backend, jit, modules
from kinetree.compiler.specialization import Specialization
from kinetree.contact_model import Rigid, SoftConstraints
from kinetree.model import Geometry
from kinetree.progress import progress_bar
from kinetree.spatial import Transform

MEASURED = {
    "aba Talos": (14_991, 0.57),
    "batch of aba Talos": (14_991, 0.54),
    "aba_derivatives Talos": (91_442, 1.82),
    "vjp of rnea Talos": (15_268, 0.72),
    "jvp of aba Talos": (31_151, 1.23),
    "30 steps UR5": (45_042, 1.62),
    "100 steps UR5": (148_112, 3.08),
    "gymnasium hopper": (49_483, 1.05),
    "gymnasium pusher_v5": (42_204, 1.01),
    "gymnasium ant semi_implicit_euler": (57_772, 1.07),
    "gymnasium ant rk4": (232_272, 3.66),
    "zoo quadruped": (247_560, 4.49),
    "humanoid": (261_506, 4.71),
}
"""Operations that a kernel records, and the seconds of the first call without optimisation (`benchmarks/first_use.py
--calibrate`), imports of 0.15 s among them.

Left out are kernels of which the operations alone say too little: those that are traced in more than two forms
(`mass_matrix_inverse`, programs of several matrices), whose estimate needs the time spent before as well, and
`joint_torque_regressor`, 0.6 of whose time is foreseen here, because LLVM is slow with its long blocks.
"""
OPTIMISED = {
    "aba Talos": (5_689, 482, 1.13),
    "aba_derivatives Talos": (42_999, 755, 8.83),
    "vjp of rnea Talos": (7_427, 615, 1.33),
    "mass_matrix_inverse Talos": (9_721, 310, 2.06),
    "matrices Talos": (19_504, 358, 4.64),
    "30 steps UR5": (13_255, 64, 1.40),
    "gymnasium pusher_v5": (18_338, 291, 4.36),
    "gymnasium ant semi_implicit_euler": (16_609, 728, 3.73),
    "humanoid": (75_922, 1_566, 24.87),
}
"""Statements of kernels, how many values are alive in them, and the seconds in which they were written and compiled
with optimisation. The costs do not follow from these. Left out is `jvp` of `aba` of Talos, which took half of the
estimate.
"""
LONG = 200_000
"""Operations whose compilation takes longer than anything here."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A time that only the test moves, and a thread that never looks at it."""
    now = [100.0]
    monkeypatch.setattr(announcement, "_clock", lambda: now[0])
    monkeypatch.setattr(announcement, "_PATIENCE", 1e6)
    return now


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is compiled, however short, is announced immediately."""
    for name in ("_PATIENCE", "_WORTH_SAYING"):
        monkeypatch.setattr(announcement, name, 0.0)
    for name in ("_BETWEEN", "_WATCHED_EVERY"):
        monkeypatch.setattr(announcement, name, 1e-3)


@pytest.fixture(autouse=True)
def _begins_again() -> None:
    """No work before this one, with which it would go on, and which would say how fast the machine is."""
    announcement._state.last, announcement._state.pace = None, 1.0


@contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """Standard error on a terminal; a function that returns what was written there since it was last called."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    reader, writer = pty.openpty()
    os.set_blocking(reader, False)

    def written() -> str:
        parts = []
        with suppress(BlockingIOError):
            while True:  # a terminal hands over a few thousand characters at a time
                parts.append(os.read(reader, 100_000))
        return b"".join(parts).decode()

    with open(writer, "w", encoding="utf-8") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        yield written
    os.close(reader)


@contextmanager
def working(name: str, subject: str = "") -> Iterator[None]:
    """Something is compiled."""
    with announced(name, subject), phase("recording"):
        yield


def look() -> None:
    """Do what the watching thread does now and then."""
    announcement._state.now.report()


def shown(written: str) -> str:
    """What is to be read on a terminal after all that was written to it."""
    line = ""
    for part in written.split("\r"):
        line = part + line[len(part) :]
    return line.strip()


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


# -- what is said, and when


def test_short_work_says_nothing(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kinetree")
    with working("short"):
        watched([3_000])
        clock[0] += 0.7
        look()
        learn(optimized=True, statements=1_000)
        look()
    assert caplog.messages == []


def test_the_phase_is_said_first_and_the_time_when_all_is_recorded(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kinetree")
    with working("law", "'arm'"):
        counter = watched([0])
        counter[0] = LONG
        clock[0] += 0.7
        look()
        assert caplog.messages == ["compiling law for 'arm': recording …"]
        clock[0] += 0.3
        look()
        assert len(caplog.messages) == 1
        with phase("lowering"):
            learn("law", optimized=False, recorded=LONG)
            look()
            look()
            seconds = announcement._state.now.remaining(clock[0]) + 1.0
        clock[0] += 21.0
    _, estimate, end = caplog.messages
    assert estimate == f"compiling law for 'arm': {LONG} operations, about {seconds:.0f} s …"
    assert end == "compiled law for 'arm' in 22 s"
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO"]


def test_work_that_takes_longer_than_expected_is_announced_late(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with working("law"):
        learn(optimized=True, statements=1_000)
        for _ in range(20):
            clock[0] += 0.1
            look()
    assert caplog.messages == ["compiling law: 1000 operations, about 1 s …"]


@pytest.mark.parametrize(("recorded", "seconds"), MEASURED.values(), ids=MEASURED)
def test_the_estimate_is_what_was_measured(clock: list[float], recorded: int, seconds: float) -> None:
    with working("kernel"):
        watched([recorded])
        learn(optimized=False)
        estimate = announcement._state.now.remaining(clock[0]) + 0.15
    assert 1.0 / 1.5 < estimate / seconds < 1.5


@pytest.mark.parametrize(("statements", "alive", "seconds"), OPTIMISED.values(), ids=OPTIMISED)
def test_the_estimate_of_optimised_code_is_what_was_measured(
    clock: list[float], statements: int, alive: int, seconds: float
) -> None:
    with working("kernel"):
        learn(optimized=True, statements=statements, alive=alive)
        with phase("writing"):
            estimate = announcement._state.now.remaining(clock[0])
    assert 1.0 / 1.5 < estimate / seconds < 1.5


@pytest.mark.parametrize("more", [{"statements": LONG, "alive": 500}, {"characters": 140 * LONG}])
def test_the_estimate_of_optimised_code_waits_for_the_statements(
    more: dict[str, float], clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with working("law"):
        clock[0] += 1.0
        learn(optimized=True, recorded=LONG)
        look()
        assert caplog.messages == ["compiling law: recording …"]
        learn(**more)
        look()
    assert caplog.messages[1].startswith(f"compiling law: {LONG} operations, about ")


def test_values_are_alive_until_their_last_use() -> None:
    def turns(x: Any, *, kept: bool) -> Any:
        values = [x[0]]
        for _ in range(100):
            values.append(expr.sin(values[-1]))
        total = values[-1]
        for value in reversed(values):
            total = expr.sin(total + (value if kept else 1.0))
        return [[total]]

    ports = [expr.Port("x", (1,))], [expr.Port("y", ())]
    short, long = (expr.trace(partial(turns, kept=kept), *ports, "turns") for kept in (False, True))
    assert backend._alive(short) == pytest.approx(1.0, abs=0.1)
    assert backend._alive(long) == pytest.approx(50.0, rel=0.1)
    again = expr.in_pieces(long, long=100, piece=100)
    assert sum(isinstance(s, expr.Call) for s in again.body.statements) >= 2
    assert backend._alive(again) < 10.0  # the statements are in the pieces, which take the values from outside


def test_a_slow_machine_is_noticed(clock: list[float]) -> None:
    estimates = []
    for slower in (1.0, 3.0):
        with working(f"{slower} times"):
            watched([LONG])
            clock[0] += slower * announcement.COSTS["recording"].each * LONG
            learn(optimized=True, statements=LONG // 3)
            with phase("lowering"):
                estimates.append(announcement._state.now.remaining(clock[0]))
    assert 2.0 < estimates[1] / estimates[0] < 3.0  # the work so far took 0.6 s


def test_a_slow_machine_stays_slow(clock: list[float]) -> None:
    estimates = []
    for k in range(2):
        with working(f"law {k}"):
            learn(optimized=True, statements=LONG)
            work = announcement._state.now
            with ThreadPoolExecutor() as watching:
                estimates.append(watching.submit(work.remaining, clock[0]).result())
            watched([LONG])
            clock[0] += 3.0 * announcement.COSTS["recording"].each * LONG  # type: ignore[union-attr]
            with phase("lowering"):
                clock[0] += 3.0 * announcement.COSTS["lowering"].each * LONG  # type: ignore[union-attr]
    assert 2.5 < estimates[1] / estimates[0] < 3.0


def test_what_only_is_a_part_gives_no_estimate(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    with working("vjp of rnea"):
        watched([LONG])
        learn("rnea", optimized=True, recorded=LONG)
        clock[0] += 1.0
        look()
    assert caplog.messages == ["compiling vjp of rnea: recording …"]


def test_large_work_says_why_before_it_has_begun(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    with working("walk", "'dog'"):
        for _ in range(400):
            because("calls of aba", 1, "put the steps into kt.loop")
        because("pairs of shapes", 7, "choose the pairs")
        watched([])[:] = [5_000_000]
        clock[0] += 0.7
        look()
        look()
    warning, _ = caplog.messages
    assert warning.startswith("compiling walk for 'dog' takes at least ")
    assert warning.endswith(" GB, because of 400 calls of aba and 7 pairs of shapes; put the steps into kt.loop")


@pytest.mark.usefixtures("clock")
def test_many_pairs_of_shapes_are_known_before_anything_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    constraints = SoftConstraints(touches=(None,) * 3_000, setting=Rigid(0.002))  # type: ignore[arg-type]
    options = {"contact": constraints, **dict.fromkeys(("passive", "limits"), False), "integrator": "discrete"}
    definition = replace(kt.rollout.definition, compute=lambda *_, **__: look() or 1 / 0)  # type: ignore[attr-defined]
    robot = kt.zoo.load("arm6")
    with working("rollout"), pytest.raises(ZeroDivisionError):
        Specialization(definition, robot, options, (), ()).program()
    (warning, _) = caplog.messages
    assert re.fullmatch(
        r"compiling rollout takes at least \d+ (s|min) and \d\.\d GB, because of 3,000 pairs of shapes and 6 degrees "
        r"of freedom; choose the pairs of shapes that matter: .*\(`kinetree docs collision#many-pairs`\)",
        warning,
    )


@pytest.mark.parametrize("calls", [True, False])
def test_a_program_that_is_written_out_says_so_while_it_is_recorded(
    calls: bool, clock: list[float], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcement, "_MANY", 2_000)
    robot = kt.zoo.load("double_pendulum")
    said: list[str] = []
    recorded: list[int] = []

    @kt.program(q=2, v=2)
    def steps(q: Any, v: Any) -> Any:
        if recorded:
            return v  # the function runs once more for each form of the robot
        for _ in range(100):
            q, v = q + 0.1 * v, v + 0.1 * (kt.aba(robot, q, v, np.zeros(2)) if calls else np.sin(q) * np.cos(v) - v)
            for _ in range(0 if calls else 20):
                v = v * np.sin(v) + q
            clock[0] += 0.2
            look()
            said[:] = caplog.messages
            recorded.append(announcement._state.now.recorded)
            if len(said) == 2:
                break
        return v

    steps.traced()
    beginning, warning = said
    assert beginning == "compiling steps: recording …"
    assert recorded[-2] <= 2_000 < recorded[-1]
    why = f", because of {len(recorded)} calls of aba" if calls else ""
    into_loops = "put steps that repeat into kt.programs.fori or kt.programs.scan (`kinetree docs programs`)"
    assert warning == f"compiling steps: {recorded[-1]:,} operations so far{why}; {into_loops}"


def test_what_is_long_is_explained_once(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    with working("law"):
        because("calls of aba", 9)
        counter = watched([400_000])
        clock[0] += 1.0
        for _ in range(3):
            look()
        counter[0] = 9_000_000
        for _ in range(3):
            look()
    assert [re.sub(r"[\d.]+ (GB|min|s)", "much", message) for message in caplog.messages] == [
        "compiling law: 400,000 operations so far, because of 9 calls of aba",
        "compiling law takes at least much and much, because of 9 calls of aba",
    ]


def test_tracing_and_compiling_are_one_wait(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    for first in ("recording", "writing"):
        with working("law", "the program"):
            learn(optimized=True, statements=LONG)
            clock[0] += 0.5
            look()
            with phase("compiling" if first == "writing" else "recording"):
                clock[0] += 1.0
    assert len(caplog.messages) == 1
    with working("law"):
        learn(optimized=True, statements=LONG)
        look()
    assert len(caplog.messages) == 2


@pytest.mark.usefixtures("clock")
def test_inner_work_belongs_to_the_outer(caplog: pytest.LogCaptureFixture) -> None:
    with working("outer"), phase("recording"), working("inner"):
        watched([LONG])
        look()
    assert caplog.messages == ["compiling outer: recording …"]


@pytest.mark.usefixtures("clock")
def test_nothing_is_said_to_who_does_not_listen(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "kinetree")
    with terminal() as read, working("law"):
        learn(optimized=True, statements=LONG)
        look()
        assert read() == ""
    assert caplog.messages == []


def test_it_is_said_within_a_second(caplog: pytest.LogCaptureFixture) -> None:
    begin = time.time()
    with working("law"):
        watched([LONG])
        wait_for(lambda: caplog.records)
    assert 0.6 < caplog.records[0].created - begin < 1.0 + 1.0 * bool(os.environ.get("CI"))


# -- where


@pytest.mark.usefixtures("at_once")
def test_a_terminal_has_a_bar_until_the_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "kinetree")
    with terminal() as read:
        written = ""

        def has(text: str) -> bool:
            nonlocal written
            written += read()
            return text in written

        with working("law", "'arm\x1b[2J'"):
            watched([LONG])
            wait_for(lambda: has(f"compiling law for 'arm\\x1b[2J': recording, {LONG:,} operations so far, 0 s"))
            with phase("lowering"):
                learn(optimized=True, statements=LONG)
                wait_for(lambda: has(" s, lowering"))
            with phase("compiling"):
                wait_for(lambda: has(" s, compiling"))
        written += read()
    assert shown(written) == ""
    assert "\x1b" not in written
    assert "\n" not in written
    assert caplog.messages == []


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_removes_the_bar(error: type[BaseException]) -> None:
    threads, written = threading.active_count(), []
    with terminal() as read:

        def has_bar() -> bool:
            written.append(read())
            return "compiling law" in "".join(written)

        def work() -> None:
            with working("law"), phase("lowering"):
                watched([LONG])
                wait_for(has_bar)
                raise error

        with pytest.raises(error):
            work()
        assert shown("".join(written) + read()) == ""
    wait_for(lambda: threading.active_count() <= threads)
    with working("next"):
        assert announcement._state.now.phases == ["recording"]


@pytest.mark.usefixtures("at_once")
def test_a_terminal_that_is_gone_ends_nothing() -> None:
    with terminal() as read, working("law"):
        watched([LONG])
        wait_for(read)
        sys.stderr.close()
        time.sleep(0.02)


@pytest.mark.usefixtures("clock")
def test_only_one_of_two_threads_draws(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "kinetree")

    def other() -> None:
        with working("other"):
            learn(optimized=True, statements=LONG)
            look()

    with terminal() as read, working("law"):
        learn(optimized=True, statements=LONG)
        look()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert "other" not in read()
    assert [message.split(":")[0] for message in caplog.messages] == ["compiling other"]


def test_a_notebook_shows_a_text_that_is_replaced(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    texts: list[str] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        texts.append(data["text/plain"])
        return SimpleNamespace(update=lambda data, **_: texts.append(data["text/plain"]))

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    with working("law", "'arm'"):
        learn(optimized=True, statements=LONG)
        clock[0] += 1.0
        look()
        clock[0] += 4.0
    first, last = texts
    assert first.startswith("compiling law for 'arm' [ ")
    assert last == "law for 'arm': 5 s"
    assert caplog.messages == []


# -- everything that is compiled


def _aba() -> None:
    kt.aba(kt.zoo.load("arm6"), np.zeros((3, 6)), np.zeros(6), np.zeros(6))


def _derivative() -> None:
    kt.vjp(kt.zoo.load("double_pendulum"), kt.rnea, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], np.ones(2))


def _program() -> None:
    robot = kt.zoo.load("arm6")
    weighted = kt.program(lambda q: kt.crba(robot, q) @ q, q=robot)
    kt.jvp(weighted, (np.zeros(6),), {"q": np.ones(6)})


def _contacts() -> None:
    builder = kt.ModelBuilder("ball")
    builder.add_body(
        "ball",
        kt.solids.sphere(0.1, mass=1.0),
        geometry=[Geometry("collision", "sphere", (0.1,), Transform.identity())],
    )
    robot = builder.build(floating_base=True).on_ground()
    kt.rollout(robot, robot.neutral(), np.zeros(6), np.zeros((2, 6)), 1e-3, contact=True)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("use", [_aba, _derivative, _program, _contacts])
def test_all_that_is_compiled_is_announced(
    use: Callable[[], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "off")
    monkeypatch.setattr(modules, "compile_module", jit.compile_module)  # not that of `quick_code`
    caplog.set_level(logging.DEBUG, "kinetree")
    use()
    assert any(message.startswith("compiling ") for message in caplog.messages)
    reports = [record for record in caplog.records if record.levelno == logging.DEBUG]
    assert {name for report in reports for name in report.spent} >= {"recording", "lowering", "writing", "compiling"}  # type: ignore[attr-defined]


@pytest.mark.usefixtures("at_once")
def test_code_from_the_disk_says_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "on")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path))
    caplog.set_level(logging.DEBUG, "kinetree")
    for is_kept in (False, True):
        caplog.clear()
        robot = replace(kt.zoo.load("double_pendulum"), name="twin")
        kt.crba(robot, np.zeros((3, 2)))
        assert caplog.messages == [] if is_kept else caplog.messages


@pytest.mark.usefixtures("clock")
def test_a_quiet_command_has_a_warning_only(caplog: pytest.LogCaptureFixture) -> None:
    with terminal() as read, progress_bar("simulating", quiet=True), working("law"):
        learn(optimized=True, statements=LONG)
        look()
        assert read() == ""
    assert len(caplog.messages) == 1


def test_text_for_a_file_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert announcement.live_line() is None
