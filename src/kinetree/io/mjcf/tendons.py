"""<tendon>: fixed tendons, and spatial ones as data."""

from __future__ import annotations

from itertools import pairwise

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.names import Names, Reference, read_sections
from kinetree.io.mjcf.scopes import Scope
from kinetree.io.mjcf.values import limited, polynomial, solimp, solref, user_data
from kinetree.io.notes import Notes
from kinetree.model.extras import Pulley, Tendon, TendonJoint, TendonShape, TendonSite
from kinetree.model.problems import Problems

__all__ = ["only_joint", "read_tendons", "warn_of_armature"]

Step = TendonJoint | TendonSite | TendonShape | Pulley


def read_tendons(scope: Scope, names: Names, notes: Notes, problems: Problems) -> list[Tendon]:
    """All tendons, in their order."""

    def read(element: Element, reference: Reference) -> Tendon:
        tendon = _tendon(element, reference)
        if only_joint(tendon) is None:
            warn_of_armature(element, "tendon", tendon.armature, notes)
        return tendon

    return read_sections(scope, "tendon", names, notes, read, problems)


def only_joint(tendon: Tendon) -> tuple[str, float] | None:
    """The joint of a fixed tendon that moves with a single one, and its factor.

    The armature of such a tendon is armature of the joint. That of others couples joints in the mass matrix.
    """
    moved = [step for step in tendon.path if not (isinstance(step, TendonJoint) and step.coefficient == 0.0)]
    if len(moved) == 1 and isinstance(moved[0], TendonJoint):
        return moved[0].joint, moved[0].coefficient
    return None


def warn_of_armature(element: Element, what: str, armature: float, notes: Notes) -> None:
    """Warn of the one thing about tendons that is part of MuJoCo's mass matrix."""
    if armature:
        sentence = (
            f'this {what} has armature="{armature:g}", which MuJoCo adds to the mass matrix, but kinetree only keeps '
            "as data in robot.extras"
        )
        notes.suspect(element, sentence, "kept-as-data")


def _tendon(element: Element, reference: Reference) -> Tendon:
    scope = reference.scope
    a = scope.attributes(element, "tendon")
    path = _fixed(element, reference) if element.tag == "fixed" else _spatial(element, reference)
    is_limited, bounds = limited(a, scope.settings, "limited", "range")
    force_limited, force_range = limited(a, scope.settings, "actuatorfrclimited", "actuatorfrcrange")
    if force_limited and (force_range[0] > 0.0 or force_range[1] < 0.0):
        a.fail(f"actuatorfrcrange is {force_range[0]:g} to {force_range[1]:g}, but it must contain zero", "bad-limits")
    name = reference.space.of(element.attributes.get("name", ""))
    reference.names.add("tendon", name, element)
    red, green, blue, alpha = a.numbers("rgba", (0.5, 0.5, 0.5, 1.0))
    return Tendon(
        name,
        element.tag,
        path,
        limited=is_limited,
        range=bounds,
        margin=a.number("margin"),
        force_limited=force_limited,
        force_range=force_range,
        stiffness=polynomial(a, "stiffness"),
        spring_length=_spring_length(a),
        spring_yield=a.number("springyield"),
        damping=polynomial(a, "damping"),
        friction=a.number("frictionloss"),
        armature=a.number("armature"),
        solref_limit=solref(a, "solreflimit"),
        solimp_limit=solimp(a, "solimplimit"),
        solref_friction=solref(a, "solreffriction"),
        solimp_friction=solimp(a, "solimpfriction"),
        group=a.whole("group"),
        width=a.number("width", 0.003),
        material=reference.space.of_asset(a.text("material")),
        color=(red, green, blue, alpha),
        user=user_data(a),
    )


def _spring_length(a: Attributes) -> tuple[float, float] | None:
    owner = a.owner("springlength")
    if owner is None:
        return None
    values = a.numbers("springlength", (-1.0, -1.0), least=1)
    low, high = values if len(owner.attributes["springlength"].split()) > 1 else (values[0], values[0])
    if (low, high) == (-1.0, -1.0):
        return None
    if low > high:
        a.fail(
            f"springlength is {low:g} to {high:g}; the first number must not be larger than the second", "bad-limits"
        )
    return low, high


def _fixed(element: Element, reference: Reference) -> tuple[Step, ...]:
    path: list[TendonJoint] = []
    named: set[str] = set()
    for term in element.children:
        a = Attributes(term)
        if "joint" not in a:
            a.fail('it names no joint; add joint="…"', "missing-attribute")
        name = reference(a, "joint", "joint")
        part = reference.names.joints[name][0]
        kind = "free" if part.element.tag == "freejoint" else part.attributes.text("type", "hinge")
        if kind not in ("hinge", "slide"):
            a.fail(
                f"{name!r} is a {kind} joint; a fixed tendon adds coordinates of hinge and slide joints only",
                "wrong-kind",
            )
        if name in named:
            a.fail(f"the joint {name!r} is named twice; add the two factors", "duplicate-name")
        named.add(name)
        if "coef" not in a:
            a.fail('it has no factor for its joint; add coef="…"', "missing-attribute")
        path.append(TendonJoint(name, a.number("coef")))
    if not path:
        element.fail("it has no joints; add at least one <joint>", "missing-element")
    return tuple(path)


def _spatial(element: Element, reference: Reference) -> tuple[Step, ...]:
    path: list[Step] = []
    for step in element.children:
        a = Attributes(step)
        if step.tag == "pulley":
            if "divisor" not in a:
                a.fail(
                    'it has no divisor; add divisor="…", the number of parts that share the load', "missing-attribute"
                )
            if a.number("divisor") <= 0.0:
                a.fail(f"its divisor is {a.number('divisor'):g}, but it must be positive", "bad-number")
            path.append(Pulley(a.number("divisor")))
            continue
        if step.tag not in a:
            a.fail(f'it names no {step.tag}; add {step.tag}="…"', "missing-attribute")
        name = reference(a, step.tag, step.tag)
        if step.tag == "site":
            path.append(TendonSite(name))
            continue
        part = reference.names.parts["geom"][name][0]
        if part.attributes.text("type", "sphere") not in ("sphere", "cylinder"):
            a.fail(f"{name!r} is not a sphere or cylinder, and tendons wrap around these only", "wrong-kind")
        path.append(TendonShape(name, reference(a, "sidesite", "site") if "sidesite" in a else ""))
    _check_path(element, path)
    return tuple(path)


def _check_path(element: Element, path: list[Step]) -> None:
    """Sites begin and end each part of a path, and are around each shape."""
    part: list[Step] = []
    for step in [*path, Pulley(1.0)]:
        if not isinstance(step, Pulley):
            part.append(step)
            continue
        if not part and step is path[0]:
            continue
        sites = sum(isinstance(one, TendonSite) for one in part)
        if sites < 2 or not (isinstance(part[0], TendonSite) and isinstance(part[-1], TendonSite)):
            element.fail(
                "each part of a tendon's path needs two sites or more, and begins and ends with one", "missing-element"
            )
        for one, other in pairwise(part):
            if isinstance(one, TendonShape) and isinstance(other, TendonShape):
                element.fail("two shapes follow each other in its path; put a site between them", "missing-element")
        part = []
