"""Two robots side by side in the order of the tree: joints, bodies, inertias, limits. Names match them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from kinetree.comparison.own import OwnSide
from kinetree.comparison.reasons import about_turn, factor, length, numbers, of_axis, of_inertia, of_limit, vectors
from kinetree.comparison.result import Difference, Quantity
from kinetree.comparison.side import FIXED, Array, SeenBody, SeenJoint, Side, Solid, State, UnfollowableError, inverse
from kinetree.errors import listed, nearest_names
from kinetree.records import record

__all__ = ["MOVING", "Pair", "Tally", "neutral_states", "structure"]

MOVING = frozenset(
    ["type", "mimic", "parent", "origin", "orientation", "axis", "point on the axis", "pitch", "motions"]
)
"""The differences of a joint that change how its body moves."""
_LIMITS = ("lower limit", "upper limit", "velocity limit", "effort limit")
_DRIVES = ("armature", "damping", "friction", "stiffness")
_UNMOVED = np.eye(4)


@record(frozen=True, slots=True, eq=False)
class Pair:
    """Two sides that are compared."""

    ours: OwnSide
    theirs: Side
    tolerance: float
    size: float
    """The scale of lengths: the robot's, m."""
    tally: Tally

    @property
    def is_between_files(self) -> bool:
        """Whether both are robots of kinetree, which have all there is to compare."""
        return isinstance(self.theirs, OwnSide)


def neutral_states(ours: OwnSide, theirs: Side) -> tuple[State, State]:
    """Both in one configuration: our neutral one, or theirs if only that is possible; or each in its own."""
    for driver, other in ((ours, theirs), (theirs, ours)):
        if isinstance(driver, OwnSide):
            q, v = driver.robot.neutral(), np.zeros(driver.robot.nv)
            qs, vs = driver.joint_coordinates(q, v)
            common = [name for name in qs if other.accepts(name, driver.kinds[name])]
            state = {name: qs[name] for name in common}, {name: vs[name] for name in common}
            try:
                there = other.state(driver.kinds, *state)
            except UnfollowableError:
                continue
            here = driver.own_state(q, v)
            return (here, there) if driver is ours else (there, here)
    return ours.state({}, {}, {}), theirs.state({}, {}, {})


def structure(pair: Pair, here: State, there: State) -> Iterator[Difference]:
    """The differences, in the order of the tree, in the states given."""
    yield from _gravity(pair)
    reported: set[str] = set()
    yield from _group(pair, FIXED, FIXED)
    yield from _extra(pair, FIXED, reported)
    for name, joint in pair.ours.joints.items():
        theirs = pair.theirs.joints.get(name)
        if theirs is None:
            yield Difference(joint.child, f"joint {name!r}", "missing", "", "", _missing_joint(pair, joint))
        else:
            yield from _joint(pair, joint, theirs, here, there)
            yield from _group(pair, joint.child, theirs.child)
            yield from _numbers(pair, joint, theirs)
        yield from _extra(pair, joint.child, reported)
    for name in pair.theirs.joints:
        if name not in pair.ours.joints and name not in reported:
            yield _extra_joint(pair, name)
    _total_mass(pair)


def _gravity(pair: Pair) -> Iterator[Difference]:
    a, b = pair.ours.gravity, pair.theirs.gravity
    if not np.allclose(a, b, rtol=0.0, atol=pair.tolerance * max(1.0, float(np.linalg.norm(a)))):
        x, y = vectors(a, b)
        yield Difference("", "the robot", "gravity", f"{x} m/s²", f"{y} m/s²", "")


# -- joints


def _missing_joint(pair: Pair, joint: SeenJoint) -> str:
    """Why a joint is missing, as the predicate of a sentence."""
    theirs = pair.theirs
    start = f"is missing in {theirs.title}"
    body = theirs.bodies.get(joint.child)
    if body is None:
        near = nearest_names(joint.name, theirs.joints) if theirs.joints else "it has no joints"
        return f"{start}, as is the body {joint.child!r} that it moves ({near})"
    if body.carrier == body.name:
        mover = next((name for name, other in theirs.joints.items() if other.child == joint.child), None)
        return f"{start}: body {joint.child!r} is moved by joint {mover!r} there"
    carrier = f"body {body.carrier!r}" if body.carrier else "the world"
    return f"{start}: body {joint.child!r} is fixed to {carrier} there"


