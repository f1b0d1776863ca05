"""Which samples of a batch are seen, and how they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent

__all__ = ["ARRANGEMENTS", "Batch"]

ARRANGEMENTS = ("one", "ghosts", "side by side")
_FIRST_SEEN = 12
"""How many samples are seen at first."""
_MOST_SEEN = 100


class Batch:
    """The choice of samples: one of them in full, and others around it."""

    def __init__(self, count: int, how: str) -> None:
        self.count, self.how = count, how if count > 1 else "one"
        self.chosen = 0
        self.seen = min(count, _FIRST_SEEN)

    def resize(self, count: int) -> None:
        """There are another number of samples now."""
        self.count = self.seen = count
        self.chosen = min(self.chosen, count - 1)
        if count > 1 and self.how == "one":
            self.how = "ghosts"

    @property
    def samples(self) -> list[int]:
        """The samples that are seen, the chosen one first; the others are spread over the batch."""
        if self.how == "one":
            return [self.chosen]
        others = [k * self.count // self.seen for k in range(self.seen)]
        return [self.chosen, *[k for k in others if k != self.chosen][: self.seen - 1]]

    def add_controls(self, gui: GuiApi, changed: Callable[[], None]) -> None:
        """Controls for it, which call `changed`."""
        if self.count < 2:
            return
        with gui.add_folder("Samples"):
            how = gui.add_dropdown("arrangement", ARRANGEMENTS, initial_value=self.how)
            chosen = gui.add_slider("sample", 0, self.count - 1, 1, self.chosen, hint="the one in full colour")
            most = min(self.count, _MOST_SEEN)
            seen = gui.add_slider("how many", 1, most, 1, self.seen, hint=f"of {self.count}; spread over all of them")

        def on_update(_: GuiEvent[Any]) -> None:
            self.how, self.chosen, self.seen = how.value, int(chosen.value), int(seen.value)
            changed()

        for handle in (how, chosen, seen):
            handle.on_update(on_update)
