"""The equation of motion and its parts: forces, momentum, energy, regressors and derivatives.

The most used of these are also in `kinetree` itself, such as `kt.aba`.
"""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.functions.actuators import ActuatorForces, actuator_forces, gravity_compensation
    from kinetree.functions.articulated import (
        ArticulatedJoints,
        articulated_bias_forces,
        articulated_inertias,
        articulated_joints,
    )
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
    from kinetree.functions.energy import kinetic_energy, potential_energy
    from kinetree.functions.euler_lagrange import EulerLagrangeMatrices, euler_lagrange, euler_lagrange_matrices
    from kinetree.functions.fluid import fluid_forces
    from kinetree.functions.hybrid import HybridDynamics, base_wrench, floating_inverse_dynamics, hybrid_dynamics
    from kinetree.functions.joint_wrenches import joint_wrenches
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
    from kinetree.functions.regressors import (
        body_wrench_regressor,
        joint_torque_regressor,
        kinetic_energy_regressor,
        momentum_regressor,
        potential_energy_regressor,
    )
    from kinetree.functions.sensors import sensor_places, sensors
    from kinetree.functions.servo import servo
    from kinetree.functions.tendons import tendon_forces
    from kinetree.model.external_forces import ForceOn, WrenchOn

__all__ = [
    "AbaDerivatives",
    "ActuatorForces",
    "ArticulatedJoints",
    "EulerLagrangeMatrices",
    "ForceOn",
    "HybridDynamics",
    "MassMatrixFactors",
    "RneaDerivatives",
    "WrenchOn",
    "aba",
    "aba_derivatives",
    "actuator_forces",
    "articulated_bias_forces",
    "articulated_inertias",
    "articulated_joints",
    "base_wrench",
    "bias_forces",
    "body_wrench_regressor",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
    "centroidal_momentum_rate",
    "coriolis_forces",
    "coriolis_matrix",
    "crba",
    "euler_lagrange",
    "euler_lagrange_matrices",
    "floating_inverse_dynamics",
    "fluid_forces",
    "forward_dynamics",
    "gravity_compensation",
    "gravity_forces",
    "hybrid_dynamics",
    "inverse_dynamics",
    "joint_torque_regressor",
    "joint_wrenches",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "limited_forces",
    "mass_matrix",
    "mass_matrix_factors",
    "mass_matrix_inverse",
    "mass_matrix_solve",
    "mechanical_power",
    "momentum",
    "momentum_regressor",
    "passive_forces",
    "potential_energy",
    "potential_energy_regressor",
    "rnea",
    "rnea_derivatives",
    "sensor_places",
    "sensors",
    "servo",
    "tendon_forces",
]
