"""How the parts are connected: one root, one joint above every other body, no circles."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.errors import ModelError
from kinetree.model.checks.parts import hint
from kinetree.model.specs import JointSpec, LinkSpec, at

__all__ = ["Structure"]


class Structure:
    """The tree of the named parts.

    `above` gives the joint that carries a body, `order` the bodies, each after its parent and otherwise in the order
    in which they and their joints were added.
    """

    def __init__(self, name: str, source: str, links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec]) -> None:
        self._source = source
        self._links = links
        if not links:
            raise ModelError(at(source, f"robot {name!r} has no bodies; add at least one"))
        self.above = self._joint_above(joints)
        self.root = self._root()
        self.order = self._outward()

    def _joint_above(self, joints: Mapping[str, JointSpec]) -> dict[str, JointSpec]:
        above: dict[str, JointSpec] = {}
        for spec in joints.values():
            for role, name in (("parent", spec.parent), ("child", spec.child)):
                if name not in self._links:
                    raise ModelError(
                        at(
                            spec.where,
                            f"joint {spec.name!r} has the {role} {name!r}, but there is no such body: "
                            f"{hint(name, self._links)}",
                        )
                    )
            if spec.child in above:
                other = above[spec.child].name
                raise ModelError(
                    at(
                        spec.where,
                        f"body {spec.child!r} is the child of two joints, {other!r} and {spec.name!r}; "
                        "a tree gives each body one joint; leave one of them out, and close the loop with kt.Loop "
                        "in the calls of kt.constrained_dynamics and its relatives",
                    )
                )
            above[spec.child] = spec
        return above

    def _root(self) -> str:
        roots = [name for name in self._links if name not in self.above]
        if len(roots) > 1:
            listed = ", ".join(map(repr, roots[:5])) + (" …" if len(roots) > 5 else "")
            raise ModelError(
                at(
                    self._links[roots[1]].where or self._source,
                    f"{len(roots)} bodies have no parent: {listed}; a robot has one root, so connect the "
                    "others by joints",
                )
            )
        if not roots:
            name = next(iter(self._links))
            raise ModelError(
                at(
                    self._links[name].where or self._source,
                    f"every body has a parent, so the joints run in a circle: {self._circle(name)}; "
                    "remove the joint above the root",
                )
            )
        return roots[0]

    def _outward(self) -> list[str]:
        children: dict[str, list[str]] = {name: [] for name in self._links}
        for child, spec in self.above.items():
            children[spec.parent].append(child)
        order = [self.root]
        for name in order:
            order.extend(children[name])
        if len(order) < len(self._links):
            reached = set(order)
            lost = next(name for name in self._links if name not in reached)
            raise ModelError(
                at(
                    self._links[lost].where or self._source,
                    f"body {lost!r} does not hang on the root {self.root!r}, because its joints run in a circle: "
                    f"{self._circle(lost)}; remove one of them",
                )
            )
        return order

    def _circle(self, name: str) -> str:
        """The circle that is reached going upward from a body, child before parent."""
        path: dict[str, int] = {}
        while name not in path:
            path[name] = len(path)
            name = self.above[name].parent
        circle = [*list(path)[path[name] :], name]
        shown = circle if len(circle) <= 8 else [*circle[:4], "…", *circle[-3:]]
        return " ← ".join(shown)
