"""Robots whose joints a format has no word for, with others in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kinetree.errors import listed
from kinetree.io.chains import Chain, chain_of, free_name, split
from kinetree.io.losses import Losses, numbers_in_words
from kinetree.joints import Fixed, FloatingBase, Free, FreeRPY, JointKind
from kinetree.model.specs import JointSpec, LinkSpec, Parts
from kinetree.spatial import Inertia, Transform

__all__ = ["with_substitutes"]

_HERE = Transform.identity()


def with_substitutes(parts: Parts, losses: Losses, has_word: Callable[[JointKind], bool]) -> Parts:
    """The parts with joints that the format lacks replaced by others that move alike.

    Every replacement is a loss. A joint without a word and without a substitute is impossible, and left out.
    """
    if all(has_word(joint.kind) for joint in parts.joints):
        return parts
    return _Substitutes(parts, losses, has_word).parts()


class _Substitutes:
    def __init__(self, parts: Parts, losses: Losses, has_word: Callable[[JointKind], bool]) -> None:
        self._parts = parts
        self._losses = losses
        self._has_word = has_word
        self._bodies = {link.name for link in parts.links} | {frame.name for frame in parts.frames}
        self._names = {joint.name for joint in parts.joints}
        self._links = [*parts.links]
        self._joints: list[JointSpec] = []

    def parts(self) -> Parts:
        for joint in self._parts.joints:
            if self._has_word(joint.kind):
                self._joints.append(joint)
            elif type(joint.kind) in (FloatingBase, FreeRPY) and self._has_word(Free()):
                self._joints.append(self._floating(joint))
            else:
                self._in_series(joint)
        return replace(self._parts, links=tuple(self._links), joints=tuple(self._joints))

    def _floating(self, joint: JointSpec) -> JointSpec:
        """A free joint, whose coordinates are others, so that numbers of each degree of freedom have no meaning."""
        kind = joint.kind
        self._losses.lost.append(
            f"joint {joint.name!r} ({kind.description}) would become a floating joint, with other coordinates"
            + (f" and without {listed(numbers)}" if (numbers := numbers_in_words(joint)) else "")
        )
        return JointSpec.bare(joint.name, Free(), joint.parent, joint.child, joint.placement)

    def _in_series(self, joint: JointSpec) -> None:
        chain = chain_of(joint.kind)
        steps = () if chain is None else chain.steps
        unknown = [step.kind.description for step in steps if not self._has_word(step.kind)]
        if chain is None or unknown:
            inside = f" because of its part ({unknown[0]})" if unknown and len(steps) > 1 else ""
            self._losses.impossible.append(
                f"joint {joint.name!r} ({joint.kind.description}) has neither a word in {self._losses.format} nor a "
                f"substitute{inside}"
            )
        else:
            self._add(joint, chain)

    def _add(self, joint: JointSpec, chain: Chain) -> None:
        """Joints in series, with massless links between them; a fixed one last where the body's frame is elsewhere."""
        specs = split(joint, chain, self._names - {joint.name})
        moved = chain.after != _HERE
        names = " and ".join(repr(spec.name) for spec in specs)
        what = f"the joints {names} with massless links between" if len(specs) > 1 else "a joint in another place"
        end = ", before a fixed joint" if moved else ""
        self._losses.lost.append(
            f"joint {joint.name!r} ({joint.kind.description}) has no word in {self._losses.format}: it would become "
            f"{what}{end}"
        )
        middle = free_name(f"{joint.child}:{joint.name}", self._bodies) if moved else joint.child
        for k, spec in enumerate(specs):
            child = middle if k == len(specs) - 1 else spec.child
            if child not in self._bodies:
                self._bodies.add(child)
                self._links.append(LinkSpec(child, Inertia.zero(), ()))
            self._names.add(spec.name)
            self._joints.append(replace(spec, child=child))
        if moved:
            name = free_name(f"{joint.child}_joint", self._names)
            self._names.add(name)
            self._joints.append(JointSpec.bare(name, Fixed(), middle, joint.child, chain.after))
