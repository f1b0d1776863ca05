"""kinetree: a compiler for articulated-body dynamics.

A robot goes in (`load`, `zoo.load`, `ModelBuilder`); fast functions of its motion come out.
"""

import importlib
import typing

from kinetree import zoo  # a source of robots, for `load`
from kinetree.guide import UnknownName as _UnknownName
from kinetree.lazy_names import lazy_names as _lazy_names

importlib.import_module("kinetree.interop")  # answers calls with arrays of frameworks
importlib.import_module("kinetree.pictures")  # draws robots in notebooks

if typing.TYPE_CHECKING:
    from kinetree import attitudes, control, identification, solids, sweeps
    from kinetree.attitudes.exponential_maps import (
        pose_exp,
        pose_exp_jacobian,
        pose_log,
        pose_log_jacobian,
        rotation_exp,
        rotation_exp_jacobian,
        rotation_log,
        rotation_log_jacobian,
    )
    from kinetree.checking.check import check
    from kinetree.checking.report import Report
    from kinetree.comparison.compare import compare
    from kinetree.comparison.result import Comparison
    from kinetree.comparison.steps import StepComparison, compare_steps
    from kinetree.compiler.calls import compile
    from kinetree.contact import SoftConstraints, soft_constraints, with_fitted_shapes
    from kinetree.errors import (
        ActuationError,
        ConfigurationError,
        DeviceError,
        DTypeError,
        FrozenError,
        KinetreeError,
        LogError,
        MissingPackageError,
        ModelError,
        ModelWarning,
        NameNotFoundError,
        OptionError,
        ProgramError,
        SaveError,
        ShapeError,
        SimulationError,
        SimulationWarning,
        SingularModelError,
        StiffFrictionError,
        TrajectoryFileError,
    )
    from kinetree.functions.above_ground import above_ground
    from kinetree.functions.actuators import ActuatorForces, actuator_forces, gravity_compensation
    from kinetree.functions.articulated import (
        ArticulatedJoints,
        articulated_bias_forces,
        articulated_inertias,
        articulated_joints,
    )
    from kinetree.functions.assembly import NearestConfiguration, nearest_configuration, nearest_velocity
    from kinetree.functions.body_jacobians import body_jacobians
    from kinetree.functions.body_motions import BodyMotions, body_motions
    from kinetree.functions.center_of_mass import (
        center_of_mass_acceleration,
        center_of_mass_jacobian,
        center_of_mass_velocity,
    )
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
    from kinetree.functions.contact_dynamics import ContactMotion, contact_dynamics
    from kinetree.functions.contact_forces import ContactForces, ContactPair, contact_forces, contact_pairs
    from kinetree.functions.derivatives import hvp, jacobian, jvp, vjp
    from kinetree.functions.drives import limited_forces, passive_forces
    from kinetree.functions.dynamics import (
        aba,
        bias_forces,
        coriolis_forces,
        crba,
        forward_dynamics,
        gravity_forces,
        inverse_dynamics,
        mass_matrix,
        rnea,
    )
    from kinetree.functions.dynamics_derivatives import (
        AbaDerivatives,
        RneaDerivatives,
        aba_derivatives,
        rnea_derivatives,
    )
    from kinetree.functions.energy import center_of_mass, kinetic_energy, potential_energy
    from kinetree.functions.euler_lagrange import EulerLagrangeMatrices, euler_lagrange, euler_lagrange_matrices
    from kinetree.functions.fluid import fluid_forces
    from kinetree.functions.hybrid import HybridDynamics, base_wrench, floating_inverse_dynamics, hybrid_dynamics
    from kinetree.functions.jacobians import (
        frame_bias_acceleration,
        frame_jacobian,
        frame_jacobian_rate,
        kinematic_hessian,
    )
    from kinetree.functions.joint_wrenches import joint_wrenches
    from kinetree.functions.kinematics import (
        body_accelerations,
        body_velocities,
        difference,
        forward_kinematics,
        frame_acceleration,
        frame_placement,
        frame_velocity,
        integrate,
    )
    from kinetree.functions.manifold import coordinate_rates, difference_jacobian, integrate_jacobian
    from kinetree.functions.mass_matrix import (
        MassMatrixFactors,
        coriolis_matrix,
        mass_matrix_factors,
        mass_matrix_inverse,
        mass_matrix_solve,
    )
    from kinetree.functions.momentum import (
        centroidal_inertia,
        centroidal_momentum,
        centroidal_momentum_matrix,
        centroidal_momentum_matrix_rate,
        centroidal_momentum_rate,
        mechanical_power,
        momentum,
    )
    from kinetree.functions.points import point_acceleration, point_jacobian, point_position, point_velocity
    from kinetree.functions.pose_error import pose_error
    from kinetree.functions.regressors import (
        body_wrench_regressor,
        joint_torque_regressor,
        kinetic_energy_regressor,
        momentum_regressor,
        potential_energy_regressor,
    )
    from kinetree.functions.relative import (
        relative_acceleration,
        relative_jacobian,
        relative_placement,
        relative_velocity,
    )
    from kinetree.functions.rollouts import actuated_rollout, rollout
    from kinetree.functions.sensors import sensor_places, sensors
    from kinetree.functions.servo import servo
    from kinetree.functions.shape_distances import closest_points, distance
    from kinetree.functions.tendons import tendon_forces
    from kinetree.identification import log_cholesky
    from kinetree.identification.base_parameters import BaseParameters, base_parameters
    from kinetree.identification.inertial_parameters import inertial_parameters, with_inertial_parameters
    from kinetree.interop.c import CSource, to_c
    from kinetree.interop.casadi import to_casadi
    from kinetree.interop.jax import to_jax
    from kinetree.interop.torch import to_torch
    from kinetree.io.load import Repaired, load
    from kinetree.io.native.reading import from_text
    from kinetree.io.save import save
    from kinetree.io.sources import robots
    from kinetree.io.texts import to_text
    from kinetree.joints import (
        Composite,
        Continuous,
        Cylindrical,
        Ellipsoid,
        Euler,
        ExponentialMap,
        Fixed,
        FloatingBase,
        Free,
        FreeRPY,
        Helical,
        JointKind,
        JointMotion,
        MultiDof,
        Placed,
        Planar,
        Prismatic,
        Reversed,
        Revolute,
        Screw,
        Spherical,
        Translation,
        Universal,
    )
    from kinetree.layouts import Layout
    from kinetree.model import Limits, Mimic, Model, ModelBuilder, Rotor
    from kinetree.model.constraints import Contact, Loop
    from kinetree.model.external_forces import ForceOn, WrenchOn
    from kinetree.model.merge import merge
    from kinetree.pictures import Camera
    from kinetree.pictures.render import render
    from kinetree.problems import Problem
    from kinetree.programs.argument import Argument
    from kinetree.programs.loops import fori, scan
    from kinetree.programs.program import Program, program
    from kinetree.sim.events import Event
    from kinetree.sim.folder import TrajectoryFolder
    from kinetree.sim.on_disk import load_trajectory
    from kinetree.sim.opened_file import TrajectoryFile
    from kinetree.sim.simulate import simulate
    from kinetree.sim.snapshot import Snapshot
    from kinetree.sim.trajectory import SimulationInterrupted, Trajectory
    from kinetree.spatial import Inertia, Transform
    from kinetree.spatial.placement import placement
    from kinetree.sweeps.sweep import sweep
    from kinetree.viewer.view import view
