"""Forms of dry friction as functions of the velocity, linear in forces and nonlinear in one speed.

    coulomb    F tanh(v / v_s), with the robot's own v_s
    sigmoid    F tanh(v / s): the speed within which friction rises is sought
    stribeck   (F + B exp(-(v / s)²)) tanh(v / v_s): friction falls from F + B near rest to F above the speed s

The sigmoid F tanh(v / s) is φ₁ / (1 + exp(-φ₂ v)) - φ₁ / 2 with φ₁ = 2 F and φ₂ = 2 / s, the form of Gaz et al.
without the shift φ₃ of the velocity.

Source: Armstrong-Hélouvry, Dupont, Canudas de Wit, "A survey of models, analysis tools and compensation methods for the
control of machines with friction" (1994), for the Gaussian form of Stribeck's friction; Gaz et al., "Dynamic
identification of the Franka Emika Panda robot with retrieval of feasible parameters using penalty-based optimization"
(2019), for the sigmoid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.records import record

__all__ = ["COULOMB", "FORMS", "SIGMOID", "STRIBECK", "Form"]


@record(frozen=True, slots=True)
class Form:
    """A form of dry friction; velocities, speeds and results are arrays of any shape, or symbols."""

    name: str
    bump: str
    """The name of its second force, B; empty without one."""
    speed: str
    """The name of the speed that is sought, s; empty if none is."""

    def rise(self, v: Any, own: Any, s: Any) -> Any:
        """The function that F is multiplied with; `own` is the robot's speed v_s."""
        return np.tanh(v / (s if self.speed and not self.bump else own))

    def falling(self, v: Any, own: Any, s: Any) -> Any:
        """The function that B is multiplied with."""
        return np.tanh(v / own) * np.exp(-((v / s) ** 2))

    def slope(self, v: Any, own: Any, s: Any) -> Any:
        """The derivative by s of the function that depends on it."""
        if self.bump:
            return 2.0 * v**2 / s**3 * self.falling(v, own, s)
        return -v / s**2 * (1.0 - np.tanh(v / s) ** 2)


COULOMB = Form("coulomb", "", "")
SIGMOID = Form("sigmoid", "", "friction_speed")
STRIBECK = Form("stribeck", "stribeck", "stribeck_speed")
FORMS = {form.name: form for form in (COULOMB, SIGMOID, STRIBECK)}
