"""Control laws: from a state and its reference to the forces of the joints, one file per law, each a program."""

from kinetree.control.laws.adaptive import adaptive
from kinetree.control.laws.cartesian_impedance import cartesian_impedance
from kinetree.control.laws.computed_torque import computed_torque
from kinetree.control.laws.joint_impedance import joint_impedance
from kinetree.control.laws.operational_space import operational_space
from kinetree.control.laws.passivity_based import passivity_based
from kinetree.control.laws.pd_with_gravity import pd_with_gravity, weight_compensation

__all__ = [
    "adaptive",
    "cartesian_impedance",
    "computed_torque",
    "joint_impedance",
    "operational_space",
    "passivity_based",
    "pd_with_gravity",
    "weight_compensation",
]
