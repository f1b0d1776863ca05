"""kinetree: a compiler for articulated-body dynamics.

A robot goes in (`load`, `zoo.load`, `ModelBuilder`); fast functions of its motion come out. The most used names are
here, the others in groups: `kinematics`, `dynamics`, `constraints`, `contact`, `joints`, `control` and so on.
"""

import importlib

from kinetree import zoo  # a source of robots, for `load`
from kinetree.display import register as _register
from kinetree.guide import UnknownName as _UnknownName
from kinetree.lazy_names import lazy_names as _lazy_names

importlib.import_module("kinetree.interop")  # answers calls with arrays of frameworks
_register(  # what other rooms do with robots and motions, whose rooms do not import them
    damping_of_servo="kinetree.actuation.build:damping_of_servo",
    figure="kinetree.plots:figure",
    film="kinetree.pictures.film:film_of_motion",
    plot="kinetree.plots:plot",
    png_of_motion="kinetree.pictures.render:png_of_motion",
    png_of_robot="kinetree.pictures.render:png_of_robot",
    save_html="kinetree.viewer:save_html",
    strip="kinetree.pictures.strip:strip_of_motion",
    watched="kinetree.viewer.live:watched",
)

_MOVED = {
    "checking": "Problem Repaired Report",
    "comparison": "Comparison StepComparison compare_steps",
    "constraints": (
        "ConstrainedForces ConstrainedMotion Contact Impact Loop NearestConfiguration constrained_dynamics "
        "constrained_inverse_dynamics constraint_bias constraint_errors constraint_forces constraint_jacobian "
        "impact nearest_configuration nearest_velocity operational_space_inertia"
    ),
    "contact": (
        "ContactForces ContactMotion ContactPair SoftConstraints above_ground closest_points contact_forces "
        "contact_pairs distance soft_constraints with_fitted_shapes"
    ),
    "dynamics": (
        "AbaDerivatives ActuatorForces ArticulatedJoints EulerLagrangeMatrices ForceOn HybridDynamics "
        "MassMatrixFactors RneaDerivatives WrenchOn aba_derivatives actuator_forces articulated_bias_forces "
        "articulated_inertias articulated_joints base_wrench body_wrench_regressor centroidal_inertia "
        "centroidal_momentum centroidal_momentum_matrix centroidal_momentum_matrix_rate "
        "centroidal_momentum_rate coriolis_forces coriolis_matrix euler_lagrange euler_lagrange_matrices "
        "floating_inverse_dynamics fluid_forces gravity_compensation hybrid_dynamics joint_torque_regressor "
        "joint_wrenches kinetic_energy_regressor limited_forces mass_matrix_factors mass_matrix_solve "
        "mechanical_power momentum momentum_regressor passive_forces potential_energy_regressor "
        "rnea_derivatives sensor_places sensors servo tendon_forces"
    ),
    "errors": (
        "ActuationError ConfigurationError DTypeError DeviceError FrozenError LogError MissingPackageError "
        "ModelError ModelWarning NameNotFoundError OptionError ProgramError SaveError ShapeError "
        "SimulationError SimulationWarning SingularModelError StiffFrictionError TrajectoryFileError"
    ),
    "identification": "BaseParameters base_parameters inertial_parameters log_cholesky with_inertial_parameters",
    "interop": "CSource Layout to_c to_casadi to_jax to_torch",
    "joints": (
        "Composite Continuous Cylindrical Ellipsoid Euler ExponentialMap FloatingBase FreeRPY Helical "
        "JointKind JointMotion MultiDof Placed Planar Reversed Screw Spherical Translation Universal"
    ),
    "kinematics": (
        "BodyMotions body_accelerations body_jacobians body_motions body_velocities "
        "center_of_mass_acceleration center_of_mass_jacobian center_of_mass_velocity coordinate_rates "
        "difference_jacobian frame_acceleration frame_bias_acceleration frame_jacobian_rate frame_velocity "
        "integrate_jacobian kinematic_hessian point_acceleration point_jacobian point_position point_velocity "
        "pose_error relative_acceleration relative_jacobian relative_placement relative_velocity"
    ),
    "lie": (
        "placement pose_exp pose_exp_jacobian pose_log pose_log_jacobian rotation_exp rotation_exp_jacobian "
        "rotation_log rotation_log_jacobian"
    ),
    "model": "Inertia Limits Mimic Rotor merge",
    "pictures": "Camera",
    "programs": "Argument Program fori scan",
    "sim": "Event SimulationInterrupted Snapshot TrajectoryFolder actuated_rollout",
    "zoo": "robots",
}
"""The groups of names that were in `kinetree` itself up to version 0.1; they are still found there, with a warning."""

