"""The algorithms, one file each, beside their tables in RBDA. No arrays, no batch, no checks."""

from kinetree.algorithms.aba import aba
from kinetree.algorithms.cluster_aba import cluster_aba
from kinetree.algorithms.configuration import (
    coordinate_rates,
    difference,
    difference_jacobian,
    integrate,
    integrate_jacobian,
)
from kinetree.algorithms.crba import crba
from kinetree.algorithms.drives import (
    BRAKES,
    PASSIVE,
    brake_coefficient,
    braked,
    driven,
    limited,
    passive_forces,
    spring_energy,
    undriven,
)
from kinetree.algorithms.energy import center_of_mass, kinetic_energy, potential_energy
from kinetree.algorithms.forward_dynamics import forward_dynamics
from kinetree.algorithms.jacobian import body_jacobian
from kinetree.algorithms.kinematics import accelerations, placements, velocities
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.stepping import rk4, semi_implicit_euler

__all__ = [
    "BRAKES",
    "PASSIVE",
    "aba",
    "accelerations",
    "body_jacobian",
    "brake_coefficient",
    "braked",
    "center_of_mass",
    "cluster_aba",
    "coordinate_rates",
    "crba",
    "difference",
    "difference_jacobian",
    "driven",
    "forward_dynamics",
    "integrate",
    "integrate_jacobian",
    "kinetic_energy",
    "limited",
    "passive_forces",
    "placements",
    "potential_energy",
    "rk4",
    "rnea",
    "semi_implicit_euler",
    "spring_energy",
    "undriven",
    "velocities",
]
