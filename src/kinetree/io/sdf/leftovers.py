"""Parts of a file that have no meaning in kinetree: kept in `robot.extras.unused`, and listed in notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from kinetree.errors import nearest_names
from kinetree.io.document import Document, Element, shown
from kinetree.io.sdf.shapes import LISTED, SHAPES
from kinetree.io.urdf.raw import as_written
from kinetree.model import ModelBuilder
from kinetree.model.building import NOTED
from kinetree.model.extras import Extras, Unused
from kinetree.problems import place_of

__all__ = ["keep_leftovers"]

_LOOKS = frozenset({"material", "light", "actor", "gui", "scene", "audio", "road", "meta", "cast_shadows"})
"""Elements that only concern how things look or sound, which are not kept."""
_USED = frozenset({"drake:rotor_inertia", "drake:gear_ratio"})
_ACTS = re.compile("drake:.*(joint|mimic|constraint|bushing|spring|deformable)")
"""Drake's own elements that act on the motion there."""
_TOLD = 12
_MOST_KINDS = 1000


def keep_leftovers(documents: Iterable[Document], builder: ModelBuilder) -> None:
    """Keep and list everything in the files that was not used; warn of names that SDF does not have."""
    counts: Counter[str] = Counter()
    kept = [_leftover(document.root, counts, builder) for document in documents]
    if counts:
        counted = ", ".join(f"{what} ({count})" for what, count in counts.most_common(_TOLD))
        more = f" and {len(counts) - _TOLD} kinds more" if len(counts) > _TOLD else ""
        builder.note(f"what does not concern the robot's motion was not used; see extras.unused: {counted}{more}")
    unused = tuple(part for part in kept if part is not None)
    if unused:
        builder.extras = builder.extras.with_those_of(Extras(unused=unused))


def _leftover(element: Element, counts: Counter[str], builder: ModelBuilder) -> Unused | None:
    """The unused rest of an element; None if nothing remains. Elements nest at most 100 deep."""
    shape = SHAPES[element.tag]
    listed = LISTED.get(element.tag, frozenset())
    remaining: list[Unused] = []
    if not element.attributes.keys() <= shape.attributes:
        _tell_attributes(element, shape.attributes, counts, builder)
    for part in element.children:
        if part.tag in shape.children:
            left = _leftover(part, counts, builder)
            if left is not None:
                remaining.append(left)
            continue
        if part.tag in _USED:
            continue
        if part.tag not in listed and ":" not in part.tag and len(builder.suspicions) < NOTED:
            builder.suspect(
                part,
                f"SDF has no element <{shown(part.tag)}> in <{element.tag}>, so it is not used: "
                f"{nearest_names(shown(part.tag), sorted({*shape.children, *listed}))}",
                "unknown-element",
            )
        if _ACTS.fullmatch(part.tag):
            builder.suspect(
                part, f"<{shown(part.tag)}> acts on the motion in Drake, but has no effect in kinetree", "kept-as-data"
            )
        _count(counts, f"{element.tag}/{shown(part.tag)}")
        if part.tag not in _LOOKS and element.tag != "material":
            remaining.append(as_written(part))
    if not remaining:
        return None
    named = tuple((key, value) for key, value in element.attributes.items() if key == "name")
    return Unused(element.tag, named, tuple(remaining), where=place_of(element))


def _tell_attributes(element: Element, names: frozenset[str], counts: Counter[str], builder: ModelBuilder) -> None:
    for name in element.attributes:
        if name in names or name == "xmlns" or name.startswith("xmlns:"):
            continue
        _count(counts, f"{element.tag} {shown(name)}")
        if ":" not in name and len(builder.suspicions) < NOTED:
            builder.suspect(
                element,
                f'SDF has no attribute "{shown(name)}" of <{element.tag}>, so it is not used: '
                f"{nearest_names(shown(name), sorted(names))}",
                "unknown-attribute",
            )


def _count(counts: Counter[str], what: str) -> None:
    """Count a name, unless the file has too many different ones."""
    counts[what if what in counts or len(counts) < _MOST_KINDS else "others"] += 1
