"""Names and frames of SDF: the meaning of each name where it is written, the place of each frame, and its link.

Every model, link, joint and <frame> is a frame. Its pose is kept in its home, the frame of the model around it; poses
that are given relative to others are worked out in the order in which they need each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.errors import nearest_names
from kinetree.io.document import Element, shown
from kinetree.io.sdf.values import child, read_pose, word
from kinetree.spatial import Transform

__all__ = ["Node", "Scope", "between", "body_of", "resolve"]

_IDENTITY = Transform.identity()


class Scope:
    """The names that mean something inside a model or world, and the rules of the file that it is written in."""

    def __init__(self, frame: Node, prefix: str, version: int, folder: str, *, static: bool) -> None:
        self.frame = frame
        self.prefix = prefix
        self.version = version
        self.folder = folder
        self.static = static
        self.names: dict[str, Node] = {}

    def add(self, node: Node) -> None:
        """Give a frame its name, which nothing else in this scope may have."""
        name = node.name
        if name in self.names:
            first = self.names[name]
            if self.version >= 7 or first.kind == node.kind:
                node.element.fail(
                    f"the name {shown(name)!r} is that of a {first.kind}, too (line {first.element.line}); names of "
                    "links, joints, frames and models are unique in a model; rename one of them",
                    "duplicate-name",
                )
            # Before 1.7, joints could have the names of links; poses that name them mean the first.
            return
        self.names[name] = node

    def look_up(self, name: str) -> Node | None:
        """The frame that a name means here; `a::b` is b inside the model a."""
        scope: Scope | None = self
        while scope is not None:
            if name == scope.frame.own_word:
                return scope.frame
            if name in scope.names:
                return scope.names[name]
            first, _, name = name.partition("::")
            around = scope.names.get(first)
            scope = None if around is None else around.inner
        return None

    def find(self, name: str, element: Element, what: str) -> Node:
        """The frame that a name means here; an error if it means none."""
        node = self.look_up(name)
        if node is None:
            around = "the world" if self.frame.kind == "world" else f"the model {shown(self.frame.name)!r}"
            if name == "world":
                element.fail(
                    f"{what} is world, which only the <parent> of a joint can name inside a model", "unknown-body"
                )
            element.fail(
                f"{what} is {shown(name)!r}, but {around} has no such frame: "
                f"{nearest_names(shown(name), list(self.names)[:500])}",
                "unknown-body",
            )
        return node


class Node:
    """A frame: a model, a link, a joint, a <frame>, the world, or the frame of a model that was merged into another."""

    __slots__ = (
        "base", "body", "busy", "element", "full", "home", "inner", "kind", "local", "name", "own_word", "placed_by",
        "placement_frame", "raw", "scope", "world",
    )  # fmt: skip

    def __init__(self, kind: str, name: str, element: Element, scope: Scope | None, pose: Element | None) -> None:
        self.kind: str = kind
        self.name: str = name
        self.element: Element = element
        self.scope: Scope | None = scope
        """Where the names in its element are looked up."""
        self.full: str = name if scope is None else scope.prefix + name
        self.home: Node | None = None if scope is None else scope.frame
        self.inner: Scope | None = None
        self.own_word: str = "world" if kind == "world" else "__model__"
        self.placed_by: Element | None = pose
        self.raw: Transform = read_pose(pose)
        self.placement_frame: str = ""
        self.base: Node | None = None
        self.local: Transform | None = _IDENTITY if scope is None else None
        self.world: Transform | None = _IDENTITY if scope is None else None
        self.body: Node | None = self if kind in ("world", "link") else None
        self.busy: bool = False

    def find_base(self) -> Node:
        """The frame in which its pose is given."""
        if self.base is None:
            self.base = self._base()
        return self.base

    def _base(self) -> Node:
        assert self.scope is not None
        assert self.home is not None
        pose = self.placed_by
        if pose is not None:
            frame = pose.attributes.get("relative_to", "").strip()
            old = pose.attributes.get("frame", "").strip()
            if old and self.scope.version >= 7:
                pose.fail(
                    f'has frame="{shown(old, 40)}"; since SDF 1.7 the attribute is called relative_to',
                    "unknown-attribute",
                )
            if frame or old:
                return self.scope.find(frame or old, pose, "relative_to" if frame else "frame")
        if self.kind == "joint":
            return self.child()
        if self.kind == "frame":
            return self.attached_to()
        return self.home

    def child(self) -> Node:
        """The frame that the <child> of a joint names."""
        assert self.scope is not None
        element = child(self.element, "child")
        if element is None:
            self.element.lacks("child")
        if word(element) == "world":
            element.fail("is the world, which nothing moves; exchange <parent> and <child>", "bad-joint")
        return self.scope.find(word(element), element, "the child")

    def attached_to(self) -> Node:
        """The frame that a <frame> is attached to."""
        assert self.scope is not None
        assert self.home is not None
        name = self.element.attributes.get("attached_to", "").strip()
        return self.scope.find(name, self.element, "attached_to") if name else self.home

    def canonical(self) -> Node:
        """The frame that a model is attached to: its canonical link, or the world if it is static."""
        inner = self.inner
        assert inner is not None
        name = self.element.attributes.get("canonical_link", "").strip()
        if name:
            link = inner.find(name, self.element, "canonical_link")
            if link.kind != "link":
                self.element.fail(
                    f"canonical_link is {shown(name)!r}, which is a {link.kind}; name a link", "wrong-kind"
                )
            return link
        for kinds in (("link",), ("model", "merged")):
            for node in inner.names.values():
                if node.kind in kinds:
                    return node
        return self.element.fail("has no links; a model needs at least one", "no-bodies")

    def _placer(self) -> Node | None:
        """The frame inside a model that its pose places, if it is not the model's own."""
        if not self.placement_frame:
            return None
        assert self.inner is not None
        return self.inner.find(self.placement_frame, self.element, "placement_frame")

    def needs(self) -> list[Node]:
        """The frames whose poses this one's depends on."""
        assert self.home is not None
        needed = list(_up(self.find_base(), self.home, self))
        placer = self._placer()
        if placer is not None:
            needed += _up(placer, self, self)
        return needed

    def work_out(self) -> None:
        """Its pose in its home, once those that it needs are known."""
        assert self.home is not None
        X = self.raw @ _along(_up(self.find_base(), self.home, self))
        placer = self._placer()
        if placer is not None:
            X = _along(_up(placer, self, self)).inverse @ X
        self.local = X

    def in_world(self) -> Transform:
        """Its pose in the world."""
        if self.world is None:
            path: list[Node] = []
            node = self
            while node.world is None:
                path.append(node)
                assert node.home is not None
                node = node.home
            for part in reversed(path):
                assert part.local is not None
                assert part.home is not None
                assert part.home.world is not None
                part.world = part.local @ part.home.world
        assert self.world is not None
        return self.world