def _extra(pair: Pair, carrier: str, reported: set[str]) -> Iterator[Difference]:
    """Joints on a body that only they have."""
    for name, joint in pair.theirs.joints.items():
        if joint.parent == carrier and name not in pair.ours.joints:
            reported.add(name)
            yield _extra_joint(pair, name)


def _extra_joint(pair: Pair, name: str) -> Difference:
    child = pair.theirs.joints[name].child
    body = pair.ours.bodies.get(child)
    if body is None:
        why = f"is only in {pair.theirs.title}, as is the body {child!r} that it moves"
    elif body.carrier == child:
        mover = next(own for own, joint in pair.ours.joints.items() if joint.child == child)
        why = f"is only in {pair.theirs.title}: body {child!r} is moved by joint {mover!r} here"
    else:
        carrier = f"body {body.carrier!r}" if body.carrier else "the world"
        why = f"is only in {pair.theirs.title}: body {child!r} is fixed to {carrier} here"
    return Difference(child, f"joint {name!r}", "only there", "", "", why)


def _joint(pair: Pair, ours: SeenJoint, theirs: SeenJoint, here: State, there: State) -> Iterator[Difference]:
    def difference(what: str, a: str, b: str, reason: str = "") -> Difference:
        return Difference(ours.child, f"joint {ours.name!r}", what, a, b, reason)

    if not {*ours.words} & {*theirs.words}:
        yield difference("type", ours.words[0], theirs.words[0])
    if pair.is_between_files and ours.follows != theirs.follows:
        free = "a joint that moves on its own"
        a, b = (f"a follower of {x}" if x else free for x in (ours.follows, theirs.follows))
        yield difference("mimic", a, b)
    if pair.is_between_files and ours.name != theirs.name:
        yield difference("name", repr(ours.name), repr(theirs.name), f"renamed: it moves the same body {ours.child!r}")
    if ours.child != theirs.child and not _is_link_between(pair, ours):
        renamed = theirs.child not in pair.ours.bodies and ours.child not in pair.theirs.bodies
        reason = "renamed: the same joint moves it" if renamed else ""
        yield Difference(
            ours.child, f"what joint {ours.name!r} moves", "name", repr(ours.child), repr(theirs.child), reason
        )
    parent = _real_parent(pair, ours)
    on, their_on = (_base(side, x) for side, x in ((pair.ours, parent), (pair.theirs, theirs.parent)))
    if parent != theirs.parent and on != their_on and not _same_carrier(pair, ours, theirs):
        yield difference("parent", *(f"body {x!r}" if x else "the world" for x in (on, their_on)))
        return
    if ours.nv != theirs.nv:
        return
    yield from _placed(pair, ours, theirs, here, there)


def _is_link_between(pair: Pair, joint: SeenJoint) -> bool:
    """Whether a joint moves a massless link between several joints of one body, which others have otherwise."""
    own = pair.ours.bodies[joint.child].own
    return not pair.is_between_files and joint.child not in pair.theirs.bodies and own is not None and own.is_nothing


def _real_parent(pair: Pair, joint: SeenJoint) -> str:
    """The carrier that a joint is attached to, below massless links between several joints of one body."""
    movers = {other.child: other for other in pair.ours.joints.values()}
    while joint.parent in movers and _is_link_between(pair, movers[joint.parent]):
        joint = movers[joint.parent]
    return joint.parent


def _base(side: Side, carrier: str) -> str:
    """The body behind a carrier, which may be a fixed root."""
    is_root = isinstance(side, OwnSide) and not carrier and not side.robot.floating_base
    return side.robot.root if is_root and isinstance(side, OwnSide) else carrier


