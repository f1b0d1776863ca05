"""Changed robots: each change takes a robot and gives the parts of another."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.model.changes.attach import attach, attach_body, detach, remove
    from kinetree.model.changes.common import Changed
    from kinetree.model.changes.ground import on_ground, on_slope, with_contacts, without_self_contact
    from kinetree.model.changes.kinds import with_elastic_joint
    from kinetree.model.changes.lock import lock
    from kinetree.model.changes.mirror import mirrored, mirrored_configuration, mirrored_velocity
    from kinetree.model.changes.motors import with_actuation, with_motors, with_servos
    from kinetree.model.changes.principal_axes import in_principal_axes
    from kinetree.model.changes.root import rerooted
    from kinetree.model.changes.scale import scaled
    from kinetree.model.changes.scene import (
        beside,
        with_alternatives,
        with_free_body,
        with_mocap,
        with_obstacle,
        with_present,
    )
    from kinetree.model.changes.terrain import on_terrain, with_smooth_terrain
    from kinetree.model.changes.world import Scenery, with_gravity

__all__ = [
    "Changed",
    "Scenery",
    "attach",
    "attach_body",
    "beside",
    "detach",
    "in_principal_axes",
    "lock",
    "mirrored",
    "mirrored_configuration",
    "mirrored_velocity",
    "on_ground",
    "on_slope",
    "on_terrain",
    "remove",
    "rerooted",
    "scaled",
    "with_actuation",
    "with_alternatives",
    "with_contacts",
    "with_elastic_joint",
    "with_free_body",
    "with_gravity",
    "with_mocap",
    "with_motors",
    "with_obstacle",
    "with_present",
    "with_servos",
    "with_smooth_terrain",
    "without_self_contact",
]
