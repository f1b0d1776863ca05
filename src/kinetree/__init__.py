"""kinetree: a compiler for articulated-body dynamics.

A robot goes in (`load`, `zoo.load`, `ModelBuilder`); fast functions of its motion come out.
"""

from kinetree import zoo
from kinetree.dynamics import (
    aba,
    bias_forces,
    crba,
    forward_dynamics,
    gravity_forces,
    inverse_dynamics,
    mass_matrix,
    rnea,
)
from kinetree.energy import center_of_mass, kinetic_energy, potential_energy
from kinetree.errors import (
    ConfigurationError,
    DTypeError,
    KinetreeError,
    MissingPackageError,
    ModelError,
    ModelWarning,
    NameNotFoundError,
    OptionError,
    ShapeError,
    SimulationError,
    SingularModelError,
    StiffFrictionError,
    TrajectoryFileError,
)
from kinetree.function import compile_function as compile
from kinetree.io import load
from kinetree.kinematics import (
    body_accelerations,
    body_velocities,
    difference,
    forward_kinematics,
    frame_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
    integrate,
)
from kinetree.model import Continuous, Fixed, Free, Limits, Mimic, Model, ModelBuilder, Prismatic, Revolute
from kinetree.rollouts import rollout
from kinetree.sim import Trajectory, simulate

__version__ = "0.1.0"

__all__ = [
    "ConfigurationError",
    "Continuous",
    "DTypeError",
    "Fixed",
    "Free",
    "KinetreeError",
    "Limits",
    "Mimic",
    "MissingPackageError",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelWarning",
    "NameNotFoundError",
    "OptionError",
    "Prismatic",
    "Revolute",
    "ShapeError",
    "SimulationError",
    "SingularModelError",
    "StiffFrictionError",
    "Trajectory",
    "TrajectoryFileError",
    "aba",
    "bias_forces",
    "body_accelerations",
    "body_velocities",
    "center_of_mass",
    "compile",
    "crba",
    "difference",
    "forward_dynamics",
    "forward_kinematics",
    "frame_acceleration",
    "frame_jacobian",
    "frame_placement",
    "frame_velocity",
    "gravity_forces",
    "integrate",
    "inverse_dynamics",
    "kinetic_energy",
    "load",
    "mass_matrix",
    "potential_energy",
    "rnea",
    "rollout",
    "simulate",
    "zoo",
]
