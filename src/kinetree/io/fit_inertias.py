"""Robots without inertias that no body can have, for formats whose readers reject them.

Only the sum of inertias over bodies that are fixed to each other is seen in any motion, so one that is rejected becomes
part of another's, if the sum is sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from kinetree.io.losses import Losses
from kinetree.joints import Fixed
from kinetree.model.checks.masses import consistent_moments
from kinetree.model.specs import JointSpec, LinkSpec, Parts
from kinetree.spatial import Inertia, Transform

__all__ = ["moments_of", "with_fit_inertias"]

_WORLD = "world"
_NEGATIVE = 1e-6
"""How far below zero, relative to the largest, a moment may lie that is changed."""


def moments_of(inertia: Inertia) -> tuple[float, float, float]:
    """The principal moments about the centre of mass, ascending."""
    a, b, c = map(float, np.linalg.eigvalsh(inertia.about_center_of_mass))
    return a, b, c


def with_fit_inertias(parts: Parts, losses: Losses, is_refused: Callable[[Inertia], bool], what: str) -> Parts:
    """The parts with each inertia that is rejected given to a body that theirs is fixed to, or changed.

    Inertias with a negative principal moment that no other body makes up for stay as they are. `what` completes "an
    inertia that no body can have", as in ", which MuJoCo rejects".
    """
    unfit = [link.name for link in parts.links if is_refused(link.inertia)]
    return _Fitting(parts, losses, is_refused, what).parts(unfit) if unfit else parts


class _Fitting:
    def __init__(self, parts: Parts, losses: Losses, is_refused: Callable[[Inertia], bool], what: str) -> None:
        self._is_refused = is_refused
        self._what = f"an inertia that no body can have{what}"
        self._parts = parts
        self._losses = losses
        self._links = {link.name: link for link in parts.links}
        self._above = {joint.child: joint for joint in parts.joints}
        self._fixed: dict[str, list[JointSpec]] = {}
        for joint in parts.joints:
            if isinstance(joint.kind, Fixed):
                self._fixed.setdefault(joint.parent, []).append(joint)

    def parts(self, unfit: list[str]) -> Parts:
        for name in unfit:
            if self._is_refused(self._links[name].inertia):
                self._mend(name)
        return replace(self._parts, links=tuple(self._links.values()))

    def _mend(self, name: str) -> None:
        """Give a body's inertia to another one, or gather all those of its group in it, or find the nearest."""
        own, around = self._links[name], [*self._group(name)]
        for other, back in around:
            total = self._links[other].inertia + back.back(own.inertia)
            if not self._is_refused(total):
                self._give(own, total, other)
                return
        everything = own.inertia
        for other, back in around:
            everything = everything + back.inverse.back(self._links[other].inertia)
        if around and not self._is_refused(everything):
            for other, _ in around:
                self._links[other] = replace(self._links[other], inertia=Inertia.zero())
            self._links[name] = replace(own, inertia=everything)
            self._losses.lost.append(
                f"body {name!r} has {self._what}: those of all bodies that are fixed to it would become part of it"
            )
            return
        self._change(own)

    def _give(self, link: LinkSpec, total: Inertia, other: str) -> None:
        self._links[link.name] = replace(link, inertia=Inertia.zero())
        self._links[other] = replace(self._links[other], inertia=total)
        self._losses.lost.append(
            f"body {link.name!r} has {self._what}: it would become part of that of {other!r}, to which it is fixed"
        )

    def _change(self, link: LinkSpec) -> None:
        before = moments_of(link.inertia)
        text = f"body {link.name!r} has {self._what}: "
        if not self._moves(link.name):
            self._links[link.name] = replace(link, inertia=Inertia.zero())
            self._losses.lost.append(f"{text}as it does not move, it would have none")
        elif before[0] >= -_NEGATIVE * before[2]:
            after = consistent_moments(np.array(before))
            self._links[link.name] = replace(link, inertia=_with_moments(link.inertia, after))
            self._losses.lost.append(
                f"{text}its principal moments, {_words(before)} kg·m², would become {_words(after)} kg·m², so that it "
                "moves differently"
            )

    def _moves(self, name: str) -> bool:
        while (joint := self._above.get(name)) is not None:
            if not isinstance(joint.kind, Fixed):
                return True
            name = joint.parent
        return self._parts.floating_base

    def _group(self, name: str) -> Iterator[tuple[str, Transform]]:
        """The bodies that one is fixed to, the nearest and those that carry it first, each with its placement there."""
        is_fixed = not self._parts.floating_base
        visited, pending = {name}, [(name, Transform.identity())]
        for body, place in pending:
            near: list[tuple[str, Transform]] = []
            joint = self._above.get(body)
            if joint is not None and isinstance(joint.kind, Fixed):
                near.append((joint.parent, place @ joint.placement))
            near += [(joint.child, place @ joint.placement.inverse) for joint in self._fixed.get(body, [])]
            for other, there in near:
                if other in visited or (other == _WORLD and is_fixed):
                    continue
                visited.add(other)
                pending.append((other, there))
                yield other, there


def _with_moments(inertia: Inertia, moments: Iterable[float]) -> Inertia:
    mass = float(inertia.mass)
    _, axes = np.linalg.eigh(inertia.about_center_of_mass)
    I = axes @ np.diag([*moments]) @ axes.T
    return Inertia.from_com(mass, inertia.center_of_mass if mass else np.zeros(3), 0.5 * (I + I.T))


def _words(moments: Iterable[float]) -> str:
    return ", ".join(f"{moment:.3g}" for moment in moments)
