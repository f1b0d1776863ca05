"""How the parts are connected: one root, one joint above every other body, no circles."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.model.checks.parts import hint
from kinetree.model.problems import STRICT, Problems
from kinetree.model.specs import JointSpec, LinkSpec, fault

__all__ = ["Structure"]


class Structure:
    """The tree of the named parts.

    `above` gives the joint that carries a body, `order` the bodies, each after its parent and otherwise in the order
    in which they and their joints were added. If the parts are not a tree and problems are collected, all are, and
    `is_tree` is False.
    """

    def __init__(
        self,
        name: str,
        source: str,
        links: Mapping[str, LinkSpec],
        joints: Mapping[str, JointSpec],
        problems: Problems = STRICT,
    ) -> None:
        self._source = source
        self._links = links
        self._problems = problems
        self.above: dict[str, JointSpec] = {}
        self.root: str = ""
        self.order: list[str] = []
        if not links:
            if not problems.lacks_parts:
                problems.add(fault(source, f"robot {name!r} has no bodies; add at least one", "no-bodies"))
            self.is_tree: bool = False
            return
        before = problems.fatal
        is_whole = self._find_joints_above(joints)
        # Where a joint is missing, its child is not a root, and its parts show no circle.
        self.is_tree = is_whole and self._find_root() and self._go_outward() and problems.fatal == before

    def _find_joints_above(self, joints: Mapping[str, JointSpec]) -> bool:
        """Fill `above`, and return whether no joint was left out."""
        problems = self._problems
        is_whole = not problems.lacks_parts
        for spec in joints.values():
            for role, name in (("parent", spec.parent), ("child", spec.child)):
                if name not in self._links:
                    is_whole = False
                    if problems.doubts(name, ""):
                        continue
                    problems.add(
                        fault(
                            spec.where,
                            f"joint {spec.name!r} has the {role} {name!r}, but there is no such body: "
                            f"{hint(name, self._links)}",
                            "unknown-body",
                        )
                    )
            if spec.child in self.above:
                is_whole = False
                if problems.doubts(spec.child):
                    continue
                other = self.above[spec.child].name
                problems.add(
                    fault(
                        spec.where,
                        f"body {spec.child!r} is the child of two joints, {other!r} and {spec.name!r}; "
                        "a tree gives each body one joint; leave one of them out, and close the loop with "
                        "kt.constraints.Loop in the calls of kt.constraints.constrained_dynamics and its relatives",
                        "two-parents",
                    )
                )
            self.above[spec.child] = spec
        return is_whole

    def _find_root(self) -> bool:
        roots = [name for name in self._links if name not in self.above]
        if len(roots) > 1:
            listed = ", ".join(map(repr, roots[:5])) + (" …" if len(roots) > 5 else "")
            self._problems.add(
                fault(
                    self._links[roots[1]].where or self._source,
                    f"{len(roots)} bodies have no parent: {listed}; a robot has one root, so connect the "
                    "others by joints",
                    "several-roots",
                )
            )
        if not roots:
            name = next(iter(self._links))
            self._problems.add(
                fault(
                    self._links[name].where or self._source,
                    f"every body has a parent, so the joints run in a circle: {self._circle(name)}; "
                    "remove the joint above the root",
                    "circle",
                )
            )
            return False
        self.root = roots[0]
        return len(roots) == 1

    def _go_outward(self) -> bool:
        children: dict[str, list[str]] = {name: [] for name in self._links}
        for child, spec in self.above.items():
            children[spec.parent].append(child)
        order = self.order = [self.root]
        for name in order:
            order.extend(children[name])
        if len(order) == len(self._links):
            return True
        reached = set(order)
        lost = next(name for name in self._links if name not in reached)
        self._problems.add(
            fault(
                self._links[lost].where or self._source,
                f"body {lost!r} does not hang on the root {self.root!r}, because its joints run in a circle: "
                f"{self._circle(lost)}; remove one of them",
                "circle",
            )
        )
        return False

    def _circle(self, name: str) -> str:
        """The circle that is reached going upward from a body, child before parent."""
        path: dict[str, int] = {}
        while name not in path:
            path[name] = len(path)
            name = self.above[name].parent
        circle = [*list(path)[path[name] :], name]
        shown = circle if len(circle) <= 8 else [*circle[:4], "…", *circle[-3:]]
        return " ← ".join(shown)
