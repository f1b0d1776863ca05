"""The contents of SDF's elements, as far as kinematics, dynamics and geometry are concerned; one row per element.

Other elements of a file are kept as they are written there: `LISTED` has those that SDF itself defines, so that
misspelt ones can be recognised.
"""

from __future__ import annotations

from kinetree.io.document import Shape

__all__ = ["LISTED", "NEWEST", "OLDEST", "SHAPES"]

OLDEST, NEWEST = 4, 12
"""The versions of SDF that are read are 1.4 to 1.12."""


def _shape(children: str = "", attributes: str = "") -> Shape:
    return Shape.of(children, attributes, raw=True)


_VALUES = (
    "static uri lower upper effort velocity stiffness dissipation damping friction spring_reference spring_stiffness "
    "mass density size radius length radii normal scale height name placement_frame parent child gearbox_ratio "
    "gearbox_reference_body thread_pitch screw_thread_pitch use_parent_model_frame gravity kinematic diffuse ambient "
    "multiplier offset reference"
)
_MOMENTS = "ixx iyy izz ixy ixz iyz"

SHAPES = {
    **{tag: _shape() for tag in f"{_VALUES} {_MOMENTS}".split()},
    "sdf": _shape("model world", "version"),
    "world": _shape("model include frame joint gravity", "name"),
    "model": _shape("model include frame joint link pose static", "name canonical_link placement_frame namespace"),
    "include": _shape("uri name pose static placement_frame", "merge"),
    "frame": _shape("pose", "name attached_to"),
    "pose": _shape("", "relative_to frame rotation_format degrees"),
    "link": _shape("pose inertial visual collision gravity kinematic", "name"),
    "inertial": _shape("pose mass density inertia", "auto"),
    "inertia": _shape(_MOMENTS),
    "visual": _shape("pose geometry material", "name"),
    "collision": _shape("pose geometry density", "name"),
    "material": _shape("ambient diffuse"),
    "geometry": _shape("box capsule cone cylinder ellipsoid heightmap mesh plane sphere empty"),
    "box": _shape("size"),
    "sphere": _shape("radius"),
    "capsule": _shape("radius length"),
    "cone": _shape("radius length"),
    "cylinder": _shape("radius length"),
    "ellipsoid": _shape("radii"),
    "plane": _shape("normal size"),
    "mesh": _shape("uri scale", "optimization"),
    "heightmap": _shape("uri size"),
    "empty": _shape(),
    "joint": _shape(
        "pose parent child axis axis2 gearbox_ratio gearbox_reference_body thread_pitch screw_thread_pitch",
        "name type",
    ),
    "axis": _shape("xyz limit dynamics mimic use_parent_model_frame"),
    "axis2": _shape("xyz limit dynamics mimic use_parent_model_frame"),
    "xyz": _shape("", "expressed_in"),
    "limit": _shape("lower upper effort velocity"),
    "dynamics": _shape("damping friction spring_reference spring_stiffness"),
    "mimic": _shape("multiplier offset reference", "joint axis"),
}

_LISTED = {
    "sdf": "actor light plugin",
    "world": "audio wind magnetic_field atmosphere gui physics scene light actor plugin road spherical_coordinates "
    "state population",
    "model": "self_collide allow_auto_disable plugin gripper enable_wind state model_state",
    "include": "plugin namespace state model_state experimental:params",
    "link": "enable_wind self_collide must_be_base_link velocity_decay sensor projector audio_sink audio_source "
    "battery light particle_emitter plugin",
    "inertial": "auto_inertia_params fluid_added_mass frame",
    "visual": "cast_shadows laser_retro transparency visibility_flags meta plugin",
    "collision": "laser_retro max_contacts surface auto_inertia_params",
    "material": "script shader lighting specular emissive double_sided render_order shininess pbr",
    "geometry": "image polyline",
    "mesh": "submesh convex_decomposition",
    "heightmap": "pos texture blend use_terrain_paging sampling",
    "joint": "physics sensor plugin provide_feedback",
    "limit": "stiffness dissipation",
}

LISTED = {tag: frozenset(names.split()) for tag, names in _LISTED.items()}
"""Further elements of SDF, by the element around them."""
