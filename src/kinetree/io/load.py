"""One entry point for every format: the file's contents decide, not its suffix."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import DTypeError, ModelError, OptionError
from kinetree.io.collector import collector_paused
from kinetree.io.document import Element, read_bytes, root_of
from kinetree.io.native.from_file import is_native, read_native
from kinetree.joints import JointKind
from kinetree.model import Model

__all__ = ["load"]


def load(
    path: str | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    kinds: Sequence[type[JointKind]] = (),
    srdf: str | os.PathLike[str] | None = None,
) -> Model:
    """Read a robot file: URDF, SDF, or the text form that `kt.save` writes. The contents tell which.

    `floating_base` puts a free joint under the root body, or, if it is False, fixes it to the world. By default it is
 `srdf` is the path of an SRDF file for this robot: its groups, named states and collision pairs go
    into `robot.extras`, see `Model.named_configuration` and docs/loading.md.
