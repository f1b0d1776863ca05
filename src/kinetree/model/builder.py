"""Build a robot: bodies and joints in any order, then one `build` that checks and freezes it."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ModelError, OptionError
from kinetree.model.building import build
from kinetree.model.collector import Collector
from kinetree.model.model import Model
from kinetree.model.specs import Parts

__all__ = ["ModelBuilder"]


class ModelBuilder(Collector):
    """Collects the parts of a robot.

    Parts may come in any order; `where` (file, line, element) begins the message if a part is rejected: a string, or an
    object whose `str` is one.

    >>> import kinetree as kt
    >>> from kinetree.spatial import Inertia, Sym3, Transform, Vec3
    >>> builder = kt.ModelBuilder("pendulum")
    >>> builder.add_body("base")
    >>> builder.add_body("bob", Inertia.from_com(1.0, Vec3(0.0, 0.0, -1.0), Sym3.scalar(0.01)))
    >>> builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", Transform.identity())
    >>> builder.build().nq
    1
    """

    _floating_base = False

    @classmethod
    def of(cls, robot: Model | Parts) -> ModelBuilder:
        """A builder that holds all parts of a robot, so that more can be added.

        `build` then gives the robot a floating base if it had one.

        >>> import kinetree as kt
        >>> builder = kt.ModelBuilder.of(kt.zoo.load("double_pendulum"))
        >>> builder.add_body("flag")
        >>> builder.add_joint("pole", kt.Fixed(), "base", "flag")
        >>> "flag" in builder.build().bodies
        True
        """
        parts = robot.parts if isinstance(robot, Model) else robot
        if not isinstance(parts, Parts):
            raise ModelError(f"a builder starts from a Model or from its parts, not from {robot!r:.60}")
        builder = cls(parts.name, gravity=parts.gravity, source=parts.source)
        builder._floating_base = parts.floating_base
        builder.add_parts(parts)
        return builder

    def build(self, *, floating_base: bool | None = None) -> Model:
        """Check the parts and freeze them into a robot; `floating_base` puts a free joint under the root.

        By default the base is fixed, or as it was in the robot that the builder was made `of`. Raises `ModelError` for
        anything impossible, naming the part, and `OptionError` for a `floating_base` that is not True, False or None;
        warns with `ModelWarning` about anything suspicious.
        """
        if floating_base is None:
            floating_base = self._floating_base
        elif not isinstance(floating_base, bool | np.bool_):
            raise OptionError(f"floating_base must be True, False or None, not {floating_base!r:.60}")
        return Model(**build(self.parts(floating_base=bool(floating_base)), self.suspicions, self.known, self.problems))
