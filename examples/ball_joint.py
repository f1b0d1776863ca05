"""A robot built in Python: a rod on a ball joint, swinging in a circle.

A conical pendulum goes round the vertical at a constant angle θ. Its whole body turns with Ω about the vertical, and
the moment of gravity equals the rate of its angular momentum if Ω² (I − I₃) cos θ = m g c, where c is the distance of
the centre of mass from the ball, I the moment of inertia about the ball across the rod, and I₃ along it. Started with
this Ω, it is back where it began after 2 π / Ω: that is checked.
"""

import math

import kinetree as kt

builder = kt.ModelBuilder("conical pendulum")
builder.add_body("ceiling")
rod = kt.solids.cylinder(0.02, 0.8, mass=1.5, placement=kt.lie.placement((0.0, 0.0, -0.4)))
builder.add_body("rod", rod)
builder.add_joint("ball", kt.joints.Spherical(), "ceiling", "rod")
pendulum = builder.build()
print(pendulum)

theta = 0.6
I = rod.mass * (0.02**2 / 4 + 0.8**2 / 12 + 0.4**2)
I3 = rod.mass * 0.02**2 / 2
rate = math.sqrt(rod.mass * 9.81 * 0.4 / ((I - I3) * math.cos(theta)))
q = [math.sin(theta / 2), 0.0, 0.0, math.cos(theta / 2)]  # tilted about x
v = [0.0, rate * math.sin(theta), rate * math.cos(theta)]  # the vertical, in the rod's axes

period = 2 * math.pi / rate
motion = kt.simulate(pendulum, q=q, v=v, duration=period, dt=period / 1000)
away = kt.difference(pendulum, motion.q[0], motion.q[-1])
print(f"after one turn of {period:.4f} s the rod is {abs(away).max():.0e} rad from where it began")
assert abs(away).max() < 1e-8
assert abs(motion.v[500] - v).max() < 1e-8
