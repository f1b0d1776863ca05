"""A four-bar linkage: a closed loop, simulated for five seconds.

The linkage is a tree, crank and coupler on one side and the rocker on the other, and a `kt.constraints.Loop` that holds
their ends together. `kt.simulate` keeps the loop closed to rounding. Nothing brakes the linkage, so its energy is
constant; and at every moment the angles of crank and rocker satisfy Freudenstein's equation, which knows the lengths
alone.
"""

import numpy as np

import kinetree as kt

ground, crank, coupler, rocker = 0.8, 0.3, 0.9, 0.6
builder = kt.ModelBuilder("four-bar")
builder.add_body("ground")
for name, parent, place, length in (
    ("crank", "ground", [0, 0, 0], crank), ("rocker", "ground", [ground, 0, 0], rocker),
    ("coupler", "crank", [0, 0, crank], coupler),
):  # fmt: skip
    builder.add_body(
        name, kt.solids.box(0.04, 0.04, length, mass=length, placement=kt.lie.placement([0, 0, length / 2]))
    )
    builder.add_joint(f"{name} joint", kt.Revolute([0, 1, 0]), parent, name, kt.lie.placement(place))
    builder.add_frame(f"{name} end", name, kt.lie.placement([0, 0, length]))
linkage = builder.build()
loop = [kt.constraints.Loop("coupler end", "rocker end")]

q = kt.constraints.nearest_configuration(linkage, [0.3, 0.2, 1.0], loop).q
motion = kt.simulate(linkage, q=q, constraints=loop, duration=5.0, passive=False)

theta, phi = np.pi / 2 - motion.q[:, :2].T  # of crank and rocker, from the ground's line
k3 = (crank**2 - coupler**2 + rocker**2 + ground**2) / (2 * crank * rocker)
freudenstein = ground / crank * np.cos(phi) - ground / rocker * np.cos(theta) + k3 - np.cos(theta - phi)
lost = abs(motion.balance_error).max()
print(f"Freudenstein's equation holds to {abs(freudenstein).max():.0e}, the energy to {lost:.0e} J")
assert abs(freudenstein).max() < 1e-12
assert lost < 1e-6