else:
    __getattr__ = _lazy_names(
        __name__,
        {
            "attitudes.exponential_maps": (
                "pose_exp pose_exp_jacobian pose_log pose_log_jacobian rotation_exp rotation_exp_jacobian "
                "rotation_log rotation_log_jacobian"
            ),
            "checking.check": "check",
            "checking.report": "Report",
            "comparison.compare": "compare",
            "comparison.result": "Comparison",
            "comparison.steps": "StepComparison compare_steps",
            "compiler.calls": "compile",
            "contact": "SoftConstraints soft_constraints with_fitted_shapes",
            "errors": (
                "ActuationError ConfigurationError DeviceError DTypeError FrozenError KinetreeError LogError "
                "MissingPackageError ModelError ModelWarning NameNotFoundError OptionError ProgramError "
                "SaveError ShapeError SimulationError SimulationWarning SingularModelError StiffFrictionError "
                "TrajectoryFileError"
            ),
            "functions.above_ground": "above_ground",
            "functions.actuators": "ActuatorForces actuator_forces gravity_compensation",
            "functions.articulated": (
                "ArticulatedJoints articulated_bias_forces articulated_inertias articulated_joints"
            ),
            "functions.assembly": "NearestConfiguration nearest_configuration nearest_velocity",
            "functions.body_jacobians": "body_jacobians",
            "functions.body_motions": "BodyMotions body_motions",
            "functions.center_of_mass": "center_of_mass_acceleration center_of_mass_jacobian center_of_mass_velocity",
            "functions.constrained": (
                "ConstrainedMotion Impact constrained_dynamics constraint_bias constraint_errors "
                "constraint_forces constraint_jacobian impact operational_space_inertia"
            ),
            "functions.constrained_inverse": "ConstrainedForces constrained_inverse_dynamics",
            "functions.contact_dynamics": "ContactMotion contact_dynamics",
            "functions.contact_forces": "ContactForces ContactPair contact_forces contact_pairs",
            "functions.derivatives": "hvp jacobian jvp vjp",
            "functions.drives": "limited_forces passive_forces",
            "functions.dynamics": (
                "aba bias_forces coriolis_forces crba forward_dynamics gravity_forces inverse_dynamics mass_matrix rnea"
            ),
            "functions.dynamics_derivatives": "AbaDerivatives RneaDerivatives aba_derivatives rnea_derivatives",
            "functions.energy": "center_of_mass kinetic_energy potential_energy",
            "functions.euler_lagrange": "EulerLagrangeMatrices euler_lagrange euler_lagrange_matrices",
            "functions.fluid": "fluid_forces",
            "functions.hybrid": "HybridDynamics base_wrench floating_inverse_dynamics hybrid_dynamics",
            "functions.jacobians": "frame_bias_acceleration frame_jacobian frame_jacobian_rate kinematic_hessian",
            "functions.joint_wrenches": "joint_wrenches",
            "functions.kinematics": (
                "body_accelerations body_velocities difference forward_kinematics frame_acceleration "
                "frame_placement frame_velocity integrate"
            ),
            "functions.manifold": "coordinate_rates difference_jacobian integrate_jacobian",
            "functions.mass_matrix": (
                "MassMatrixFactors coriolis_matrix mass_matrix_factors mass_matrix_inverse mass_matrix_solve"
            ),
            "functions.momentum": (
                "centroidal_inertia centroidal_momentum centroidal_momentum_matrix "
                "centroidal_momentum_matrix_rate centroidal_momentum_rate mechanical_power momentum"
            ),
            "functions.points": "point_acceleration point_jacobian point_position point_velocity",
            "functions.pose_error": "pose_error",
            "functions.regressors": (
                "body_wrench_regressor joint_torque_regressor kinetic_energy_regressor momentum_regressor "
                "potential_energy_regressor"
            ),
            "functions.relative": "relative_acceleration relative_jacobian relative_placement relative_velocity",
            "functions.rollouts": "actuated_rollout rollout",
            "functions.sensors": "sensor_places sensors",
            "functions.servo": "servo",
            "functions.shape_distances": "closest_points distance",
            "functions.tendons": "tendon_forces",
            "identification": "log_cholesky",
            "identification.base_parameters": "BaseParameters base_parameters",
            "identification.inertial_parameters": "inertial_parameters with_inertial_parameters",
            "interop.c": "CSource to_c",
            "interop.casadi": "to_casadi",
            "interop.jax": "to_jax",
            "interop.torch": "to_torch",
            "io.load": "Repaired load",
            "io.native.reading": "from_text",
            "io.save": "save",
            "io.sources": "robots",
            "io.texts": "to_text",
            "joints": (
                "Composite Continuous Cylindrical Ellipsoid Euler ExponentialMap Fixed FloatingBase Free FreeRPY "
                "Helical JointKind JointMotion MultiDof Placed Planar Prismatic Reversed Revolute Screw "
                "Spherical Translation Universal"
            ),
            "layouts": "Layout",
            "model": "Limits Mimic Model ModelBuilder Rotor",
            "model.constraints": "Contact Loop",
            "model.external_forces": "ForceOn WrenchOn",
            "model.merge": "merge",
            "pictures": "Camera",
            "pictures.render": "render",
            "problems": "Problem",
            "programs.argument": "Argument",
            "programs.loops": "fori scan",
            "programs.program": "Program program",
            "sim.events": "Event",
            "sim.folder": "TrajectoryFolder",
            "sim.on_disk": "load_trajectory",
            "sim.opened_file": "TrajectoryFile",
            "sim.simulate": "simulate",
            "sim.snapshot": "Snapshot",
            "sim.trajectory": "SimulationInterrupted Trajectory",
            "spatial": "Inertia Transform",
            "spatial.placement": "placement",
            "sweeps.sweep": "sweep",
            "viewer.view": "view",
        },
        _UnknownName,
    )


