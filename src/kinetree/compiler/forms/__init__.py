"""Other forms of one robot, for kernels: with other axes, inertias or numbers, or looped over."""

from kinetree.lazy_names import lazy_names as _lazy_names

with _lazy_names(__name__):
    from kinetree.compiler.forms.aligned import aligned
    from kinetree.compiler.forms.external_forces import forces_on_bodies
    from kinetree.compiler.forms.form import Form
    from kinetree.compiler.forms.regrouped import with_regrouped_inertias
    from kinetree.compiler.forms.rolled import RolledModel, RolledSource

__all__ = ["Form", "RolledModel", "RolledSource", "aligned", "forces_on_bodies", "with_regrouped_inertias"]
