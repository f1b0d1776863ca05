"""Uses of the equations: control laws, inverse kinematics, whole-body control and trajectory optimisation.

Everything here is made of kinetree's public functions and of programs, so that it can be called, batched,
differentiated, exported and put into `kt.rollout` and `kt.simulate`.
"""

from kinetree.control.kinematics import (
    DifferentialInverseKinematics,
    InverseKinematics,
    differential_inverse_kinematics,
    inverse_kinematics,
    inverse_kinematics_program,
)
from kinetree.control.laws.adaptive import adaptive
from kinetree.control.laws.cartesian_impedance import cartesian_impedance
from kinetree.control.laws.computed_torque import computed_torque
from kinetree.control.laws.joint_impedance import joint_impedance
from kinetree.control.laws.operational_space import operational_space
from kinetree.control.laws.passivity_based import passivity_based
from kinetree.control.laws.pd_with_gravity import pd_with_gravity, weight_compensation
from kinetree.control.optimal import Collocation, OptimalControl, OptimalMotion, Phase, ilqr
from kinetree.control.quadratic import QuadraticSolution, quadratic_program
from kinetree.control.tasks import Axis, CenterOfMass, LookAt, Orientation, Pose, Position, Posture, Task, keep_apart
from kinetree.control.whole_body import (
    Effort,
    Momentum,
    PrescribedMotion,
    Support,
    WholeBody,
    WholeBodyStep,
    prescribed_motion,
)

__all__ = [
    "Axis",
    "CenterOfMass",
    "Collocation",
    "DifferentialInverseKinematics",
    "Effort",
    "InverseKinematics",
    "LookAt",
    "Momentum",
    "OptimalControl",
    "OptimalMotion",
    "Orientation",
    "Phase",
    "Pose",
    "Position",
    "Posture",
    "PrescribedMotion",
    "QuadraticSolution",
    "Support",
    "Task",
    "WholeBody",
    "WholeBodyStep",
    "adaptive",
    "cartesian_impedance",
    "computed_torque",
    "differential_inverse_kinematics",
    "ilqr",
    "inverse_kinematics",
    "inverse_kinematics_program",
    "joint_impedance",
    "keep_apart",
    "operational_space",
    "passivity_based",
    "pd_with_gravity",
    "prescribed_motion",
    "quadratic_program",
    "weight_compensation",
]