def between(a: Node, b: Node) -> Transform:
    """The pose of b in a; exactly as written where b's is given in a, and its inverse where a's is given in b."""
    if a is b:
        return _IDENTITY
    if b.base is a and not b.placement_frame:
        return b.raw
    if a.base is b and not a.placement_frame:
        return a.raw.inverse
    if a.home is b.home:
        assert a.local is not None
        assert b.local is not None
        return _settled(b.local @ a.local.inverse)
    if b.home is a:
        assert b.local is not None
        return b.local
    return _settled(b.in_world() @ a.in_world().inverse)


def _settled(X: Transform) -> Transform:
    """The identity where only rounding distinguishes a pose from it."""
    turned = [float(x) - float(e) for x, e in zip(X.E.components(), _IDENTITY.E.components(), strict=True)]
    off = max(map(abs, (*turned, *map(float, X.r.components()))))
    return _IDENTITY if off < 1e-14 else X


def resolve(nodes: list[Node]) -> None:
    """Work out the poses of all frames; an error if some depend on each other in a circle."""
    for start in nodes:
        stack = [start]
        try:
            _resolve(stack)
        finally:  # after an error, other frames are looked at, if problems are collected
            for node in stack:
                node.busy = False


def _resolve(stack: list[Node]) -> None:
    """Work out the pose of the first frame on a stack, and before it all that it needs."""
    while stack:
        node = stack[-1]
        if node.local is not None:
            stack.pop()
        elif node.busy:
            node.work_out()
            node.busy = False
        else:
            node.busy = True
            for needed in node.needs():
                if needed.local is not None:
                    continue
                if needed.busy:
                    circle = [n for n in stack[stack.index(needed) :] if n.busy]
                    _fail_circle("poses are given relative to each other in a circle", circle)
                stack.append(needed)


def body_of(node: Node) -> Node:
    """The link that a frame is fixed to, or the world."""
    path: list[Node] = []
    try:
        while node.body is None:
            if node.busy:
                _fail_circle("frames are attached to each other in a circle", path[path.index(node) :])
            node.busy = True
            path.append(node)
            if node.kind == "joint":
                node = node.child()
            elif node.kind == "frame":
                node = node.attached_to()
            else:
                assert node.inner is not None
                node = _world(node) if node.inner.static else node.canonical()
    finally:
        for passed in path:
            passed.busy = False
    for passed in path:
        passed.body = node.body
    return node.body


def _world(node: Node) -> Node:
    while node.home is not None:
        node = node.home
    return node


def _fail_circle(sentence: str, circle: list[Node]) -> None:
    names = [shown(node.name) for node in circle]
    listed = names if len(names) <= 8 else [*names[:5], "…", *names[-2:]]
    circle[0].element.fail(f"{sentence}: {' → '.join([*listed, names[0]])}; place one of them in its model", "circle")


def _up(node: Node, top: Node, reader: Node) -> Iterator[Node]:
    """The frame and its homes, below the one at the top."""
    while node is not top:
        yield node
        if node.home is None:
            reader.element.fail(
                f"the pose is given relative to {shown(node.name)!r}, which is outside its model", "unknown-name"
            )
        node = node.home


def _along(path: Iterator[Node]) -> Transform:
    """The pose of the first in the home of the last."""
    X = _IDENTITY
    for node in path:
        assert node.local is not None
        X = X @ node.local
    return X
