"""One of several objects per world: a ball, a box, a can and a mug slide down one slope, each with its own friction.

One robot is compiled once, and a number per sample says which object is in this world. On a slope of the angle α an
object with the friction μ slides with the acceleration g (sin α - μ cos α), if it does not roll or tip over; a ball
without friction has g sin α.
"""

import numpy as np

import kinetree as kt
from kinetree.model import Geometry
from kinetree.model.extras import ContactParameters


def thing(name, mass, friction, shapes):
    """A body made of shapes: kind, lengths and place of each."""
    contact = ContactParameters(friction=(friction, 0.0, 0.0), priority=1)
    builder = kt.ModelBuilder(name)
    builder.add_body(
        name,
        kt.solids.box(0.08, 0.08, 0.08, mass=mass),
        geometry=[
            Geometry("collision", kind, size, kt.lie.placement(place), contact=contact) for kind, size, place in shapes
        ],
    )
    return builder.build()


friction = {"ball": 0.0, "box": 0.1, "can": 0.2, "mug": 0.3}
objects = {
    "box": thing("box", 0.5, friction["box"], [("box", (0.1, 0.1, 0.08), (0.0, 0.0, 0.0))]),
    "can": thing("can", 0.3, friction["can"], [("cylinder", (0.05, 0.08), (0.0, 0.0, 0.0))]),
    "mug": thing(
        "mug", 0.4, friction["mug"],
        [("cylinder", (0.045, 0.08), (0.0, 0.0, 0.0)), ("capsule", (0.008, 0.04), (0.06, 0.0, 0.0))],
    ),
}  # fmt: skip

world = kt.ModelBuilder("slope")
world.add_body("world")
angle = 0.4
robot = world.build().with_free_body("sphere", 0.04, mass=0.2, friction=0.0, name="object").on_slope(angle)
robot = robot.with_alternatives("object", objects)

which = np.arange(1000) % 4  # the ball, as the body itself, is number 0
q = robot.neutral()
q[:3] = 0.04 * np.array([np.sin(angle), 0.0, np.cos(angle)])
q[3:7] = [0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)]
states = kt.rollout(
    robot, q, np.zeros(6), np.zeros((500, 6)), 1e-3, contact="rigid", integrator="discrete",
    parameters={"body.object.alternative": which},
)  # fmt: skip
along = states[:, -1, :3] @ [np.cos(angle), 0.0, -np.sin(angle)]
for k, (name, mu) in enumerate(friction.items()):
    expected = 0.5 * 9.81 * (np.sin(angle) - mu * np.cos(angle)) * 0.5**2
    print(f"{name}: {along[k]:.4f} m in half a second, {expected:.4f} by theory")
    assert abs(along[k] - expected) < 5e-3
    assert (along[which == k] == along[k]).all()