__version__ = "0.1.0"


__all__ = [
    "AbaDerivatives",
    "ActuationError",
    "ActuatorForces",
    "Argument",
    "ArticulatedJoints",
    "BaseParameters",
    "BodyMotions",
    "CSource",
    "Camera",
    "Comparison",
    "Composite",
    "ConfigurationError",
    "ConstrainedForces",
    "ConstrainedMotion",
    "Contact",
    "ContactForces",
    "ContactMotion",
    "ContactPair",
    "Continuous",
    "Cylindrical",
    "DTypeError",
    "DeviceError",
    "Ellipsoid",
    "Euler",
    "EulerLagrangeMatrices",
    "Event",
    "ExponentialMap",
    "Fixed",
    "FloatingBase",
    "ForceOn",
    "Free",
    "FreeRPY",
    "FrozenError",
    "Helical",
    "HybridDynamics",
    "Impact",
    "Inertia",
    "JointKind",
    "JointMotion",
    "KinetreeError",
    "Layout",
    "Limits",
    "LogError",
    "Loop",
    "MassMatrixFactors",
    "Mimic",
    "MissingPackageError",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelWarning",
    "MultiDof",
    "NameNotFoundError",
    "NearestConfiguration",
    "OptionError",
    "Placed",
    "Planar",
    "Prismatic",
    "Problem",
    "Program",
    "ProgramError",
    "Repaired",
    "Report",
    "Reversed",
    "Revolute",
    "RneaDerivatives",
    "Rotor",
    "SaveError",
    "Screw",
    "ShapeError",
    "SimulationError",
    "SimulationInterrupted",
    "SimulationWarning",
    "SingularModelError",
    "Snapshot",
    "SoftConstraints",
    "Spherical",
    "StepComparison",
    "StiffFrictionError",
    "Trajectory",
    "TrajectoryFile",
    "TrajectoryFileError",
    "TrajectoryFolder",
    "Transform",
    "Translation",
    "Universal",
    "WrenchOn",
    "aba",
    "aba_derivatives",
    "above_ground",
    "actuated_rollout",
    "actuator_forces",
    "articulated_bias_forces",
    "articulated_inertias",
    "articulated_joints",
    "attitudes",
    "base_parameters",
    "base_wrench",
    "bias_forces",
    "body_accelerations",
    "body_jacobians",
    "body_motions",
    "body_velocities",
    "body_wrench_regressor",
    "center_of_mass",
    "center_of_mass_acceleration",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
    "centroidal_momentum_rate",
    "check",
    "closest_points",
    "compare",
    "compare_steps",
    "compile",
    "constrained_dynamics",
    "constrained_inverse_dynamics",
    "constraint_bias",
    "constraint_errors",
    "constraint_forces",
    "constraint_jacobian",
    "contact_dynamics",
    "contact_forces",
    "contact_pairs",
    "control",
    "coordinate_rates",
    "coriolis_forces",
    "coriolis_matrix",
    "crba",
    "difference",
    "difference_jacobian",
    "distance",
    "euler_lagrange",
    "euler_lagrange_matrices",
    "floating_inverse_dynamics",
    "fluid_forces",
    "fori",
    "forward_dynamics",
    "forward_kinematics",
    "frame_acceleration",
    "frame_bias_acceleration",
    "frame_jacobian",
    "frame_jacobian_rate",
    "frame_placement",
    "frame_velocity",
    "from_text",
    "gravity_compensation",
    "gravity_forces",
    "hvp",
    "hybrid_dynamics",
    "identification",
    "impact",
    "inertial_parameters",
    "integrate",
    "integrate_jacobian",
    "inverse_dynamics",
    "jacobian",
    "joint_torque_regressor",
    "joint_wrenches",
    "jvp",
    "kinematic_hessian",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "limited_forces",
    "load",
    "load_trajectory",
    "log_cholesky",
    "mass_matrix",
    "mass_matrix_factors",
    "mass_matrix_inverse",
    "mass_matrix_solve",
    "mechanical_power",
    "merge",
    "momentum",
    "momentum_regressor",
    "nearest_configuration",
    "nearest_velocity",
    "operational_space_inertia",
    "passive_forces",
    "placement",
    "point_acceleration",
    "point_jacobian",
    "point_position",
    "point_velocity",
    "pose_error",
    "pose_exp",
    "pose_exp_jacobian",
    "pose_log",
    "pose_log_jacobian",
    "potential_energy",
    "potential_energy_regressor",
    "program",
    "relative_acceleration",
    "relative_jacobian",
    "relative_placement",
    "relative_velocity",
    "render",
    "rnea",
    "rnea_derivatives",
    "robots",
    "rollout",
    "rotation_exp",
    "rotation_exp_jacobian",
    "rotation_log",
    "rotation_log_jacobian",
    "save",
    "scan",
    "sensor_places",
    "sensors",
    "servo",
    "simulate",
    "soft_constraints",
    "solids",
    "sweep",
    "sweeps",
    "tendon_forces",
    "to_c",
    "to_casadi",
    "to_jax",
    "to_text",
    "to_torch",
    "view",
    "vjp",
    "with_fitted_shapes",
    "with_inertial_parameters",
    "zoo",
]