with _lazy_names(__name__, _UnknownName, _MOVED):
    from kinetree import (
        checking,
        comparison,
        constraints,
        contact,
        control,
        dynamics,
        errors,
        identification,
        interop,
        joints,
        kinematics,
        learning,
        lie,
        model,
        pictures,
        programs,
        random,
        sim,
        solids,
        sweeps,
    )
    from kinetree.checking.check import check
    from kinetree.comparison.compare import compare
    from kinetree.compiler.calls import compile
    from kinetree.errors import KinetreeError
    from kinetree.functions.contact_dynamics import contact_dynamics
    from kinetree.functions.derivatives import hvp, jacobian, jvp, vjp
    from kinetree.functions.dynamics import (
        aba,
        bias_forces,
        crba,
        forward_dynamics,
        gravity_forces,
        inverse_dynamics,
        mass_matrix,
        rnea,
    )
    from kinetree.functions.energy import center_of_mass, kinetic_energy, potential_energy
    from kinetree.functions.jacobians import frame_jacobian
    from kinetree.functions.kinematics import difference, forward_kinematics, frame_placement, integrate
    from kinetree.functions.mass_matrix import mass_matrix_inverse
    from kinetree.functions.rollouts import rollout
    from kinetree.io.load import load
    from kinetree.io.native.reading import from_text
    from kinetree.io.save import save
    from kinetree.io.texts import to_text
    from kinetree.joints import Fixed, Free, Prismatic, Revolute
    from kinetree.learning.definition import environment
    from kinetree.model import Model, ModelBuilder
    from kinetree.pictures.render import render
    from kinetree.programs.program import program
    from kinetree.sim.folder import load_trajectory
    from kinetree.sim.simulate import simulate
    from kinetree.sim.trajectory import Trajectory
    from kinetree.spatial import Transform
    from kinetree.sweeps.sweep import sweep
    from kinetree.viewer.view import view


__version__ = "0.2.0.dev0"


__all__ = [
    "Fixed",
    "Free",
    "KinetreeError",
    "Model",
    "ModelBuilder",
    "Prismatic",
    "Revolute",
    "Trajectory",
    "Transform",
    "aba",
    "bias_forces",
    "center_of_mass",
    "check",
    "checking",
    "compare",
    "comparison",
    "compile",
    "constraints",
    "contact",
    "contact_dynamics",
    "control",
    "crba",
    "difference",
    "dynamics",
    "environment",
    "errors",
    "forward_dynamics",
    "forward_kinematics",
    "frame_jacobian",
    "frame_placement",
    "from_text",
    "gravity_forces",
    "hvp",
    "identification",
    "integrate",
    "interop",
    "inverse_dynamics",
    "jacobian",
    "joints",
    "jvp",
    "kinematics",
    "kinetic_energy",
    "learning",
    "lie",
    "load",
    "load_trajectory",
    "mass_matrix",
    "mass_matrix_inverse",
    "model",
    "pictures",
    "potential_energy",
    "program",
    "programs",
    "random",
    "render",
    "rnea",
    "rollout",
    "save",
    "sim",
    "simulate",
    "solids",
    "sweep",
    "sweeps",
    "to_text",
    "view",
    "vjp",
    "zoo",
]
