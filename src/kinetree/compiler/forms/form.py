"""A robot as the functions on top of the algorithms see it, in whichever form it is compiled."""

from __future__ import annotations

from typing import Protocol

from kinetree.model.elements import Body, Frame, Named
from kinetree.model.model import Model
from kinetree.tree import Tree

__all__ = ["Form"]


class Form(Protocol):
    """A robot as a definition's `compute` sees it: a `Model`, or a `RolledModel` in a trace with loops."""

    @property
    def name(self) -> str: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def frames(self) -> Named[Frame]: ...
    @property
    def mass(self) -> float: ...
    @property
    def driven_nv(self) -> int: ...
    @property
    def bodies(self) -> Named[Body]:
        """In the axes in which its tree has them; their slots are those of `one_by_one`."""

    @property
    def one_by_one(self) -> Model:
        """The robot whose joints and bodies can be accessed individually, even while a trace loops over them."""