def _same_carrier(pair: Pair, ours: SeenJoint, theirs: SeenJoint) -> bool:
    """Whether the parents are the same body under two names, as far as names show."""
    return ours.parent not in pair.theirs.bodies and theirs.parent not in pair.ours.bodies


def _placed(pair: Pair, ours: SeenJoint, theirs: SeenJoint, here: State, there: State) -> Iterator[Difference]:
    """The place of a joint and of its body relative to their carrier, and the joint's axis."""
    subject = f"joint {ours.name!r}"
    parent = _real_parent(pair, ours)
    on, their_on = _base(pair.ours, parent), _base(pair.theirs, theirs.parent)
    if parent == theirs.parent or on == their_on:
        T_a, T_b = here.placements.get(on, _UNMOVED), there.placements.get(their_on, _UNMOVED)
    elif on in pair.theirs.bodies or their_on in pair.ours.bodies:
        return
    else:  # the body under another name: seen from the world
        T_a, T_b = _UNMOVED, _UNMOVED
    is_link = _is_link_between(pair, ours)
    if ours.child in here.placements and theirs.child in there.placements and not is_link:
        A, B = inverse(T_a) @ here.placements[ours.child], inverse(T_b) @ there.placements[theirs.child]
        apart, turn = A[:3, 3] - B[:3, 3], A[:3, :3].T @ B[:3, :3]
        distance, angle = float(np.linalg.norm(apart)), float(np.abs(turn - np.eye(3)).max())
        pair.tally.add("placements", max(distance / pair.size, angle), f"body {ours.child!r}")
        if distance > pair.tolerance * pair.size:
            reason = f"{length(distance)} apart"
            if ratio := _factor_of_vectors(A[:3, 3], B[:3, 3]):
                reason += f", {ratio}"
            x, y = vectors(A[:3, 3], B[:3, 3])
            yield Difference(
                ours.child, f"{subject} on {ours.parent or 'the world'}", "origin", f"{x} m", f"{y} m", reason
            )
        if angle > pair.tolerance:
            yield Difference(
                ours.child, f"{subject} on {ours.parent or 'the world'}", "orientation",
                about_turn(A[:3, :3]), about_turn(B[:3, :3]), f"{about_turn(turn)} apart",
            )  # fmt: skip
    if ours.child in here.placements and theirs.child in there.placements and not is_link:  # as it is in files
        T_a, T_b = here.placements[ours.child], there.placements[theirs.child]
    S_a, S_b = _carried(T_a, here.twists[ours.name]), _carried(T_b, there.twists[ours.name])
    yield from _axis(pair, ours, S_a, S_b)


def _axis(pair: Pair, ours: SeenJoint, S_a: Array, S_b: Array) -> Iterator[Difference]:
    subject, where = f"joint {ours.name!r}", f"joint {ours.name!r}"
    if ours.nv > 1:
        error = float((np.abs(S_a - S_b) / np.array([pair.size] * 3 + [1.0] * 3)[:, None]).max())
        pair.tally.add("joint axes", error, where)
        if error > pair.tolerance:
            yield Difference(ours.child, subject, "motions", "its own", "others", f"up to {error:.2g}")
        return
    (a, p_a, pitch_a), (b, p_b, pitch_b) = _line(S_a[:, 0]), _line(S_b[:, 0])
    turn, shift = float(np.abs(a - b).max()), float(np.linalg.norm(p_a - p_b))
    pair.tally.add("joint axes", max(turn, shift / pair.size, abs(pitch_a - pitch_b) / pair.size), where)
    if turn > pair.tolerance:
        yield Difference(ours.child, subject, "axis", *vectors(a, b), of_axis(a, b))
    elif shift > pair.tolerance * pair.size:
        x, y = vectors(p_a, p_b)
        yield Difference(ours.child, subject, "point on the axis", f"{x} m", f"{y} m", f"{length(shift)} apart")
    elif abs(pitch_a - pitch_b) > pair.tolerance * pair.size:
        x, y = numbers(pitch_a, pitch_b)
        yield Difference(ours.child, subject, "pitch", f"{x} m/rad", f"{y} m/rad", factor(pitch_a, pitch_b))


