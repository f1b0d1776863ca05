"""Constraints of frames, and motion, forces and impacts under them."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.functions.assembly import NearestConfiguration, nearest_configuration, nearest_velocity
    from kinetree.functions.constrained import (
        ConstrainedMotion,
        Impact,
        constrained_dynamics,
        constraint_bias,
        constraint_errors,
        constraint_forces,
        constraint_jacobian,
        impact,
        operational_space_inertia,
    )
    from kinetree.functions.constrained_inverse import ConstrainedForces, constrained_inverse_dynamics
    from kinetree.model.constraints import Contact, Loop

__all__ = [
    "ConstrainedForces",
    "ConstrainedMotion",
    "Contact",
    "Impact",
    "Loop",
    "NearestConfiguration",
    "constrained_dynamics",
    "constrained_inverse_dynamics",
    "constraint_bias",
    "constraint_errors",
    "constraint_forces",
    "constraint_jacobian",
    "impact",
    "nearest_configuration",
    "nearest_velocity",
    "operational_space_inertia",
]
