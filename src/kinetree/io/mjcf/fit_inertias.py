"""Robots as MuJoCo takes them: inertias that no body can have, bodies that move without mass, and names.

Only the sum of inertias over bodies that are fixed to each other is seen in any motion, so one that MuJoCo refuses
becomes part of another's, if the sum is sound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinetree.io.chains import free_name
from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_inertia import Fitness, fitness_of, moments_of, nearest_moments
from kinetree.joints import Fixed
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.specs import JointSpec, LinkSpec, Parts
from kinetree.spatial import Inertia, Transform

__all__ = ["with_fit_inertias", "with_fit_names"]

_WORLD = "world"


def with_fit_names(parts: Parts, losses: Losses) -> Parts:
    """The parts without a body "world" that is not MuJoCo's world: one that moves, or that something carries."""
    carried = {joint.child for joint in parts.joints}
    known = {link.name for link in parts.links}
    if _WORLD not in known or not (parts.floating_base or _WORLD in carried):
        return parts
    name = free_name(f"{_WORLD}_2", known | {frame.name for frame in parts.frames})
    losses.lost.append(f"the name of body {_WORLD!r} has another meaning in MJCF: it would be {name!r}")

    def to(old: str) -> str:
        return name if old == _WORLD else old

    new = replace(
        parts,
        links=tuple(replace(link, name=to(link.name)) for link in parts.links),
        joints=tuple(replace(joint, parent=to(joint.parent), child=to(joint.child)) for joint in parts.joints),
        frames=tuple(replace(frame, body=to(frame.body)) for frame in parts.frames),
    )
    return with_extras_of(parts, new, base=(), rename=to)


def with_fit_inertias(parts: Parts, losses: Losses) -> Parts:
    """The parts with each inertia that MuJoCo refuses given to a body that theirs is fixed to, or changed.

    What it refuses with a negative principal moment, and no other body makes up for, stays as it is.
    """
    unfit = [link.name for link in parts.links if fitness_of(link.inertia).is_refused]
    return _Fitting(parts, losses).parts(unfit) if unfit else parts


class _Fitting:
    def __init__(self, parts: Parts, losses: Losses) -> None:
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
            if fitness_of(self._links[name].inertia).is_refused:
                self._mend(name)
        return replace(self._parts, links=tuple(self._links.values()))

    def _mend(self, name: str) -> None:
        """Give a body's inertia to another one, or gather all those of its group in it, or find the nearest."""
        own, around = self._links[name], [*self._group(name)]
        for other, back in around:
            total = self._links[other].inertia + back.back(own.inertia)
            if not fitness_of(total).is_refused:
                self._give(own, total, other)
                return
        everything = own.inertia
        for other, back in around:
            everything = everything + back.inverse.back(self._links[other].inertia)
        if around and not fitness_of(everything).is_refused:
            for other, _ in around:
                self._links[other] = replace(self._links[other], inertia=Inertia.zero())
            self._links[name] = replace(own, inertia=everything)
            self._losses.lost.append(
                f"body {name!r} has an inertia that no body can have, which MuJoCo refuses: those of all bodies that "
                "are fixed to it would become part of it"
            )
            return
        self._change(own)

    def _give(self, link: LinkSpec, total: Inertia, other: str) -> None:
        self._links[link.name] = replace(link, inertia=Inertia.zero())
        self._links[other] = replace(self._links[other], inertia=total)
        self._losses.lost.append(
            f"body {link.name!r} has an inertia that no body can have, which MuJoCo refuses: it would become part of "
            f"that of {other!r}, to which it is fixed"
        )

    def _change(self, link: LinkSpec) -> None:
        before, after = moments_of(link.inertia), nearest_moments(link.inertia)
        told = f"body {link.name!r} has an inertia that no body can have, which MuJoCo refuses: "
        if not self._moves(link.name):
            self._links[link.name] = replace(link, inertia=Inertia.zero())
            self._losses.lost.append(f"{told}as it does not move, it would have none")
        elif fitness_of(link.inertia) is Fitness.UNBALANCED:
            I = _with_moments(link.inertia, after)
            self._links[link.name] = replace(link, inertia=I)
            self._losses.lost.append(
                f"{told}its principal moments, {_shown(before)} kg·m², would become {_shown(after)} kg·m², so that it "
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
        seen, pending = {name}, [(name, Transform.identity())]
        for body, place in pending:
            near: list[tuple[str, Transform]] = []
            joint = self._above.get(body)
            if joint is not None and isinstance(joint.kind, Fixed):
                near.append((joint.parent, place @ joint.placement))
            near += [(joint.child, place @ joint.placement.inverse) for joint in self._fixed.get(body, [])]
            for other, there in near:
                if other in seen or (other == _WORLD and is_fixed):
                    continue
                seen.add(other)
                pending.append((other, there))
                yield other, there


def _with_moments(inertia: Inertia, moments: tuple[float, float, float]) -> Inertia:
    mass = float(inertia.mass)
    _, axes = np.linalg.eigh(inertia.about_center_of_mass)
    I = axes @ np.diag(moments) @ axes.T
    return Inertia.from_com(mass, inertia.center_of_mass if mass else np.zeros(3), 0.5 * (I + I.T))


def _shown(moments: tuple[float, float, float]) -> str:
    return ", ".join(f"{moment:.3g}" for moment in moments)