def _line(S: Array) -> tuple[Array, Array, float]:
    """(axis, the point on it nearest the origin, pitch) of a motion; without rotation, its direction alone."""
    linear, angular = S[:3], S[3:]
    if not angular.any():
        return linear, np.zeros(3), 0.0
    square = float(angular @ angular)
    return angular, np.cross(angular, linear) / square, float(angular @ linear) / square


def _carried(T: Array, S: Array) -> Array:
    """Motions (6, n) of the world's origin, as motions of a frame's, in its axes."""
    R, p = T[:3, :3], T[:3, 3]
    return np.concatenate([R.T @ (S[:3] + np.cross(S[3:].T, p).T), R.T @ S[3:]])


def _factor_of_vectors(a: Array, b: Array) -> str:
    square = float(a @ a)
    if not square:
        return ""
    ratio = float(a @ b) / square
    return factor(1.0, ratio) if ratio and np.allclose(ratio * a, b, rtol=1e-6, atol=0.0) else ""


# -- bodies


def _group(pair: Pair, ours: str, theirs: str) -> Iterator[Difference]:
    """The inertia of bodies that move as one, and where they are in it."""
    fixed = [body for body in pair.ours.bodies.values() if body.carrier == ours and body.name != ours]
    yield from _inertia(pair, ours, theirs, fixed)
    for body in fixed:
        other = pair.theirs.bodies.get(body.name)
        if other is not None and body.name not in ("world", ""):
            yield from _frame(pair, body, other, ours, theirs)
        elif other is None and pair.is_between_files:
            yield Difference(
                body.name,
                f"body {body.name!r}",
                "missing",
                "",
                "",
                f"is missing in {pair.theirs.title}{_alike(pair, body)}",
            )
    if pair.is_between_files:
        for other in pair.theirs.bodies.values():
            if other.carrier == theirs and other.name != theirs and other.name not in pair.ours.bodies:
                why = f"is only in {pair.theirs.title}"
                yield Difference(other.name, f"body {other.name!r}", "only there", "", "", why)


def _alike(pair: Pair, body: SeenBody) -> str:
    """A body that could be the same under another name."""
    for other in pair.theirs.bodies.values():
        if other.name not in pair.ours.bodies and np.allclose(other.placement, body.placement, rtol=0.0, atol=1e-9):
            return f"; {other.name!r}, which is only there, is at its place: renamed?"
    return ""


def _inertia(pair: Pair, ours: str, theirs: str, fixed: list[SeenBody]) -> Iterator[Difference]:
    a, b = pair.ours.solid_of(ours), pair.theirs.solid_of(theirs)
    if a is None or b is None or (not ours and pair.theirs.drops_fixed):
        return
    name = ours or pair.ours.robot.root
    differences = [*_solids(pair, name, a, b, merged=[body.name for body in fixed if body.name != name])]
    if not differences:
        return
    members = {body.name: body for body in pair.ours.bodies.values() if body.carrier == ours}
    others = {body.name: body for body in pair.theirs.bodies.values() if body.carrier == theirs}
    merged = not pair.is_between_files and not {*members} <= {*pair.theirs.bodies}
    if ours != theirs or merged or not all(body.own is not None for body in others.values()):
        yield from differences
        return
    own: list[Difference] = []
    for name, body in members.items():
        other = others.get(name)
        if body.own is not None and other is not None and other.own is not None:
            own += _solids(pair, name, body.own, other.own, counted=False)
    if own:
        yield from own
    elif not _explained(pair, members, others):
        yield from differences


def _explained(pair: Pair, members: dict[str, SeenBody], others: dict[str, SeenBody]) -> bool:
    """Whether a sum differs because its bodies are others or elsewhere, which is reported for them."""
    if {*members} != {*others}:
        return True
    limit = pair.tolerance * min(1.0, pair.size)
    return any(np.abs(members[name].placement - others[name].placement).max() > limit for name in members)


