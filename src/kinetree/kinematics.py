"""Where things are and how they move: placements, velocities and accelerations of bodies, frames and points, and their
Jacobians.

The most used of these are also in `kinetree` itself, such as `kt.frame_jacobian`.
"""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.functions.body_jacobians import body_jacobians
    from kinetree.functions.body_motions import BodyMotions, body_motions
    from kinetree.functions.center_of_mass import (
        center_of_mass_acceleration,
        center_of_mass_jacobian,
        center_of_mass_velocity,
    )
    from kinetree.functions.energy import center_of_mass
    from kinetree.functions.jacobians import (
        frame_bias_acceleration,
        frame_jacobian,
        frame_jacobian_rate,
        kinematic_hessian,
    )
    from kinetree.functions.kinematics import (
        body_accelerations,
        body_velocities,
        difference,
        forward_kinematics,
        frame_acceleration,
        frame_placement,
        frame_velocity,
        integrate,
    )
    from kinetree.functions.manifold import coordinate_rates, difference_jacobian, integrate_jacobian
    from kinetree.functions.points import point_acceleration, point_jacobian, point_position, point_velocity
    from kinetree.functions.pose_error import pose_error
    from kinetree.functions.relative import (
        relative_acceleration,
        relative_jacobian,
        relative_placement,
        relative_velocity,
    )

__all__ = [
    "BodyMotions",
    "body_accelerations",
    "body_jacobians",
    "body_motions",
    "body_velocities",
    "center_of_mass",
    "center_of_mass_acceleration",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "coordinate_rates",
    "difference",
    "difference_jacobian",
    "forward_kinematics",
    "frame_acceleration",
    "frame_bias_acceleration",
    "frame_jacobian",
    "frame_jacobian_rate",
    "frame_placement",
    "frame_velocity",
    "integrate",
    "integrate_jacobian",
    "kinematic_hessian",
    "point_acceleration",
    "point_jacobian",
    "point_position",
    "point_velocity",
    "pose_error",
    "relative_acceleration",
    "relative_jacobian",
    "relative_placement",
    "relative_velocity",
]
