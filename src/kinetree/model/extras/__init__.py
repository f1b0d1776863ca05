"""What robot files say beyond kinematics and inertia: actuators, tendons, sensors, contacts, options of simulations.

The records are plain and frozen; they name joints, bodies and frames by their names.
"""

from kinetree.model.extras.contacts import ContactParameters
from kinetree.model.extras.extras import NO_EXTRAS, Extras, Unused

__all__ = ["NO_EXTRAS", "ContactParameters", "Extras", "Unused"]