def _solids(
    pair: Pair, name: str, a: Solid, b: Solid, merged: list[str] | None = None, counted: bool = True
) -> Iterator[Difference]:
    """Two inertias of a body, which may include that of others fixed to it."""
    subject = f"body {name!r}"
    heavy = [other for other in merged or [] if (own := pair.ours.bodies[other].own) and not own.is_nothing]
    together = f"with {listed(heavy, most=3)}, fixed to it" if heavy else ""

    def difference(what: str, x: str, y: str, reason: str) -> Difference:
        return Difference(name, subject, what, x, y, "; ".join(part for part in (reason, together) if part))

    heavier = max(a.mass, b.mass)
    off_mass = abs(a.mass - b.mass) / heavier if heavier else 0.0
    off_center = float(np.linalg.norm(a.center - b.center)) / pair.size if a.mass and b.mass else 0.0
    scale = max(float(np.abs(a.about_origin).max()), float(np.abs(b.about_origin).max()))
    off_inertia = float(np.abs(a.inertia - b.inertia).max()) / scale if scale else 0.0
    if counted:
        pair.tally.add("masses", off_mass, subject)
        pair.tally.add("centers of mass", off_center, subject)
        pair.tally.add("inertias", off_inertia, subject)
    parts = {
        body.name: body.own
        for body in pair.ours.bodies.values()
        if body.own is not None and (body.name == name or body.name in (merged or []))
    }

    def known(what: str) -> str:
        return pair.theirs.reason(what, parts, a, b)

    if off_mass > pair.tolerance:
        x, y = numbers(a.mass, b.mass)
        yield difference("mass", f"{x} kg", f"{y} kg", known("mass") or factor(a.mass, b.mass))
    if off_center > pair.tolerance:
        reason = f"{length(float(np.linalg.norm(a.center - b.center)))} apart"
        if ratio := _factor_of_vectors(a.center, b.center):
            reason += f", {ratio}"
        x, y = vectors(a.center, b.center)
        yield difference("center of mass", f"{x} m", f"{y} m", known("mass") or reason)
    if off_inertia > pair.tolerance:
        x, y = _matrices(a.inertia, b.inertia)
        yield difference("inertia about the center of mass", x, y, known("inertia") or of_inertia(a, b))


def _matrices(A: Array, B: Array) -> tuple[str, str]:
    entries = ((I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]) for I in (A, B))
    a, b = vectors(*entries)
    return f"xx, yy, zz, xy, xz, yz = {a} kg·m²", f"{b} kg·m²"


def _frame(pair: Pair, ours: SeenBody, theirs: SeenBody, mover: str, their_mover: str) -> Iterator[Difference]:
    subject = f"body {ours.name!r}"
    if theirs.carrier == theirs.name:
        return  # the joint that moves it is reported
    if theirs.carrier != their_mover:
        a, b = (f"fixed to {x!r}" if x else "fixed to the world" for x in (mover, theirs.carrier))
        yield Difference(ours.name, subject, "carrier", a, b, "")
        return
    A, B = ours.placement, theirs.placement
    turn = A[:3, :3].T @ B[:3, :3]
    distance, angle = float(np.linalg.norm(A[:3, 3] - B[:3, 3])), float(np.abs(turn - np.eye(3)).max())
    pair.tally.add("frames", max(distance / pair.size, angle), subject)
    if distance > pair.tolerance * pair.size:
        on = f"{subject} on {mover or 'the world'}"
        x, y = vectors(A[:3, 3], B[:3, 3])
        yield Difference(ours.name, on, "place", f"{x} m", f"{y} m", f"{length(distance)} apart")
    if angle > pair.tolerance:
        on = f"{subject} on {mover or 'the world'}"
        yield Difference(
            ours.name, on, "orientation", about_turn(A[:3, :3]), about_turn(B[:3, :3]), f"{about_turn(turn)} apart"
        )


# -- numbers


