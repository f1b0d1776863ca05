"""Forces on a robot that is given commands: actuators, springs and dampers of tendons, carried weights, its medium."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.actuation import Actuation, with_ease
from kinetree.actuation.medium import Immersion, immersion
from kinetree.actuation.tendons import PulledTendon, pulled_tendons
from kinetree.algorithms.actuators import actuator_slopes, is_within, next_activation, remaining_slope
from kinetree.algorithms.fluid import fluid_slopes
from kinetree.algorithms.implicit_forces import Slope
from kinetree.algorithms.stages import Applied, Pull
from kinetree.algorithms.tendons import tendon_force, tendon_slopes
from kinetree.algorithms.transmissions import along_tendon, reach_velocity, viewed
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy
from kinetree.compiler.forms.form import Form
from kinetree.expr import Scalar
from kinetree.functions.actuators import Acting, acting, actuation_of_robot, carried_weights
from kinetree.functions.drives import Passive, passive_option, switched_on
from kinetree.functions.fluid import forces_of_medium
from kinetree.model import Model
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.tree import Tree

__all__ = ["Commanded", "activation_count", "applied", "command_count", "commanded_forces", "commanded_option"]


@record(frozen=True, slots=True)
class Commanded:
    """The forces other than joint forces: kernels are kept by the data they depend on."""

    actuation: Actuation
    springs: tuple[PulledTendon, ...]
    """Tendons, with their springs alone."""
    dampers: tuple[PulledTendon, ...]
    medium: Immersion

    def called_for(self, model: Model, names: Iterable[str]) -> Commanded:
        """A copy that is prepared for these parameters."""
        return replace(self, actuation=with_ease(model, self.actuation, names))

    def with_parameters(self, given: GivenNumbers) -> Commanded:
        """A copy with the numbers that a call gives."""
        return replace(self, actuation=self.actuation.with_parameters(given))


def commanded_option(model: Model, value: Any) -> Commanded:
    """The robot's own actuators and tendons."""
    if isinstance(value, Commanded):
        return value
    springs, dampers = pulled_tendons(model, dampers=False), pulled_tendons(model, springs=False)
    return Commanded(actuation_of_robot(model), springs, dampers, immersion(model))


def command_count(options: Mapping[str, Any]) -> int:
    """The number of actuators."""
    return len(options["actuators"].actuation.actuators)


def activation_count(options: Mapping[str, Any]) -> int:
    """The number of activations."""
    return len(options["actuators"].actuation.with_activation)


def applied(model: Form, commanded: Commanded, passive: Sequence[str], ctrl: Sequence[Scalar]) -> Applied:
    """The forces of all that, under given commands. Springs and dampers of tendons act if those of joints do."""
    actuation = commanded.actuation
    laws = [actuation.actuators[k].law for k in actuation.with_activation]
    tendons = (
        *(commanded.springs if "spring" in passive else ()),
        *(commanded.dampers if "damping" in passive else ()),
    )

    def at(tree: Tree, q: Slots, v: Slots, act: Sequence[Scalar], dt: Scalar) -> Pull:
        forces = acting(model, q, v, ctrl, act, actuation, dt)
        pieces, slopes = forces.pieces, _slopes(forces, actuation, ctrl, act, dt)
        if actuation.compensation.bodies:
            weights = carried_weights(model, q, actuation.compensation)
            theirs = {model.one_by_one.joints[name].slot for name in actuation.compensation.by_actuators}
            for i, _ in tree.outward:
                if i not in theirs:
                    pieces[i] = [x + w for x, w in zip(pieces[i], weights[i], strict=True)]
        view = viewed(tree, q)
        for tendon in tendons:
            terms = [(model.one_by_one.joints[joint].slot, factor) for joint, factor in tendon.terms]
            reach = along_tendon(view, terms, 1.0)
            rate = reach_velocity(reach, v)
            force = tendon_force(tendon.law, reach.length, rate)
            slopes.append(Slope(reach.moment, *tendon_slopes(tendon.law, reach.length, rate)))
            for i, m in reach.moment.items():
                pieces[i] = [x + m_k * force for x, m_k in zip(pieces[i], m, strict=True)]
        if commanded.medium.shapes:
            shapes, medium = commanded.medium.in_slots(model.one_by_one.bodies), commanded.medium.medium
            drag = forces_of_medium(tree, q, v, shapes, medium)
            slopes += fluid_slopes(view, v, shapes, medium)
            for i, _ in tree.outward:
                pieces[i] = [x + f for x, f in zip(pieces[i], drag[i - 1], strict=True)]
        return Pull(pieces, forces.rates, slopes)

    def after(act: Sequence[Scalar], rates: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        return [next_activation(law, w, rate, dt) for law, w, rate in zip(laws, act, rates, strict=True)]

    return Applied(at, after)


def _slopes(
    found: Acting, actuation: Actuation, ctrl: Sequence[Scalar], act: Sequence[Scalar], dt: Scalar
) -> list[Slope]:
    """How the forces of actuators change with length and velocity; those at an end of a range change less, or not."""
    places = {k: place for place, k in enumerate(actuation.with_activation)}
    slopes: list[Slope] = []
    for k, (one, reach, limited) in enumerate(zip(actuation.actuators, found.reaches, found.limited, strict=True)):
        if one.is_disabled or not actuation.is_on:
            continue
        w = act[places[k]] if k in places else 0.0
        damping, stiffness = actuator_slopes(one.law, ctrl[k], w, dt)
        within: Scalar = 1.0
        remaining: Scalar = 1.0
        for force, limits in limited:
            within = within * is_within(force, limits)
            remaining = remaining * remaining_slope(force, limits, dt * damping + dt * dt * stiffness, one.ease)
        slopes.append(Slope(reach.moment, damping, stiffness, within, remaining))
    return slopes


def _forces(
    model: Form, q: Slots, v: Slots, act: Sequence[Scalar], ctrl: Sequence[Scalar], dt: Sequence[Scalar], *,
    passive: Sequence[str], actuators: Commanded,
) -> list[Scalar]:  # fmt: skip
    pull = applied(model, actuators, passive, ctrl).at(model.tree, q, v, act, dt[0])
    return model.tree.joined(pull.forces[1:], "nv")


_FORCES = Definition(
    "simulate",
    (("q", "nq"), ("v", "nv"), ("act", "na"), ("ctrl", "nu"), ("dt", 1)),
    ("nv",),
    _forces,
    {"passive": passive_option, "actuators": commanded_option},
    sizes={"nu": command_count, "na": activation_count},
    strategy=Strategy(loops=False),
)


def commanded_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    act: Array,
    ctrl: ArrayLike,
    dt: float,
    *,
    passive: Passive,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> Array:
    """Joint forces (…, nv) of actuators, tendons, carried weights and the medium, in a step of dt; N·m, N."""
    switches = switched_on(robot, passive, False)
    return run(_FORCES, robot, (q, v, act, ctrl, np.array([dt])), parameters=parameters, **switches)
