"""Bases of robots: links that float, and links that are fixed to the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.io.document import shown
from kinetree.io.sdf.gearboxes import Edge
from kinetree.io.sdf.scopes import Node, body_of
from kinetree.io.sdf.scoping import Scoping
from kinetree.joints import Fixed, Free
from kinetree.model import ModelBuilder

__all__ = ["WORLD", "Base"]

WORLD = "world"


class Base:
    """The links that no joint carries, and their treatment.

    A robot that is one tree and floats has its first link as root, under kinetree's own floating base. In all other
    cases the root is a body "world", on which the links stand that are fixed to it, and from which free joints lead to
    those that float.
    """

    def __init__(
        self, scoping: Scoping, edges: Sequence[Edge], above: Mapping[Node, Edge], floating: bool | None
    ) -> None:
        free = [link for link in scoping.links if link not in above]
        self.static: list[Node] = [link for link in free if link.scope is not None and link.scope.static]
        self.floating: list[Node] = [link for link in free if link.scope is not None and not link.scope.static]
        on_world = next((edge for edge in edges if edge.parent.kind == "world"), None)
        if floating and (on_world or self.static or not self.floating):
            what = on_world.joint if on_world else (self.static or scoping.links or [scoping.root])[0]
            why = (
                f"the joint {shown(what.full)!r} attaches its child to the world"
                if on_world
                else f"the link {shown(what.full)!r} is in a static model"
            )
            what.element.fail(
                f"{why}, so the robot has no floating base; load it without floating_base=True", "bad-joint"
            )
        self.fixed: bool = floating is False
        frames = any(body_of(frame).kind == "world" for frame in scoping.frames)
        self.has_world: bool = bool(
            scoping.world is not None or on_world or self.static or frames or len(self.floating) != 1 or self.fixed
        )

    def add_world(self, builder: ModelBuilder) -> None:
        """Add the body "world", if there is one."""
        if self.has_world:
            builder.add_body(WORLD)

    def add_joints(self, scoping: Scoping, builder: ModelBuilder) -> None:
        """Add the joints between the world and the links that no joint of the file carries."""
        if not self.has_world:
            self._tell_where(builder)
            return
        names = {joint.full for joint in scoping.joints}
        fixed = {*self.static, *(self.floating if self.fixed else ())}
        for link in scoping.links:
            if link not in fixed and link not in self.floating:
                continue
            name = f"{link.full}_joint"
            while name in names:
                name += "_"
            names.add(name)
            if link in fixed:
                builder.add_joint(name, Fixed(), WORLD, link.full, link.in_world(), where=link.element)
            else:
                builder.add_joint(name, Free(), WORLD, link.full, where=link.element)
                self._tell(link, builder, name)

    def _tell_where(self, builder: ModelBuilder) -> None:
        for link in self.floating:
            self._tell(link, builder, "root_joint")

    def _tell(self, link: Node, builder: ModelBuilder, joint: str) -> None:
        X = link.in_world()
        numbers = [*X.r.components(), *map(float, X.quaternion)]
        if numbers != [0.0] * 6 + [1.0]:
            shown_ = ", ".join(f"{x + 0.0:.9g}" for x in numbers)
            builder.note(f"the file places {link.full} at the coordinates ({shown_}) of {joint}, in q")