def _numbers(pair: Pair, ours: SeenJoint, theirs: SeenJoint) -> Iterator[Difference]:
    for words, quantity in ((_LIMITS, "limits"), (_DRIVES, "drives")):
        for word in words:
            a, b = ours.numbers.get(word), theirs.numbers.get(word)
            if a is None or b is None or len(a) != len(b):
                continue
            errors = [_off(x, y, quantity) for x, y in zip(a, b, strict=True)]
            worst = int(np.argmax(errors))
            pair.tally.add(quantity, errors[worst], f"{word} of joint {ours.name!r}")
            if errors[worst] > pair.tolerance:
                x, y = a[worst], b[worst]
                reason = of_limit(x, y) if quantity == "limits" else factor(x, y)
                if quantity == "limits":
                    ends = [(ours.numbers.get(end) or a)[worst] for end in _LIMITS[:2]]
                    reason = pair.theirs.reason_for_limit(word, (*ends, x), y) or reason
                yield Difference(ours.child, f"joint {ours.name!r}", word, *numbers(x, y), reason)


def _off(a: float, b: float, quantity: str) -> float:
    if a == b:
        return 0.0
    if math.isinf(a) or math.isinf(b):
        return math.inf
    larger = max(abs(a), abs(b))
    return abs(a - b) / (max(1.0, larger) if quantity == "limits" else larger)


def _total_mass(pair: Pair) -> None:
    """Both masses, of all that both count."""
    both = [joint.child for name, joint in pair.ours.joints.items() if name in pair.theirs.joints]
    fixed = [] if pair.theirs.drops_fixed else [FIXED]
    if len(both) < len(pair.ours.joints) or len(both) < len(pair.theirs.joints):
        both = [joint.child for joint in pair.ours.joints.values()]
    ours = [pair.ours.solid_of(name) for name in [*fixed, *both]]
    theirs = [pair.theirs.solid_of(name) for name in [*fixed, *(joint.child for joint in pair.theirs.joints.values())]]
    if all(solid is not None for solid in [*ours, *theirs]):
        a, b = (sum(solid.mass for solid in solids if solid is not None) for solids in (ours, theirs))
        pair.tally.add("total mass", abs(a - b) / max(a, b) if a or b else 0.0, "")


SCALES = {
    "total mass": "the larger of the two",
    "masses": "the body's mass",
    "centers of mass": "the robot's size",
    "inertias": "the body's inertia about its frame",
    "placements": "the robot's size, or rad",
    "joint axes": "rad, or the robot's size",
    "frames": "the robot's size, or rad",
    "limits": "the limit, or 1",
    "drives": "the larger of the two",
    "mass matrix": "√(M_ii M_jj), entry by entry",
    "bias forces": "the largest h_i / √M_ii, or the largest √M_ii",
    "gravity forces": "the largest h_i / √M_ii, or the largest √M_ii",
}
"""The scales of the errors of each quantity. "drives" are armature, damping, friction and stiffness."""


class Tally:
    """Errors of quantities, as they are found."""

    def __init__(self) -> None:
        self._worst: dict[str, tuple[float, str]] = {}
        self._count: dict[str, int] = {}
        self._problem: dict[str, str] = {}

    def add(self, quantity: str, error: float, where: str) -> None:
        """One more comparison in this quantity; an error that is NaN counts as infinite."""
        error = error if error == error else float("inf")
        self._count[quantity] = self._count.get(quantity, 0) + 1
        if quantity not in self._worst or error > self._worst[quantity][0]:
            self._worst[quantity] = error, where

    def fail(self, quantity: str, problem: str) -> None:
        """A quantity that could not be compared."""
        self._problem[quantity] = problem

    def worst(self, quantity: str) -> tuple[float, str]:
        """(the largest error, where)."""
        return self._worst.get(quantity, (0.0, ""))

    def quantities(self) -> tuple[Quantity, ...]:
        """All compared quantities, and those that could not be."""
        quantities = []
        for name, scale in SCALES.items():
            if name in self._problem:
                quantities.append(Quantity(name, float("nan"), scale, "", 0, self._problem[name]))
            elif name in self._worst:
                error, where = self._worst[name]
                quantities.append(Quantity(name, error, scale, where, self._count[name]))
        return tuple(quantities)
