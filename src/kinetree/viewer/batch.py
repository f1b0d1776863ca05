"""Which samples of a batch are seen, and how they stand."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.records import record

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent

__all__ = ["ARRANGEMENTS", "Batch"]

ARRANGEMENTS = ("one", "ghosts", "side by side")
_OTHERS = ("spread over all", "the first ones")
_FIRST_SEEN = 12
"""How many samples are seen at first."""
_MOST_SEEN = 100


@record(frozen=True, slots=True)
class _Choice:
    """One of the samples in full, and others around it."""

    how: str
    chosen: int
    seen: int
    is_spread: bool


class Batch:
    """The choice of samples, and its controls."""

    def __init__(self, count: int, how: str, *, is_spread: bool = True) -> None:
        """`is_spread`: whether those that are seen are spread over the batch at first, or its first ones."""
        self.count: int = count
        self._choice = _Choice(how if count > 1 else "one", 0, min(count, _FIRST_SEEN), is_spread)
        self._lock = threading.Lock()
        self._wanted: _Choice | None = None
        self._is_reading = False

    def resize(self, count: int) -> None:
        """There are another number of samples now."""
        was = self._choice
        how = "ghosts" if count > 1 and was.how == "one" else was.how
        self.count, self._choice = count, _Choice(how, min(was.chosen, count - 1), count, was.is_spread)

    @property
    def how(self) -> str:
        """One of `ARRANGEMENTS`."""
        return self._choice.how

    @property
    def samples(self) -> list[int]:
        """The samples that are seen, the chosen one first."""
        return self._samples(self._choice)

    def _samples(self, choice: _Choice) -> list[int]:
        if choice.how == "one":
            return [choice.chosen]
        others = [k * self.count // choice.seen if choice.is_spread else k for k in range(choice.seen)]
        return [choice.chosen, *[k for k in others if k != choice.chosen][: choice.seen - 1]]

    def add_controls(self, gui: GuiApi, read: Callable[[Sequence[int]], bool], changed: Callable[[], None]) -> None:
        """Controls for it, which call `read` with the samples to show, and `changed` if that returns true."""
        if self.count < 2:
            return
        at_first = self._choice
        with gui.add_folder("Samples"):
            how = gui.add_dropdown("arrangement", ARRANGEMENTS, initial_value=at_first.how)
            chosen = gui.add_slider("sample", 0, self.count - 1, 1, at_first.chosen, hint="the one in full colour")
            most = min(self.count, _MOST_SEEN)
            seen = gui.add_slider("how many", 1, most, 1, at_first.seen, hint=f"of {self.count:,}")
            others = gui.add_dropdown(
                "others", _OTHERS, initial_value=_OTHERS[not at_first.is_spread], hint="which ones are seen with it",
                visible=at_first.seen < self.count,
            )  # fmt: skip

        def on_update(_: GuiEvent[Any]) -> None:
            others.visible = int(seen.value) < self.count
            self._choose(
                _Choice(how.value, int(chosen.value), int(seen.value), others.value == _OTHERS[0]), read, changed
            )

        for handle in (how, chosen, seen, others):
            handle.on_update(on_update)

    def _choose(self, choice: _Choice, read: Callable[[Sequence[int]], bool], changed: Callable[[], None]) -> None:
        """Show another choice, or, while one is being read that was wanted before, the last one after that."""
        with self._lock:
            self._wanted = choice
            if self._is_reading:
                return
            self._is_reading = True
        try:
            while (choice_now := self._next()) is not None:
                if read(self._samples(choice_now)):
                    self._choice = choice_now
                    changed()
        except BaseException:
            self._is_reading = False
            raise

    def _next(self) -> _Choice | None:
        with self._lock:
            found, self._wanted = self._wanted, None
            self._is_reading = found is not None
        return found
