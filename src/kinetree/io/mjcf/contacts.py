"""<contact>: pairs of geoms that touch, and of bodies that do not."""

from __future__ import annotations

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.names import Names, Reference, read_sections
from kinetree.io.mjcf.scopes import Scope
from kinetree.io.mjcf.values import solimp, solref
from kinetree.io.notes import Notes
from kinetree.model.extras import ContactExclusion, ContactPair
from kinetree.model.problems import Problems

__all__ = ["read_contacts"]

_FRICTION = (1.0, 1.0, 0.005, 0.0001, 0.0001)


def read_contacts(
    scope: Scope, names: Names, notes: Notes, problems: Problems
) -> tuple[list[ContactPair], list[ContactExclusion]]:
    """Pairs and exclusions, each in their order."""
    found = read_sections(scope, "contact", names, notes, _contact, problems)
    return (
        [one for one in found if isinstance(one, ContactPair)],
        [one for one in found if isinstance(one, ContactExclusion)],
    )


def _contact(element: Element, reference: Reference) -> ContactPair | ContactExclusion:
    name = reference.space.of(element.attributes.get("name", ""))
    if element.tag == "exclude":
        a = Attributes(element)
        first, second = _two(a, reference, "body")
        return ContactExclusion(first, second, name)
    a = reference.scope.attributes(element, "pair")
    first, second = _two(a, reference, "geom")
    condim = a.whole("condim", 3)
    if condim not in (1, 3, 4, 6):
        a.fail(f"condim is {condim}, but it must be 1, 3, 4 or 6")
    return ContactPair(
        first,
        second,
        name,
        condim,
        a.numbers("friction", _FRICTION, least=1),
        solref(a),
        solref(a, "solreffriction", (0.0, 0.0)),
        solimp(a),
        a.number("margin"),
        a.number("gap"),
        a.number("adhesion"),
    )


def _two(a: Attributes, reference: Reference, kind: str) -> tuple[str, str]:
    for attribute in (f"{kind}1", f"{kind}2"):
        if attribute not in a.element.attributes:
            a.fail(f'it names only one {kind}; add {attribute}="…"', "missing-attribute")
    first, second = reference(a, f"{kind}1", kind), reference(a, f"{kind}2", kind)
    if first == second and kind == "geom":
        a.fail(f"it names {first!r} twice; a {kind} does not touch itself", "conflict")
    return first, second
