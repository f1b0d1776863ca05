"""The algorithms, one file each, beside their tables in RBDA. No arrays, no batch, no checks."""

from kinetree.algorithms.aba import aba
from kinetree.algorithms.configuration import difference, integrate
from kinetree.algorithms.crba import crba
from kinetree.algorithms.drives import PASSIVE, limited, passive_forces, spring_energy
from kinetree.algorithms.energy import center_of_mass, kinetic_energy, potential_energy
from kinetree.algorithms.forward_dynamics import forward_dynamics
from kinetree.algorithms.jacobian import body_jacobian
from kinetree.algorithms.kinematics import accelerations, placements, velocities
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.stepping import rk4, semi_implicit_euler

__all__ = [
    "PASSIVE",
    "aba",
    "accelerations",
    "body_jacobian",
    "center_of_mass",
    "crba",
    "difference",
    "forward_dynamics",
    "integrate",
    "limited",
    "passive_forces",
    "kinetic_energy",
    "placements",
    "potential_energy",
    "rk4",
    "rnea",
    "semi_implicit_euler",
    "spring_energy",
    "velocities",
]
