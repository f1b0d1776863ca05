"""<contact> and <equality>: pairs of geoms that touch, and of bodies that do not; constraints, as data."""

from __future__ import annotations

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.names import Names, Reference, read_sections
from kinetree.io.mjcf.scopes import Scope
from kinetree.io.mjcf.values import solimp, solref
from kinetree.io.notes import Notes
from kinetree.model.extras import ContactExclusion, ContactPair, Equality
from kinetree.model.problems import Problems

__all__ = ["read_contacts", "read_equalities"]

_FRICTION = (1.0, 1.0, 0.005, 0.0001, 0.0001)
_ORIGIN = (0.0, 0.0, 0.0)
_IDENTITY_POLYNOMIAL = (0.0, 1.0, 0.0, 0.0, 0.0)


def read_contacts(
    scope: Scope, names: Names, notes: Notes, problems: Problems
) -> tuple[list[ContactPair], list[ContactExclusion]]:
    """Pairs and exclusions, each in their order."""
    records = read_sections(scope, "contact", names, notes, _contact, problems)
    return (
        [one for one in records if isinstance(one, ContactPair)],
        [one for one in records if isinstance(one, ContactExclusion)],
    )


def _contact(element: Element, reference: Reference) -> ContactPair | ContactExclusion:
    name = reference.space.of(element.attributes.get("name", ""))
    if element.tag == "exclude":
        a = Attributes(element)
        first, second = _pair(a, reference, "body")
        return ContactExclusion(first, second, name)
    a = reference.scope.attributes(element, "pair")
    first, second = _pair(a, reference, "geom")
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


def _pair(a: Attributes, reference: Reference, kind: str) -> tuple[str, str]:
    for attribute in (f"{kind}1", f"{kind}2"):
        if attribute not in a.element.attributes:
            a.fail(f'it names only one {kind}; add {attribute}="…"', "missing-attribute")
    first, second = reference(a, f"{kind}1", kind), reference(a, f"{kind}2", kind)
    if first == second and kind == "geom":
        a.fail(f"it names {first!r} twice; a {kind} does not touch itself", "conflict")
    return first, second


def read_equalities(scope: Scope, names: Names, notes: Notes, problems: Problems) -> list[Equality]:
    """All equality constraints, in their order."""
    return read_sections(scope, "equality", names, notes, _equality, problems)


def _equality(element: Element, reference: Reference) -> Equality:
    a = reference.scope.attributes(element, "equality")
    kind = element.tag
    anchor, position, rotation = _ORIGIN, None, None
    cell: tuple[float, ...] = ()
    if kind in ("connect", "weld"):
        between, first, second = _ends(a, reference, kind)
        anchor = _three(a, "anchor")
        if kind == "weld":
            position, rotation = _relative_pose(a)
    elif kind in ("joint", "tendon"):
        between = kind
        if f"{kind}1" not in a:
            a.fail(f'it names no {kind}; add {kind}1="…"', "missing-attribute")
        first = reference(a, f"{kind}1", kind, alone=True)
        second = reference(a, f"{kind}2", kind, alone=True) if f"{kind}2" in a else ""
        for name in (first, second) if kind == "joint" else ():
            if name and (type_ := _joint_type(reference.names, name)) not in ("hinge", "slide"):
                a.fail(f"{name!r} is a {type_} joint; this constraint is for hinge and slide joints only", "wrong-kind")
    else:
        between, second = "flex", ""
        if "flex" not in a:
            a.fail('it names no deformable body; add flex="…"', "missing-attribute")
        first = reference.space.of(a.text("flex"))
        cell = a.numbers("cell", _ORIGIN) if "cell" in a else ()
    p = a.numbers("polycoef", _IDENTITY_POLYNOMIAL, least=1)
    return Equality(
        reference.space.of(element.attributes.get("name", "")),
        kind,
        between,
        first,
        second,
        a.flag("active", True),
        anchor,
        position,
        rotation,
        a.number("torquescale", 1.0),
        (p[0], p[1], p[2], p[3], p[4]),
        cell,
        solref(a),
        solimp(a),
    )


def _three(a: Attributes, attribute: str) -> tuple[float, float, float]:
    x, y, z = a.numbers(attribute, _ORIGIN)
    return x, y, z


def _ends(a: Attributes, reference: Reference, kind: str) -> tuple[str, str, str]:
    """The connected objects: two sites, or two bodies; the second may be the world."""
    sites = [name for name in ("site1", "site2") if name in a]
    bodies = [name for name in ("body1", "body2", "anchor", "relpose") if name in a]
    if sites and bodies:
        a.fail(f"it has {sites[0]} and {bodies[0]}: name two sites, or bodies with an anchor, not both", "conflict")
    if sites:
        if len(sites) < 2:
            a.fail("it names one site; give both site1 and site2", "missing-attribute")
        return "site", reference(a, "site1", "site", alone=True), reference(a, "site2", "site", alone=True)
    if "body1" not in a:
        a.fail(
            "it holds nothing together; give site1 and site2, or body1" + (" and anchor" * (kind == "connect")),
            "missing-attribute",
        )
    if kind == "connect" and "anchor" not in a:
        a.fail(
            'it has body1 but no anchor; add anchor="x y z", the point that the bodies share, in the axes of body1',
            "missing-attribute",
        )
    second = reference(a, "body2", "body", alone=True) if "body2" in a else "world"
    return "body", reference(a, "body1", "body", alone=True), second


def _relative_pose(
    a: Attributes,
) -> tuple[tuple[float, float, float] | None, tuple[float, float, float, float] | None]:
    """Position and quaternion of the second body in the first; None where the reference configuration has them."""
    x, y, z, *quaternion = a.numbers("relpose", (0.0,) * 7)
    if not any(quaternion):
        return None, None
    w, i, j, k = quaternion
    return (x, y, z), (i, j, k, w)


def _joint_type(names: Names, joint: str) -> str:
    part = names.joints[joint][0]
    return "free" if part.element.tag == "freejoint" else part.attributes.text("type", "hinge")
