"""The public API is one screen, pinned here; every name in it explains itself."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

import kinetree as kt

NAMES = [
    "Composite",
    "ConfigurationError",
    "Continuous",
    "Cylindrical",
    "DTypeError",
    "Ellipsoid",
    "Euler",
    "ExponentialMap",
    "Fixed",
    "FloatingBase",
    "Free",
    "FreeRPY",
    "Helical",
    "Inertia",
    "JointKind",
    "JointMotion",
    "KinetreeError",
    "Layout",
    "Limits",
    "Mimic",
    "MissingPackageError",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelWarning",
    "MultiDof",
    "NameNotFoundError",
    "OptionError",
    "Placed",
    "Planar",
    "Prismatic",
    "Reversed",
    "Revolute",
    "Rotor",
    "Screw",
    "ShapeError",
    "SimulationError",
    "SingularModelError",
    "Spherical",
    "StiffFrictionError",
    "Trajectory",
    "TrajectoryFileError",
    "Transform",
    "Translation",
    "Universal",
    "aba",
    "bias_forces",
    "body_accelerations",
    "body_velocities",
    "center_of_mass",
    "compile",
    "coordinate_rates",
    "crba",
    "difference",
    "difference_jacobian",
    "forward_dynamics",
    "forward_kinematics",
    "frame_acceleration",
    "frame_jacobian",
    "frame_placement",
    "frame_velocity",
    "gravity_forces",
    "integrate",
    "integrate_jacobian",
    "inverse_dynamics",
    "kinetic_energy",
    "limited_forces",
    "load",
    "mass_matrix",
    "merge",
    "passive_forces",
    "placement",
    "potential_energy",
    "rnea",
    "rollout",
    "simulate",
    "solids",
    "zoo",
]
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(kt, name))]
ON_ROBOTS = [name for name in FUNCTIONS if hasattr(getattr(kt, name), "definition")]


def test_the_list_of_public_names() -> None:
    assert kt.__all__ == NAMES


def test_nothing_else_is_public_but_the_rooms_themselves() -> None:
    others = set(vars(kt)) - set(NAMES)
    assert {n for n in others if not n.startswith("_") and not isinstance(getattr(kt, n), ModuleType)} == set()


@pytest.mark.parametrize("name", [n for n in NAMES if n != "zoo"])
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(kt, name))


@pytest.mark.parametrize("name", ON_ROBOTS)
def test_a_function_of_motion_tells_its_shapes_errors_source_and_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(kt, name)) or ""
    for part in ("Args:", "Returns:", "Raises:", "Source:", ">>> ", "(…"):
        assert part in text, part


@pytest.mark.parametrize("module", ["llvmlite", "matplotlib", "typer", "rich", "pinocchio", "mujoco", "jax", "torch"])
def test_importing_kinetree_leaves_heavy_packages_alone(module: str) -> None:
    code = f"import kinetree, sys; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
