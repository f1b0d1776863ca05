"""Building a robot: bodies and joints in any order, then one `build` that checks and freezes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kinetree.errors import ModelError, nearest_names
from kinetree.model.elements import Body, Frame, Geometry, Joint, Limits, Mimic, Named
from kinetree.model.joints import Fixed, Free, JointKind
from kinetree.model.model import Model
from kinetree.model.tree import Tree
from kinetree.spatial import Inertia, Motion, Transform, Vec3

__all__ = ["ModelBuilder"]


@dataclass(frozen=True, slots=True)
class _Link:
    name: str
    inertia: Inertia
    geometry: tuple[Geometry, ...]
    where: str


@dataclass(frozen=True, slots=True)
class _JointSpec:
    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Transform
    limits: Limits
    damping: tuple[float, ...]
    friction: tuple[float, ...]
    armature: tuple[float, ...]
    mimic: Mimic | None
    where: str


@dataclass(frozen=True, slots=True)
class _FrameSpec:
    name: str
    body: str
    placement: Transform
    where: str


class ModelBuilder:
    """Collects the parts of a robot.

    Parts may come in any order; `where` (file, line, element) begins the message if a part is refused.

    >>> import kinetree as kt
    >>> from kinetree.spatial import Inertia, Sym3, Transform, Vec3
    >>> builder = kt.ModelBuilder("pendulum")
    >>> builder.add_body("base")
    >>> builder.add_body("bob", Inertia.from_com(1.0, Vec3(0.0, 0.0, -1.0), Sym3.scalar(0.01)))
    >>> builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", Transform.identity())
    >>> builder.build().nq
    1
    """

    def __init__(self, name: str, *, gravity: Sequence[float] = (0.0, 0.0, -9.81), source: str = "") -> None:
        self.name = name
        self.gravity = tuple(float(g) for g in gravity)
        self.source = source
        self._links: dict[str, _Link] = {}
        self._joints: dict[str, _JointSpec] = {}
        self._frames: dict[str, _FrameSpec] = {}
        self._notes: list[str] = []

    def add_body(
        self,
        name: str,
        inertia: Inertia | None = None,
        *,
        geometry: Sequence[Geometry] = (),
        where: str = "",
    ) -> None:
        """A body with its inertia in its own frame (none: massless)."""
        if name in self._links:
            raise ModelError(_at(where, f"there are two bodies named {name!r}; rename one of them"))
        self._links[name] = _Link(name, inertia or Inertia.zero(), tuple(geometry), where)

    def add_joint(
        self,
        name: str,
        kind: JointKind,
        parent: str,
        child: str,
        placement: Transform | None = None,
        *,
        limits: Limits | None = None,
        damping: Sequence[float] | None = None,
        friction: Sequence[float] | None = None,
        armature: Sequence[float] | None = None,
        mimic: Mimic | None = None,
        where: str = "",
    ) -> None:
        """A joint whose fixed side stands at `placement` in the parent; its moving side is the child's frame."""
        if name in self._joints:
            raise ModelError(_at(where, f"there are two joints named {name!r}; rename one of them"))
        if parent == child:
            raise ModelError(_at(where, f"joint {name!r} attaches body {child!r} to itself"))
        nothing = (0.0,) * kind.nv
        self._joints[name] = _JointSpec(
            name,
            kind,
            parent,
            child,
            placement or Transform.identity(),
            limits or Limits.none(kind),
            nothing if damping is None else tuple(damping),
            nothing if friction is None else tuple(friction),
            nothing if armature is None else tuple(armature),
            mimic,
            where,
        )

    def add_frame(self, name: str, body: str, placement: Transform, *, where: str = "") -> None:
        """A named frame on a body."""
        if name in self._frames:
            raise ModelError(_at(where, f"there are two frames named {name!r}; rename one of them"))
        self._frames[name] = _FrameSpec(name, body, placement, where)

    def note(self, sentence: str) -> None:
        """Something that was assumed, for `Model.notes`."""
        self._notes.append(sentence)

    def build(self, *, floating_base: bool = False) -> Model:
        """Check the parts and freeze them into a robot."""
        above = self._joint_above()
        root = self._root(above)
        order = self._outward(root, above)

        joints = [spec for spec in self._joints.values() if not isinstance(spec.kind, Fixed)]
        if floating_base:
            joints.insert(0, self._root_joint(root))
        slot_of_joint = {spec.name: slot for slot, spec in enumerate(joints, 1)}

        # Each body's moving body, and its frame in it.
        slot = {root: 1 if floating_base else 0}
        placement = {root: Transform.identity()}
        parent_slot = [0] * (len(joints) + 1)
        X_T = [Transform.identity()] * (len(joints) + 1)
        outward = [(1, 0)] if floating_base else []
        for name in order[1:]:
            spec = above[name]
            X = spec.placement @ placement[spec.parent]
            if isinstance(spec.kind, Fixed):
                slot[name], placement[name] = slot[spec.parent], X
                continue
            i = slot_of_joint[spec.name]
            slot[name], placement[name] = i, Transform.identity()
            parent_slot[i], X_T[i] = slot[spec.parent], X
            outward.append((i, slot[spec.parent]))

        inertia = [Inertia.zero()] * (len(joints) + 1)
        for link in self._links.values():
            i = slot[link.name]
            inertia[i] = inertia[i] + placement[link.name].back(link.inertia)

        tree = Tree(
            outward=tuple(outward),
            inward=tuple(reversed(outward)),
            joint=(Fixed(), *(spec.kind for spec in joints)),
            X_T=tuple(X_T),
            I=tuple(inertia),
            armature=((), *(spec.armature for spec in joints)),
            gravity=Motion(Vec3.zero(), Vec3(*self.gravity)),
            parent=tuple(parent_slot),
        )
        moving = {root} if floating_base else set()
        moving.update(spec.child for spec in joints)
        bodies = {
            link.name: Body(
                link.name, link.inertia, slot[link.name], placement[link.name], link.name not in moving, link.geometry
            )
            for link in self._links.values()
        }
        return Model(
            name=self.name,
            tree=tree,
            bodies=Named("body", bodies),
            joints=Named("joint", self._frozen_joints(joints)),
            frames=Named("frame", self._frozen_frames(bodies)),
            root=root,
            floating_base=floating_base,
            notes=(*self._notes, *_merge_notes(bodies, root)),
            singular_joints=(),
            source=self.source,
        )

    def _joint_above(self) -> dict[str, _JointSpec]:
        """The joint that carries each body but the root."""
        above: dict[str, _JointSpec] = {}
        for spec in self._joints.values():
            for role, name in (("parent", spec.parent), ("child", spec.child)):
                if name not in self._links:
                    hint = nearest_names(name, self._links)
                    raise ModelError(
                        _at(spec.where, f"joint {spec.name!r} has the {role} {name!r}, but there is no such body: {hint}")
                    )
            if spec.child in above:
                other = above[spec.child].name
                raise ModelError(
                    _at(
                        spec.where,
                        f"body {spec.child!r} is the child of two joints, {other!r} and {spec.name!r}; "
                        "a tree gives each body one joint (loops are not supported)",
                    )
                )
            above[spec.child] = spec
        return above

    def _root(self, above: dict[str, _JointSpec]) -> str:
        if not self._links:
            raise ModelError(_at(self.source, f"{self.name!r} has no bodies"))
        roots = [name for name in self._links if name not in above]
        if len(roots) > 1:
            listed = ", ".join(map(repr, roots[:5])) + (" …" if len(roots) > 5 else "")
            raise ModelError(
                _at(
                    self._links[roots[1]].where or self.source,
                    f"{len(roots)} bodies have no parent: {listed}; a robot has one root, so connect the others by joints",
                )
            )
        if not roots:
            name = next(iter(self._links))
            raise ModelError(_at(self.source, f"every body has a parent, so the joints run in a circle: {_circle(name, above)}"))
        return roots[0]

    def _outward(self, root: str, above: dict[str, _JointSpec]) -> list[str]:
        """The bodies, each parent before its children, in file order where that leaves a choice."""
        children: dict[str, list[str]] = {name: [] for name in self._links}
        for child, spec in above.items():
            children[spec.parent].append(child)
        order = [root]
        for name in order:
            order.extend(children[name])
        if len(order) < len(self._links):
            reached = set(order)
            lost = next(name for name in self._links if name not in reached)
            raise ModelError(
                _at(
                    self._links[lost].where or self.source,
                    f"body {lost!r} does not hang on the root {root!r}: its joints run in a circle: {_circle(lost, above)}",
                )
            )
        return order

    def _root_joint(self, root: str) -> _JointSpec:
        name = "root_joint"
        while name in self._joints:
            name += "_"
        kind, six = Free(), (0.0,) * 6
        return _JointSpec(
            name, kind, "", root, Transform.identity(), Limits.none(kind), six, six, six, None, self.source
        )

    def _frozen_joints(self, specs: Sequence[_JointSpec]) -> dict[str, Joint]:
        joints: dict[str, Joint] = {}
        q_start = v_start = 0
        for slot, spec in enumerate(specs, 1):
            joints[spec.name] = Joint(
                spec.name, spec.kind, slot, spec.parent, spec.child, spec.placement, q_start, v_start,
                spec.limits, spec.damping, spec.friction, spec.armature, spec.mimic,
            )  # fmt: skip
            q_start += spec.kind.nq
            v_start += spec.kind.nv
        return joints

    def _frozen_frames(self, bodies: dict[str, Body]) -> dict[str, Frame]:
        frames = {body.name: Frame(body.name, body.name, body.slot, body.placement) for body in bodies.values()}
        for spec in self._frames.values():
            if spec.name in frames:
                raise ModelError(_at(spec.where, f"frame {spec.name!r} has the name of a body; rename it"))
            if spec.body not in bodies:
                hint = nearest_names(spec.body, bodies)
                raise ModelError(_at(spec.where, f"frame {spec.name!r} sits on {spec.body!r}, but there is no such body: {hint}"))
            body = bodies[spec.body]
            frames[spec.name] = Frame(spec.name, spec.body, body.slot, spec.placement @ body.placement)
        return frames


def _at(where: str, message: str) -> str:
    return f"{where}: {message}" if where else message


def _circle(name: str, above: dict[str, _JointSpec]) -> str:
    path = [name]
    while (parent := above[path[-1]].parent) not in path:
        path.append(parent)
    circle = [*path[path.index(parent) :], parent]
    shown = circle if len(circle) <= 8 else [*circle[:4], "…", *circle[-3:]]
    return " ← ".join(shown)


def _merge_notes(bodies: dict[str, Body], root: str) -> list[str]:
    merged = [body.name for body in bodies.values() if body.is_fixed and body.name != root]
    if not merged:
        return []
    listed = ", ".join(merged[:8]) + (f" and {len(merged) - 8} more" if len(merged) > 8 else "")
    return [f"{len(merged)} bodies on fixed joints were merged into the body they are fixed to: {listed}"]
