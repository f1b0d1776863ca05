"""Gravity compensation: a Panda whose motors carry its weight and do nothing else.

With τ = g(q), `kt.control.weight_compensation`, the arm floats: it stays where it is left, and once pushed it coasts.
The equation of motion is then M q̈ + C q̇ = 0, which conserves kinetic energy however the arm rises and falls; the
example checks that it does, and plots the energies. The torque is a smooth function of the configuration, so it is
evaluated at every stage of the integrator, and joint friction is left out.
"""

from importlib.metadata import distribution

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf")

q = (panda.lower + panda.upper) / 2
v = [0.5, -0.3, 0.2, 0.4, -0.5, 0.3, 0.2, 0.0]  # a gentle push
law = kt.control.weight_compensation(panda)
motion = kt.simulate(panda, q=q, v=v, tau=law, duration=1.0, passive=False, control_dt="stages")
motion.plot("gravity_compensation.png", what=["positions", "energies"])

lifted = motion.potential.max() - motion.potential[0]
change = abs(motion.kinetic / motion.kinetic[0] - 1).max()
print(f"the arm rose by {lifted:.1f} J of potential energy; its kinetic energy changed by {change:.0e} of itself")
assert lifted > 1.0
assert change < 1e-10
