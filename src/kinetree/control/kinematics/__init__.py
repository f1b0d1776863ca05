"""Inverse kinematics: configurations in which tasks are met."""

from kinetree.control.kinematics.differential import (
    DifferentialInverseKinematics,
    differential_inverse_kinematics,
)
from kinetree.control.kinematics.result import InverseKinematics
from kinetree.control.kinematics.solve import inverse_kinematics, inverse_kinematics_program

__all__ = [
    "DifferentialInverseKinematics",
    "InverseKinematics",
    "differential_inverse_kinematics",
    "inverse_kinematics",
    "inverse_kinematics_program",
]
