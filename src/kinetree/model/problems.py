"""Where problems go while a robot is read and built: the first is raised, or all are collected."""

# ruff: noqa: ARG002 - the strict way needs no names

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import TracebackType
from typing import ParamSpec, TypeVar

from kinetree.errors import ModelError, listed
from kinetree.model.specs import Parts
from kinetree.problems import Problem, problem

__all__ = ["STRICT", "Collected", "Problems", "coded", "concerns_followers", "placed", "problems_of"]

P = ParamSpec("P")
T = TypeVar("T")

_NOTHING = nullcontext()
_MOST = 1000
"""The maximum number of problems that are kept."""


class Problems:
    """The strict way: the first problem is raised, and nothing is mended."""

    collects = False
    """Whether reading goes on after a problem, and values that can be mended are."""

    def add(self, error: ModelError) -> None:
        """Deal with a problem. If this returns, the caller goes on: with the mended value, or without the part."""
        raise error

    def of(self, *names: str) -> AbstractContextManager[object]:
        """A context for reading one part; an error inside leaves out the parts of these names."""
        return _NOTHING

    def attempt(self, otherwise: T, read: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """The value that `read` returns, or `otherwise` if it raises and reading goes on."""
        return read(*args, **options)

    def doubt(self, *names: str) -> None:
        """Take note that values of these parts are not those of the file."""

    def doubts(self, *names: str) -> bool:
        """Whether a remark about one of these parts may only follow from a problem found before."""
        return False

    def renamed(self, name: str) -> None:
        """Take note that one of several parts of this name was renamed."""

    def is_ambiguous(self, name: str) -> bool:
        """Whether several parts had this name."""
        return False

    def leave_out(self, *names: str) -> None:
        """Take note that these parts were left out."""

    @property
    def lacks_parts(self) -> bool:
        """Whether bodies or joints were left out."""
        return False

    @property
    def fatal(self) -> int:
        """The number of errors so far that cannot be mended."""
        return 0

    def stop(self) -> None:
        """Raise one error with all that cannot be mended, if there is any."""

    def saw(self, parts: Parts) -> None:
        """Take note of the parts that were read."""

    def suspect(self, found: Iterable[Problem]) -> None:
        """Take note of something suspicious but possible."""

    def find_lines(self, lines: Callable[[], Mapping[str, int]]) -> None:
        """Take note of how to find the lines of elements that do not know theirs."""


STRICT = Problems()


class Collected(Problems):
    """All problems; parts that have one are left out or mended, and reading goes on."""

    collects = True

    def __init__(self) -> None:
        self.found: dict[Problem, None] = {}
        self.left_out: int = 0
        """Problems beyond the number that is kept."""
        self.parts: Parts | None = None
        self._lines: Callable[[], Mapping[str, int]] | None = None
        self._doubtful: set[str] = set()
        self._left_out: set[str] = set()
        self._ambiguous: set[str] = set()
        self._fatal = 0

    def add(self, error: ModelError) -> None:
        for fault in problems_of(error):
            self._keep(fault)

    def of(self, *names: str) -> AbstractContextManager[object]:
        return _Part(self, names)

    def attempt(self, otherwise: T, read: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        try:
            return read(*args, **options)
        except ModelError as error:
            self.add(error)
            return otherwise

    def doubt(self, *names: str) -> None:
        self._doubtful.update(names)

    def leave_out(self, *names: str) -> None:
        self._left_out.update(names)

    def doubts(self, *names: str) -> bool:
        return not (self._doubtful.isdisjoint(names) and self._left_out.isdisjoint(names))

    def renamed(self, name: str) -> None:
        self._ambiguous.add(name)

    def is_ambiguous(self, name: str) -> bool:
        return name in self._ambiguous

    @property
    def lacks_parts(self) -> bool:
        return bool(self._left_out)

    @property
    def fatal(self) -> int:
        return self._fatal

    def stop(self) -> None:
        errors = [fault for fault in self.found if fault.severity == "error" and not fault.repair]
        if len(errors) == 1:
            raise ModelError(str(errors[0]), problems=errors)
        if errors:
            sentences = listed(map(str, errors), most=20, separator="\n  ")
            raise ModelError(f"there are {self._fatal} problems that cannot be mended:\n  {sentences}", problems=errors)

    def saw(self, parts: Parts) -> None:
        self.parts = parts

    def suspect(self, found: Iterable[Problem]) -> None:
        for each in found:
            self._keep(each)

    def find_lines(self, lines: Callable[[], Mapping[str, int]]) -> None:
        self._lines = lines

    @property
    def repairs(self) -> tuple[Problem, ...]:
        """The repairs, each with its problem."""
        return tuple(fault for fault in self.found if fault.repair)

    def _keep(self, found: Problem) -> None:
        if found in self.found:
            return
        if found.severity == "error" and not found.repair:
            self._fatal += 1
        if len(self.found) < _MOST:
            self.found[found] = None
        else:
            self.left_out += 1

    def place(self, file: str) -> None:
        """Give problems that do not know their file or line these."""
        lines: Mapping[str, int] = {}
        if self._lines is not None and any(fault.element and fault.line is None for fault in self.found):
            lines = self._lines()
        self.found = dict.fromkeys(placed(fault, file, lines) for fault in self.found)


def problems_of(error: ModelError) -> tuple[Problem, ...]:
    """The problems that an error holds; of an error without any, its message, and the place with which it begins."""
    if error.problems:
        return error.problems
    place, _, sentence = str(error).partition(": ")
    result = problem(place, sentence)
    return (result,) if sentence and (result.line or os.sep in place) else (problem("", str(error)),)


@contextmanager
def coded(code: str, *, all: bool = True) -> Iterator[None]:
    """A context for reading something whose errors all have one code.

    If not `all`, errors that have records keep the codes of these.
    """
    try:
        yield
    except ModelError as error:
        if all or not error.problems:
            error.problems = tuple(fault._replace(code=code) for fault in problems_of(error))
        raise


def concerns_followers(error: ModelError) -> bool:
    """Whether an error may be gone if no joint follows others."""
    return any(fault.code in _OF_FOLLOWERS for fault in problems_of(error))


_OF_FOLLOWERS = frozenset({"bad-mimic", "bad-coupling", "unknown-joint", "circle"})
"""A joint that mimics another may name one that does not exist, or run in a circle with others."""


def placed(found: Problem, file: str, lines: Mapping[str, int]) -> Problem:
    """The problem with this file if it knows none, and the line of its element."""
    element = found.element.removeprefix(f"{file}: ").removeprefix(file)
    line = found.line or lines.get(element)
    return found._replace(file=found.file or file, line=line, element=element)


class _Part:
    def __init__(self, problems: Collected, names: tuple[str, ...]) -> None:
        self._problems = problems
        self._names = names

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if not isinstance(error, ModelError):
            return False
        self._problems.add(error)
        # Others may refer to a part whose name is missing, or is that of another by mistake.
        is_misnamed = any(fault.code == "duplicate-name" for fault in error.problems)
        self._problems.leave_out(*([""] if is_misnamed else self._names))
        return True
