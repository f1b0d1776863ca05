"""The names of what is in the file, so that nothing in it refers to what is not."""

from __future__ import annotations

from kinetree.io.losses import Losses

__all__ = ["Written"]

_ALIASES = {"xbody": "body", "subtree": "body", "jointinparent": "joint", "slidercrank": "site"}
_WORDS = {"geom": "shape", "flex": "deformable body"}


class Written:
    """Names by kind: "body", "joint", "geom", "site", "camera", "tendon", "actuator", "sensor", "material" …"""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {"body": {"world"}}

    def add(self, kind: str, name: str) -> None:
        """Remember a name, if it is one."""
        if name:
            self._names.setdefault(kind, set()).add(name)

    def has(self, kind: str, name: str) -> bool:
        """Whether there is something of this kind and name."""
        return name in self._names.get(_ALIASES.get(kind, kind), ())

    def all_there(self, what: str, needed: list[tuple[str, str]], losses: Losses) -> bool:
        """Whether the file has all of these kinds and names; if not, `what` names them and is lost."""
        missing = [(kind, name) for kind, name in needed if name and not self.has(kind, name)]
        if missing:
            told = ", ".join(f"{_word(kind)} {name!r}" for kind, name in missing)
            losses.lost.append(f"{what} is left out: there is no {told} in the file")
        return not missing

    def optional(self, what: str, kind: str, name: str, losses: Losses) -> str | None:
        """The name if there is such a thing; otherwise it is lost."""
        if not name or self.has(kind, name):
            return name or None
        losses.lost.append(f"{what}: its {_word(kind)} {name!r} is not in the file, and is left out")
        return None


def _word(kind: str) -> str:
    kind = _ALIASES.get(kind, kind)
    return _WORDS.get(kind, kind)
