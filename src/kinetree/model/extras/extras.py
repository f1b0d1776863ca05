"""All that a file says beyond kinematics and inertia."""

from __future__ import annotations

from dataclasses import field, fields, replace

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["NO_EXTRAS", "Extras", "Unused"]


@record(frozen=True, slots=True, repr=False)
class Unused:
    """A part of a file that has no meaning in kinetree, as it is written there."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Unused, ...] = ()
    where: str = field(default="", compare=False)
    """Its place in the file."""

    def __repr__(self) -> str:
        return call_text(self)


@record(frozen=True, slots=True, repr=False)
class Extras:
    """All that a file says beyond kinematics and inertia. Each field is a tuple of records, or None."""

    unused: tuple[Unused, ...] = ()

    def __repr__(self) -> str:
        return call_text(self)

    def __bool__(self) -> bool:
        return any(getattr(self, entry.name) for entry in fields(self))

    def with_those_of(self, other: Extras) -> Extras:
        """Both together: tuples one after the other; of single records, those of this one."""
        if not other:
            return self
        joined = {}
        for entry in fields(self):
            own, more = getattr(self, entry.name), getattr(other, entry.name)
            joined[entry.name] = own + more if isinstance(own, tuple) else more if own is None else own
        return replace(self, **joined)


NO_EXTRAS = Extras()
