"""The algorithms, one per file, to be read alongside their tables in RBDA: no arrays, no batches, no checks."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.algorithms.aba import aba
    from kinetree.algorithms.aba_derivatives import aba_derivatives
    from kinetree.algorithms.actuators import (
        ActuatorLaw,
        activation_rate,
        actuator_force,
        next_activation,
        shared_out,
        within_range,
    )
    from kinetree.algorithms.articulated import articulated, articulated_bias
    from kinetree.algorithms.assembly import assembly_residual, assembly_step, nearest_velocity
    from kinetree.algorithms.base_wrench import base_wrench, base_wrench_of_system
    from kinetree.algorithms.center_of_mass import (
        center_of_mass_acceleration,
        center_of_mass_jacobian,
        center_of_mass_velocity,
    )
    from kinetree.algorithms.centroidal import (
        centroidal_inertia,
        centroidal_momentum,
        centroidal_momentum_matrix,
        centroidal_momentum_matrix_rate,
        centroidal_momentum_rate,
    )
    from kinetree.algorithms.cluster_aba import cluster_aba
    from kinetree.algorithms.configuration import (
        coordinate_rates,
        difference,
        difference_jacobian,
        integrate,
        integrate_jacobian,
    )
    from kinetree.algorithms.constrained_dynamics import (
        Constrained,
        ConstraintRule,
        constrained_dynamics,
        constraint_errors,
        impact,
        operational_space_inertia,
        projected_state,
    )
    from kinetree.algorithms.constrained_inverse_dynamics import (
        DividedForces,
        ForceDivision,
        constrained_inverse_dynamics,
    )
    from kinetree.algorithms.constraint_rows import constraint_jacobian, constraint_motion
    from kinetree.algorithms.contact_dynamics import contact_dynamics
    from kinetree.algorithms.coriolis_matrix import coriolis_matrix, coriolis_matrix_of_links
    from kinetree.algorithms.crba import crba
    from kinetree.algorithms.dependent_rows import are_many
    from kinetree.algorithms.displacements import DisplacementRates, displaced_state, displacement_rates, fixed_velocity
    from kinetree.algorithms.dormand_prince import DormandPrinceStep, dormand_prince_between, dormand_prince_step
    from kinetree.algorithms.drives import (
        BRAKES,
        PASSIVE,
        brake_coefficient,
        braked,
        driven,
        limited,
        passive_derivatives,
        passive_forces,
        spring_energy,
        undriven,
    )
    from kinetree.algorithms.energy import center_of_mass, kinetic_energy, potential_energy
    from kinetree.algorithms.euler_lagrange import euler_lagrange, euler_lagrange_matrices
    from kinetree.algorithms.floating_inverse_dynamics import floating_inverse_dynamics
    from kinetree.algorithms.fluid import Immersed, ImmersedBox, Medium, fluid_forces
    from kinetree.algorithms.fluid_ellipsoids import ImmersedEllipsoid
    from kinetree.algorithms.forward_dynamics import forward_dynamics
    from kinetree.algorithms.gravity_compensation import CarriedMass, gravity_compensation
    from kinetree.algorithms.hybrid_dynamics import hybrid_dynamics, hybrid_system
    from kinetree.algorithms.implicit_forces import AT_THE_END
    from kinetree.algorithms.integrators import INTEGRATORS, Integrator, Rates, StepEnd, step
    from kinetree.algorithms.jacobian import (
        aligned_columns,
        bodies_seen,
        body_jacobian,
        jacobian,
        jacobian_rate,
        joints_between,
        moved_column,
        seen_about,
        seen_from,
    )
    from kinetree.algorithms.kinematic_hessian import kinematic_hessian
    from kinetree.algorithms.kinematics import accelerations, motions, placements, velocities
    from kinetree.algorithms.ltdl import ltdl, ltdl_solve
    from kinetree.algorithms.mass_matrix_inverse import mass_matrix_inverse
    from kinetree.algorithms.momentum import carried_forces, mechanical_power, momentum
    from kinetree.algorithms.muscles import Muscle, muscle_force, muscle_rate
    from kinetree.algorithms.regressors import (
        drive_columns,
        joint_torque_regressor,
        kinetic_energy_regressor,
        momentum_regressor,
        net_force_columns,
        potential_energy_regressor,
    )
    from kinetree.algorithms.relative import relative_jacobian, relative_motion, relative_velocity, seen_across
    from kinetree.algorithms.rnea import rnea
    from kinetree.algorithms.rnea_derivatives import rnea_derivatives
    from kinetree.algorithms.sleeping_islands import KinematicTrees, Sleep
    from kinetree.algorithms.stages import Applied, Evaluation, Loads, Pull, Stage, evaluated, stage_powers
    from kinetree.algorithms.stiffness import stiffest_round
    from kinetree.algorithms.tendons import TendonLaw, tendon_energy, tendon_force
    from kinetree.algorithms.variational import midpoint_step

__all__ = [
    "AT_THE_END",
    "BRAKES",
    "INTEGRATORS",
    "PASSIVE",
    "ActuatorLaw",
    "Applied",
    "CarriedMass",
    "Constrained",
    "ConstraintRule",
    "DisplacementRates",
    "DividedForces",
    "DormandPrinceStep",
    "Evaluation",
    "ForceDivision",
    "Immersed",
    "ImmersedBox",
    "ImmersedEllipsoid",
    "Integrator",
    "KinematicTrees",
    "Loads",
    "Medium",
    "Muscle",
    "Pull",
    "Rates",
    "Sleep",
    "Stage",
    "StepEnd",
    "TendonLaw",
    "aba",
    "aba_derivatives",
    "accelerations",
    "activation_rate",
    "actuator_force",
    "aligned_columns",
    "are_many",
    "articulated",
    "articulated_bias",
    "assembly_residual",
    "assembly_step",
    "base_wrench",
    "base_wrench_of_system",
    "bodies_seen",
    "body_jacobian",
    "brake_coefficient",
    "braked",
    "carried_forces",
    "center_of_mass",
    "center_of_mass_acceleration",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
    "centroidal_momentum_rate",
    "cluster_aba",
    "constrained_dynamics",
    "constrained_inverse_dynamics",
    "constraint_errors",
    "constraint_jacobian",
    "constraint_motion",
    "contact_dynamics",
    "coordinate_rates",
    "coriolis_matrix",
    "coriolis_matrix_of_links",
    "crba",
    "difference",
    "difference_jacobian",
    "displaced_state",
    "displacement_rates",
    "dormand_prince_between",
    "dormand_prince_step",
    "drive_columns",
    "driven",
    "euler_lagrange",
    "euler_lagrange_matrices",
    "evaluated",
    "fixed_velocity",
    "floating_inverse_dynamics",
    "fluid_forces",
    "forward_dynamics",
    "gravity_compensation",
    "hybrid_dynamics",
    "hybrid_system",
    "impact",
    "integrate",
    "integrate_jacobian",
    "jacobian",
    "jacobian_rate",
    "joint_torque_regressor",
    "joints_between",
    "kinematic_hessian",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "limited",
    "ltdl",
    "ltdl_solve",
    "mass_matrix_inverse",
    "mechanical_power",
    "midpoint_step",
    "momentum",
    "momentum_regressor",
    "motions",
    "moved_column",
    "muscle_force",
    "muscle_rate",
    "nearest_velocity",
    "net_force_columns",
    "next_activation",
    "operational_space_inertia",
    "passive_derivatives",
    "passive_forces",
    "placements",
    "potential_energy",
    "potential_energy_regressor",
    "projected_state",
    "relative_jacobian",
    "relative_motion",
    "relative_velocity",
    "rnea",
    "rnea_derivatives",
    "seen_about",
    "seen_across",
    "seen_from",
    "shared_out",
    "spring_energy",
    "stage_powers",
    "step",
    "stiffest_round",
    "tendon_energy",
    "tendon_force",
    "undriven",
    "velocities",
    "within_range",
]
