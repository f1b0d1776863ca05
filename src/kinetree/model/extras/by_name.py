"""Records that can be found by their names."""

from __future__ import annotations

from typing import Any, Generic, SupportsIndex, TypeVar, overload

from kinetree.errors import NameNotFoundError, nearest_names, quoted

__all__ = ["NAMES", "Records"]

T = TypeVar("T")

NAMES = ("name", "joint", "body", "tag")
"""The field that names a record: the first of these that it has."""


class Records(tuple[T, ...], Generic[T]):
    """A tuple of records that gives one of them by its place, `records[0]`, or by its name, `records["hip"]`.

    It equals a plain tuple of the same records.
    """

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        """The names of the records, in their order; "" where one has none."""
        return [_name(one) for one in self]

    @overload
    def __getitem__(self, place: str | SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: str | SupportsIndex | slice) -> Any:
        if not isinstance(place, str):
            return tuple.__getitem__(self, place)
        for one in self:
            if place and _name(one) == place:
                return one
        known = [name for name in self.names if name]
        raise NameNotFoundError(f"no record here has the name {quoted(place)}: {nearest_names(place, known)}")

    def __contains__(self, one: object) -> bool:
        if isinstance(one, str):
            return bool(one) and one in self.names
        return tuple.__contains__(self, one)

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name in self.names if name]


def _name(one: Any) -> str:
    for field in NAMES:
        text = getattr(one, field, None)
        if isinstance(text, str):
            return text
    return ""
