"""The parameters of a contact: those of two shapes mixed, or of an explicit pair; and their ranges in simulators.

Of two shapes the one with the higher priority decides. If both have the same, dimension and friction are the larger
ones, softness is mixed by their weights, and stiffnesses that are given directly are the harder ones. Friction,
softness and margins are numbers of any kind.

Source: MuJoCo documentation, "Modeling", section on contact parameters; version 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.softness import Softness
from kinetree.expr import Scalar, equal, less, maximum, minimum, select
from kinetree.model.extras import ContactPair, ContactParameters, SimulationOptions
from kinetree.records import record

__all__ = [
    "LEAST_FRICTION",
    "Touch",
    "impedance",
    "mixed",
    "of_pair",
    "softness",
    "softness_across",
    "usual_where_mixed",
]

Two = tuple[Scalar, Scalar]
FiveNumbers = tuple[Scalar, Scalar, Scalar, Scalar, Scalar]

_TINY = 1e-15
LEAST_FRICTION = 1e-5
_LEAST_IMPEDANCE, _MOST_IMPEDANCE = 1e-4, 0.9999
_USUAL = (0.02, 1.0)


@record(frozen=True, slots=True)
class Touch:
    """The parameters of a contact, as files have them."""

    condim: int
    friction: FiveNumbers
    solref: Two
    solref_friction: tuple[float, float]
    solimp: FiveNumbers
    margin: Scalar
    gap: float
    adhesion: float


def mixed(a: ContactParameters, b: ContactParameters, options: SimulationOptions) -> Touch:
    """The parameters of a contact between two shapes."""
    condim, adhesion = max(a.condim, b.condim), _adhesion(a) + _adhesion(b)
    friction: Sequence[Scalar] = [maximum(x, y) for x, y in zip(a.friction, b.friction, strict=True)]
    if a.priority != b.priority:
        first = a if a.priority > b.priority else b
        condim, friction, adhesion = first.condim, first.friction, _adhesion(first)
        solref, solimp = first.solref, _five(first.solimp)
    else:
        weight = _weight(a.solmix, b.solmix)
        solimp = _five([weight * x + (1.0 - weight) * y for x, y in zip(a.solimp, b.solimp, strict=True)])
        are_times = less(0.0, a.solref[0]) * less(0.0, b.solref[0])
        one, other = (
            select(are_times, weight * x + (1.0 - weight) * y, minimum(x, y))
            for x, y in zip(a.solref, b.solref, strict=True)
        )
        solref = one, other
    sliding, torsion, rolling = friction
    five = (sliding, sliding, torsion, rolling, rolling)
    touch = Touch(condim, five, solref, (0.0, 0.0), solimp, a.margin + b.margin, a.gap + b.gap, adhesion)
    return _allowed(touch, options)


def of_pair(pair: ContactPair, options: SimulationOptions) -> Touch:
    """The parameters of the contacts of an explicit pair."""
    touch = Touch(
        pair.condim, _five(pair.friction), pair.solref, pair.solref_friction, _five(pair.solimp), pair.margin, pair.gap,
        pair.adhesion,
    )  # fmt: skip
    return _allowed(touch, options)


def softness(solref: Two, solimp: Sequence[Scalar], inverse_inertia: float, period: float) -> Softness:
    """The softness of a row: numbers that are out of their ranges are brought into them, as MuJoCo does.

    A time constant and a stiffness do not go together; the usual values replace such a pair.
    """
    return Softness(usual_where_mixed(solref), impedance(solimp), inverse_inertia, period)


def impedance(solimp: Sequence[Scalar]) -> FiveNumbers:
    """The parameters of an impedance, brought into their ranges."""
    d_0, d_w, width, midpoint, power = solimp
    return _within(d_0), _within(d_w), maximum(width, 0.0), _within(midpoint), maximum(power, 1.0)


def softness_across(solref: tuple[float, float]) -> tuple[float, float]:
    """The reference of the rows across a contact's normal; 0 0, as the normal's, if the two do not go together."""
    return (0.0, 0.0) if _is_mixed(solref) else solref


def usual_where_mixed(solref: Two) -> Two:
    """The numbers as they are, or the usual ones where a time constant and a stiffness do not go together."""
    is_mixed = _is_mixed(solref)
    time, ratio = (select(is_mixed, usual, own) for usual, own in zip(_USUAL, solref, strict=True))
    return time, ratio


def _allowed(touch: Touch, options: SimulationOptions) -> Touch:
    """With the options' parameters in place of its own, if they are in force; and with friction that is not zero."""
    margin, solref, across, solimp, friction = (
        touch.margin, touch.solref, touch.solref_friction, touch.solimp, touch.friction
    )  # fmt: skip
    if options.flags.override:
        margin, solref, across = options.override_margin, options.override_solref, options.override_solref
        solimp, friction = _five(options.override_solimp), _five(options.override_friction)
    most = tuple(maximum(x, LEAST_FRICTION) for x in friction)
    return Touch(touch.condim, most, solref, across, solimp, margin, touch.gap, touch.adhesion)


def _weight(a: float, b: float) -> float:
    """How much the first of two counts."""
    if a >= _TINY and b >= _TINY:
        return a / (a + b)
    return 0.5 if max(a, b) < _TINY else float(a >= _TINY)


def _adhesion(one: ContactParameters) -> float:
    return one.adhesion[0] if one.adhesion else 0.0


def _is_mixed(solref: Two) -> Scalar:
    """1 where one is a time constant or a damping ratio, and the other is not."""
    first, second = (less(0.0, x) for x in solref)
    mixed: Scalar = 1.0 - equal(first, second)
    return mixed


def _within(d: Scalar) -> Scalar:
    impedance: Scalar = minimum(maximum(d, _LEAST_IMPEDANCE), _MOST_IMPEDANCE)
    return impedance


def _five(numbers: Sequence[Scalar]) -> FiveNumbers:
    a, b, c, d, e = numbers
    return a, b, c, d, e
