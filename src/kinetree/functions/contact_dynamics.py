"""Forward dynamics with contacts, limits and dry friction, as a function of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import dtype_like
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.expr import Scalar
from kinetree.functions.contact_options import (
    ContactOption,
    has_no_rows,
    own_contact_option,
    soft,
    without_dry_friction,
)
from kinetree.functions.drives import Passive, all_passive_option, limits_option
from kinetree.functions.gradient_softness import gradient_softness_option, softness_switch
from kinetree.model import Model, check_robot
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force

__all__ = ["ContactMotion", "contact_dynamics"]

Forces = dict[int, Force]


class ContactMotion(NamedTuple):
    """The result of `contact_dynamics`: parts of one array."""

    qdd: Array
    """Accelerations (…, nv)."""
    forces: Array
    """Forces of contacts, limits, dry friction and couplings along the degrees of freedom (…, nv)."""
    error: Array
    """A bound on the relative error of qdd, as the kinetic energy measures it (…,); for rigid contacts the largest
    residual of their conditions, m/s."""
    iterations: Array
    """How many iterations were made (…,)."""


def _contact_dynamics(
    model: Form, q: Slots, v: Slots, tau: Slots, guess: Slots, *,
    passive: Sequence[str], limits: bool, contact: SoftConstraints | None, gradient_softness: float,
    f_ext: Forces,
) -> list[Scalar]:  # fmt: skip
    tree, rows = model.tree, soft(model, contact, passive, gradient_softness)
    acting = algorithms.driven(tree, q, v, tau, without_dry_friction(passive, contact), limits)
    blocks, looped = ([], []) if rows is None else rows(tree, q, v, 0.0, False)
    start = tree.numbers(guess[1:], "nv")
    solution = algorithms.contact_dynamics(tree, q, v, acting, blocks, f_ext, start, looped=looped)
    return [*solution.acceleration, *solution.push(blocks), solution.error, solution.iterations]


CONTACT_DYNAMICS = Definition(
    "contact_dynamics",
    (("q", "nq"), ("v", "nv"), ("tau", "forces"), ("guess", "nv")),
    lambda model, _: (2 * model.nv + 2,),
    _contact_dynamics,
    {
        "passive": all_passive_option,
        "limits": limits_option,
        "contact": own_contact_option,
        "gradient_softness": gradient_softness_option,
    },
    optional=("guess",),
    takes_forces=True,
    divides_by_inertia=True,
    regroups=True,
    strategy=Strategy(loops=has_no_rows, is_dense=lambda _model, _options: True),
)


@defined_by(CONTACT_DYNAMICS, in_units=True)
def contact_dynamics(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    guess: ArrayLike | None = None,
    passive: Passive = True,
    limits: bool = False,
    contact: ContactOption = True,
    gradient_softness: float = 0.0,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ContactMotion:
    """Forward dynamics of a robot that touches things, and whose joints end at their limits.

    Forces come from the robot's own constraints: shapes that may touch each other or the world, position limits, dry
    friction and soft couplings of joints. Each is a spring and a damper in accelerations, as stiff as its parameters
    say, and all of them are the minimum of one strictly convex function, which Newton's method finds: MuJoCo's
    formulation, with MuJoCo's parameters where the file has them and its defaults elsewhere.
    `kt.contact.soft_constraints(robot)` lists them; see `kinetree docs contact`.

    Args:
        f_ext: external wrenches, as for `aba`.
        guess: an acceleration (…, nv) where the search may begin, such as that of the step before; it begins there if
            that is better than without contacts. The result is the same to the error that is reported.
        passive: which passive forces of the joints act in addition to tau, as for `aba`, but all of them by default.
            Dry friction ("friction") sticks here.
        limits: whether motors are limited in effort and velocity, as for `aba`. Position limits always act.
        contact: True for all that pushes; it is rejected if the robot has something that is not computed yet, which is
            then named. "partial" leaves that out. "mujoco", "compliant" and "rigid" say how hard all of it pushes.
            The result of `kt.contact.soft_constraints` takes the place of all that. Compliant and rigid contacts have
            the acceleration of a step, of the robot's own time step unless `soft_constraints` is given another.
        gradient_softness: for derivatives only: these are those of contacts, limits, dry friction and couplings with
            time constants, widths and regularisations 1 + gradient_softness times as large. The result itself is the
            same. See `kinetree docs contact#derivatives`.
        parameters: values that override some of the robot's parameters, as for `aba`, those of its shapes and limits
            among them. How hard contacts push follows from the robot's own masses.
        out: where to put the result, (…, 2 nv + 2), of the result's dtype.

    Returns:
        (qdd, forces, error, iterations). The search ends with an error below 1e-10, or after twenty iterations.

    Raises:
        ShapeError, DTypeError, ConfigurationError, SingularModelError: as for `aba`.
        OptionError: unknown passive force, or the robot has something that is not computed yet.

    Derivatives (`kt.jvp`, `kt.vjp`, `kt.jacobian`) are those of the implicit function at the solution, in one more
    solution with the same matrix; where a contact begins, ends or starts to slide they are those of one side.

    Source: Todorov, "Convex and analytically-invertible dynamics with contacts and constraints" (2014); MuJoCo's
    documentation, "Computation".

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("cart_pole").with_contacts([])  # only the ends of its joints push
    >>> beyond = [robot.upper[0] + 0.01, 0.0]
    >>> bool(kt.contact_dynamics(robot, beyond, [0.0, 0.0], [0.0, 0.0]).qdd[0] < -1.0)
    True
    """
    model = check_robot(robot)
    options: dict[str, Any] = {
        "passive": all_passive_option(model, passive),
        "limits": limits_option(model, limits),
        "contact": own_contact_option(model, contact),
    }
    options |= softness_switch(model, gradient_softness)
    start = np.zeros(model.nv, dtype_like(q)) if guess is None else guess
    arguments = (q, v, tau, start)
    flat = run(
        CONTACT_DYNAMICS, model, arguments, f_ext=f_ext, parameters=parameters, out=out, threads=threads, **options
    )
    n = model.nv
    return ContactMotion(flat[..., :n], flat[..., n : 2 * n], flat[..., 2 * n], flat[..., 2 * n + 1])
