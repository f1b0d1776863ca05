"""Announcements of compilations that take long: the phase, how far it is, and an estimate of the whole.

Code that compiles runs in `with announced(name, subject):`, and within it in `with phase("lowering"):` and others; it
reports sizes by `learn(statements=5_000)`. A thread watches: it speaks after `_PATIENCE` seconds unless the end is
near, and the estimate follows as soon as the number of operations is known. On a terminal and in notebooks this is a
line with a bar, elsewhere the logger "kinetree" warns.

The estimate comes from `COSTS` and `RATIOS`, which `benchmarks/first_use.py --calibrate` measures.
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple

from kinetree.progress import Line, bar, duration, live_line

__all__ = ["COSTS", "PAIRS", "RATIOS", "Cost", "Phase", "announced", "because", "learn", "phase", "watched"]

Phase = Literal["recording", "derivatives", "lowering", "writing", "compiling"]
"""Run the algorithm on symbols; differentiate; make a program of the record; write it in LLVM's language; translate
that to machine code."""


class Cost(NamedTuple):
    """How long a phase takes."""

    of: str
    """The number that it depends on: operations "traced" in all attempts, or "recorded" in the last one, "statements",
    "characters"."""
    each: float
    """Seconds for each."""
    fixed: float = 0.0
    """Additional seconds."""
    each_alive: float = 0.0
    """Seconds for each, times the number of values that are "alive", between their computation and their last use."""
    each_pair: float = 0.0
    """Seconds for each pair of shapes, whose numbers are in tables of the program."""


COSTS: dict[Phase, Cost | tuple[Cost, Cost]] = {
    "recording": Cost("traced", 3.0e-6, each_pair=60e-6),
    "derivatives": Cost("recorded", 8e-6),
    "lowering": Cost("recorded", 5e-6, each_pair=25e-6),
    "writing": Cost("statements", 7e-6, 0.08, each_pair=15e-6),
    "compiling": (Cost("characters", 0.2e-6), Cost("characters", 0.8e-6, each_alive=1.4e-9)),
}
"""The cost of each phase, in order, as measured on one core of 2026; of two, the second is that of optimised code."""
RATIOS = {"statements": ("recorded", 0.33), "characters": ("statements", 140.0)}
"""About how many there are, from a number that is known earlier."""
PAIRS = "pairs of shapes"
"""The name of a reason whose count costs depend on."""
_BYTES = 4_000
"""Peak memory per statement, while it is compiled."""
_TELLING, _DOUBT = 0.1, 0.3
"""How fast this machine is now shows in phases from so many seconds on; from so many it counts, rather than the costs.
"""
_PATIENCE, _BETWEEN, _WATCHED_EVERY, _GAP = 0.7, 0.1, 0.25, 0.5
"""Seconds until something is said; between two states of a bar; between two looks without a bar; at most between two
contexts that are one wait."""
_WORTH_SAYING = 1.4
"""Seconds: with the error of the estimate, up to 2 s are short."""
_LARGE_SECONDS, _LARGE_BYTES = 60.0, 2e9
_MANY = 100_000
"""Operations, a second's recording of a program, from which on the reasons are reported before all are recorded, if
nothing was known of their number."""
_log = logging.getLogger("kinetree")
_clock: Callable[[], float] = time.monotonic
_state = threading.local()
"""`now`: the present compilation in a thread, the outermost; `last`: the one before; `pace`: how fast that was."""


class _Work:
    """Something that is being compiled."""

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title
        self.begin = self._since = _clock()
        self._pace_before: float = getattr(_state, "pace", 1.0)
        self.phases: list[Phase] = []
        """The present one is the last, within the others."""
        self._left: Phase = "recording"
        self.spent: dict[Phase, float] = {}
        self.facts: dict[str, float] = {}
        self.clocks: list[list[int]] = []
        self.at_least = 0
        """How many operations will be recorded."""
        self.reasons: Counter[str] = Counter()
        self.advice: dict[str, str] = {}
        self.thread: threading.Thread | None = None
        self.end: float | None = None
        self._lock = threading.Lock()
        self._has_ended = threading.Event()
        self._line: Line | None = None
        self._speaks = self._has_begun = self._has_estimated = self._has_explained = self._has_warned = False

    # -- in the thread that compiles

    def go_on(self) -> None:
        """Go on after another context of the same title."""
        self.end = self.thread = None
        self._has_ended.clear()

    def start(self) -> None:
        """Begin to watch."""
        context = contextvars.copy_context()  # a notebook knows by it below which cell to write
        self.thread = threading.Thread(target=context.run, args=(self._watch,), name="kinetree announces", daemon=True)
        with suppress(RuntimeError):  # no thread can be started any more, as the interpreter ends
            self.thread.start()

    def stop(self, failed: bool) -> None:
        """Remove the line; nothing is said after that."""
        self._has_ended.set()
        with self._lock:
            self.end = _clock()
            taken = duration(self.end - self.begin)
            if self._line is not None:
                self._line.end(f"compiling {self.title}: stopped after {taken}" if failed else f"{self.title}: {taken}")
                self._line = None
            _state.pace = self._pace(list(COSTS))
            if self._speaks and not failed:
                _log.info("compiled %s in %s", self.title, taken)
            if _log.isEnabledFor(logging.DEBUG):
                parts = ", ".join(f"{name} {self.spent[name]:.2f} s" for name in COSTS if name in self.spent)
                numbers = {"seconds": self.end - self.begin, "traced": self.number("traced"), "recorded": self.recorded}
                extra = {"title": self.title, "spent": dict(self.spent), "numbers": {**numbers, **self.facts}}
                _log.debug("compiled %s: %s", self.title, parts, extra=extra)

    def turn(self, entered: Phase | None = None) -> None:
        """Count the time up to now for the present phase; enter another one, or go back."""
        now = _clock()
        if self.thread is None:
            self.start()
        if self.phases:
            self.spent[self.phases[-1]] = self.spent.get(self.phases[-1], 0.0) + now - self._since
        self._since = now
        if entered is None:
            self._left = self.phases.pop()
        else:
            self.phases.append(entered)

    # -- in the thread that watches

    def _watch(self) -> None:
        wait = max(0.0, self.begin + _PATIENCE - _clock())
        while not self._has_ended.wait(wait):
            with self._lock:
                if self._has_ended.is_set():
                    return
                self.report()
            wait = _BETWEEN if self._line is not None else _WATCHED_EVERY

    def report(self) -> None:
        """Print the pending message, if any."""
        now = _clock()
        total = now - self.begin + self.remaining(now)
        if not self._speaks:
            if total < _WORTH_SAYING:
                return
            self._speaks = True
            if _log.isEnabledFor(logging.WARNING) and _speaker.claimed_by(self):
                self._line = live_line()
        level = logging.INFO if self._line is not None else logging.WARNING
        if not self._has_warned and not self._has_estimated and self.is_large(total):
            self._has_warned = self._has_explained = True
            at_least = "about" if self.is_known else "at least"
            memory = f" and {self.memory / 1e9:.1f} GB" if self.memory > 1e9 else ""
            self._warn(f" takes {at_least} {duration(total)}{memory}")
        elif self.reasons and not (self._has_explained or self.is_known or self.at_least) and self.recorded > _MANY:
            self._has_explained = self._has_begun = True
            self._warn(f": {self.recorded:,} operations so far")
        if not self._has_estimated and self.is_known:
            self._has_estimated = self._has_begun = True
            operations = self.facts.get("recorded", self.number("statements"))
            _log.log(level, "compiling %s: %d operations, about %s …", self.title, operations, duration(total))
        elif not self._has_begun:
            self._has_begun = True
            _log.log(level, "compiling %s: %s …", self.title, self.present)
        if self._line is not None:
            self._line.show(self._text(now - self.begin, total))

    def _text(self, elapsed: float, total: float) -> str:
        if not self._has_estimated:
            return f"compiling {self.title}: {self.present}, {self.recorded:,} operations so far, {duration(elapsed)}"
        return (
            f"compiling {self.title} {bar(elapsed / total)} {duration(elapsed)} of about {duration(total)}, "
            f"{self.present}"
        )

    def _warn(self, size: str) -> None:
        """Warn of the size, with its reason and a remedy."""
        reasons = " and ".join(f"{count:,} {name}" for name, count in self.reasons.most_common(2) if count)
        why = f", because of {reasons}" if reasons else ""
        what = next((self.advice[name] for name, _ in self.reasons.most_common() if name in self.advice), "")
        if self._line is not None:
            self._line.end()
        _log.warning("compiling %s%s%s%s", self.title, size, why, f"; {what}" if what else "")

    # -- progress

    @property
    def present(self) -> Phase:
        """The phase that is present, or was last."""
        return (self.phases[-1:] or [self._left])[0]  # at once: the other thread changes them

    @property
    def is_known(self) -> bool:
        """Whether there is an estimate: all is recorded; of optimised code, whose time depends on more than the number
        of operations, they are statements as well, or a text."""
        if "optimized" not in self.facts:
            return False
        is_enough = not self.facts["optimized"] or "characters" in self.facts
        return "statements" in self.facts or ("recorded" in self.facts and is_enough)

    @property
    def recorded(self) -> int:
        """How many operations the longest trace has recorded so far."""
        return max((clock[0] for clock in self.clocks), default=0)

    def number(self, name: str) -> float:
        """A number that costs depend on: as it is known, or from one that is known earlier."""
        if name in self.facts:
            return self.facts[name]
        if name == "alive":
            return 0.0
        if name == "traced":
            return sum(clock[0] for clock in self.clocks)
        if name not in RATIOS:
            return max(self.recorded, self.at_least)
        base, ratio = RATIOS[name]
        return ratio * self.number(base)

    def remaining(self, now: float) -> float:
        """Seconds until the end; before all is recorded, at least."""
        present, seconds = self.present, 0.0
        order = list(COSTS)
        first = order.index(present)
        for name in order[first:]:
            if name == "derivatives" != present:
                continue  # they come before all is recorded
            spent = self.spent.get(name, 0.0) + (now - self._since if name == present else 0.0)
            seconds += max(self._cost(name) - spent, 0.1 * spent)
        return seconds * self._pace(order[:first])

    def _cost(self, phase: Phase) -> float:
        """Seconds that a phase takes in all, by the table."""
        costs = COSTS[phase]
        cost = costs if isinstance(costs, Cost) else costs[bool(self.facts.get("optimized"))]
        of_pairs = cost.each_pair * self.reasons[PAIRS]
        return cost.fixed + of_pairs + (cost.each + cost.each_alive * self.number("alive")) * self.number(cost.of)

    def _pace(self, phases: Sequence[Phase]) -> float:
        """How many times as long as by the table these phases took; without them, those of the work before.

        Lowering says more of the machine than recording, which runs a user's function as well.
        """
        phases = [name for name in phases if name != "recording" or "lowering" not in phases]
        pairs = [(self.spent[name], self._cost(name)) for name in phases if name in self.spent]
        pairs = [(self._pace_before * _DOUBT, _DOUBT), *((spent, cost) for spent, cost in pairs if cost > _TELLING)]
        spent, cost = map(sum, zip(*pairs, strict=True))
        return min(max(spent / cost, 0.5), 8.0)

    @property
    def memory(self) -> float:
        """Bytes at the peak."""
        return _BYTES * self.number("statements")

    def is_large(self, total: float) -> bool:
        """Whether it is worth a warning."""
        return total > _LARGE_SECONDS or self.memory > _LARGE_BYTES


class _Speaker:
    """The one work of this process whose line is shown: two would write over each other."""

    def __init__(self) -> None:
        self._work: _Work | None = None
        self._lock = threading.Lock()

    def claimed_by(self, work: _Work) -> bool:
        """Whether no other work is being compiled and shown. A thread that was not forked with the others is dead."""
        with self._lock:
            other = self._work
            if other is None or other.end is not None or other.thread is None or not other.thread.is_alive():
                self._work = work
            return self._work is work


_speaker = _Speaker()


@contextmanager
def announced(name: str, subject: str = "") -> Iterator[None]:
    """Announce the compilation in this context, if it takes long; within another such context, nothing new.

    `subject`: as in `Source`. A context that follows another one of the same title, in which nothing was translated to
    machine code yet, continues it: to the user, tracing a program and compiling it are one wait. Without phases in
    it, such as where code is found on the disk, the context costs next to nothing.
    """
    if getattr(_state, "now", None) is not None:
        yield
        return
    title = f"{name} for {subject}" if subject.startswith(("'", '"')) else name
    last: _Work | None = getattr(_state, "last", None)
    goes_on = last is not None and last.title == title and "compiling" not in last.spent
    if last is not None and goes_on and _clock() - (last.end or 0.0) < _GAP:
        (work := last).go_on()
    else:
        work = _Work(name, title)
    _state.now, failed = work, True
    try:
        yield
        failed = False
    finally:
        _state.now = None
        if work.thread is not None:
            _state.last = work
            work.stop(failed)


@contextmanager
def phase(name: Phase) -> Iterator[None]:
    """A phase of this thread's compilation. Another one inside does not count for it."""
    work: _Work | None = getattr(_state, "now", None)
    if work is None:
        yield
        return
    work.turn(name)
    try:
        yield
    finally:
        work.turn()


def learn(of: str | None = None, **numbers: float) -> None:
    """Report numbers that costs depend on. `of`: the name of their subject, if that may be only a part."""
    work: _Work | None = getattr(_state, "now", None)
    if work is not None and (of in (None, work.name)):
        work.facts |= numbers


def because(reason: str, count: int, advice: str = "", operations: int = 0) -> None:
    """Report why a program is long, a remedy, and a lower bound of its number of operations.

    A reason whose count is 0 is not named, as it is not known; its advice is, without another one.
    """
    work: _Work | None = getattr(_state, "now", None)
    if work is not None:
        work.reasons[reason] += count
        work.at_least = max(work.at_least, operations)
        if advice:
            work.advice[reason] = advice


def watched(clock: list[int]) -> list[int]:
    """The counter of a trace, whose first number says how many operations were recorded."""
    work: _Work | None = getattr(_state, "now", None)
    if work is not None:
        work.clocks.append(clock)
    return clock
