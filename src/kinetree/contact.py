"""Contact of shapes: which pairs may touch, how far they are apart, and motion under contact forces and limits."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.contact_model import SoftConstraints, soft_constraints, with_convex_parts, with_fitted_shapes
    from kinetree.functions.above_ground import above_ground
    from kinetree.functions.contact_dynamics import ContactMotion, contact_dynamics
    from kinetree.functions.contact_forces import ContactForces, ContactPair, contact_forces, contact_pairs
    from kinetree.functions.shape_distances import closest_points, distance, ray_distance
    from kinetree.functions.unfelt import unfelt_parameters

__all__ = [
    "ContactForces",
    "ContactMotion",
    "ContactPair",
    "SoftConstraints",
    "above_ground",
    "closest_points",
    "contact_dynamics",
    "contact_forces",
    "contact_pairs",
    "distance",
    "ray_distance",
    "soft_constraints",
    "unfelt_parameters",
    "with_convex_parts",
    "with_fitted_shapes",
]
