"""The public API is one screen, pinned here; every name in it explains itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import kinetree as kt

NAMES = [
    "AbaDerivatives",
    "ActuationError",
    "ActuatorForces",
    "Argument",
    "ArticulatedJoints",
    "BaseParameters",
    "BodyMotions",
    "CSource",
    "Camera",
    "Comparison",
    "Composite",
    "ConfigurationError",
    "ConstrainedForces",
    "ConstrainedMotion",
    "Contact",
    "ContactForces",
    "ContactMotion",
    "ContactPair",
    "Continuous",
    "Cylindrical",
    "DTypeError",
    "DeviceError",
    "Ellipsoid",
    "Euler",
    "EulerLagrangeMatrices",
    "Event",
    "ExponentialMap",
    "Fixed",
    "FloatingBase",
    "ForceOn",
    "Free",
    "FreeRPY",
    "FrozenError",
    "Helical",
    "HybridDynamics",
    "Impact",
    "Inertia",
    "JointKind",
    "JointMotion",
    "KinetreeError",
    "Layout",
    "Limits",
    "LogError",
    "Loop",
    "MassMatrixFactors",
    "Mimic",
    "MissingPackageError",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelWarning",
    "MultiDof",
    "NameNotFoundError",
    "NearestConfiguration",
    "OptionError",
    "Placed",
    "Planar",
    "Prismatic",
    "Problem",
    "Program",
    "ProgramError",
    "Repaired",
    "Report",
    "Reversed",
    "Revolute",
    "RneaDerivatives",
    "Rotor",
    "SaveError",
    "Screw",
    "ShapeError",
    "SimulationError",
    "SimulationInterrupted",
    "SimulationWarning",
    "SingularModelError",
    "Snapshot",
    "SoftConstraints",
    "Spherical",
    "StepComparison",
    "StiffFrictionError",
    "Trajectory",
    "TrajectoryFile",
    "TrajectoryFileError",
    "TrajectoryFolder",
    "Transform",
    "Translation",
    "Universal",
    "WrenchOn",
    "aba",
    "aba_derivatives",
    "above_ground",
    "actuated_rollout",
    "actuator_forces",
    "articulated_bias_forces",
    "articulated_inertias",
    "articulated_joints",
    "attitudes",
    "base_parameters",
    "base_wrench",
    "bias_forces",
    "body_accelerations",
    "body_jacobians",
    "body_motions",
    "body_velocities",
    "body_wrench_regressor",
    "center_of_mass",
    "center_of_mass_acceleration",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "centroidal_momentum_matrix_rate",
    "centroidal_momentum_rate",
    "check",
    "closest_points",
    "compare",
    "compare_steps",
    "compile",
    "constrained_dynamics",
    "constrained_inverse_dynamics",
    "constraint_bias",
    "constraint_errors",
    "constraint_forces",
    "constraint_jacobian",
    "contact_dynamics",
    "contact_forces",
    "contact_pairs",
    "control",
    "coordinate_rates",
    "coriolis_forces",
    "coriolis_matrix",
    "crba",
    "difference",
    "difference_jacobian",
    "distance",
    "euler_lagrange",
    "euler_lagrange_matrices",
    "floating_inverse_dynamics",
    "fluid_forces",
    "fori",
    "forward_dynamics",
    "forward_kinematics",
    "frame_acceleration",
    "frame_bias_acceleration",
    "frame_jacobian",
    "frame_jacobian_rate",
    "frame_placement",
    "frame_velocity",
    "from_text",
    "gravity_compensation",
    "gravity_forces",
    "hvp",
    "hybrid_dynamics",
    "identification",
    "impact",
    "inertial_parameters",
    "integrate",
    "integrate_jacobian",
    "inverse_dynamics",
    "jacobian",
    "joint_torque_regressor",
    "joint_wrenches",
    "jvp",
    "kinematic_hessian",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "limited_forces",
    "load",
    "load_trajectory",
    "log_cholesky",
    "mass_matrix",
    "mass_matrix_factors",
    "mass_matrix_inverse",
    "mass_matrix_solve",
    "mechanical_power",
    "merge",
    "momentum",
    "momentum_regressor",
    "nearest_configuration",
    "nearest_velocity",
    "operational_space_inertia",
    "passive_forces",
    "placement",
    "point_acceleration",
    "point_jacobian",
    "point_position",
    "point_velocity",
    "pose_error",
    "pose_exp",
    "pose_exp_jacobian",
    "pose_log",
    "pose_log_jacobian",
    "potential_energy",
    "potential_energy_regressor",
    "program",
    "relative_acceleration",
    "relative_jacobian",
    "relative_placement",
    "relative_velocity",
    "render",
    "rnea",
    "rnea_derivatives",
    "robots",
    "rollout",
    "rotation_exp",
    "rotation_exp_jacobian",
    "rotation_log",
    "rotation_log_jacobian",
    "save",
    "scan",
    "sensor_places",
    "sensors",
    "servo",
    "simulate",
    "soft_constraints",
    "solids",
    "sweep",
    "sweeps",
    "tendon_forces",
    "to_c",
    "to_casadi",
    "to_jax",
    "to_text",
    "to_torch",
    "view",
    "vjp",
    "with_fitted_shapes",
    "with_inertial_parameters",
    "zoo",
]
IDENTIFICATION = [
    "BaseEstimate",
    "BaseParameters",
    "ConsistentEstimate",
    "Excitation",
    "FourierTrajectory",
    "FrictionCurve",
    "Identification",
    "Log",
    "Payload",
    "Regression",
    "Validation",
    "base_estimate",
    "base_parameters",
    "consistent_estimate",
    "divergence",
    "exciting_trajectory",
    "filtered",
    "identify",
    "identify_payload",
    "inertial_parameters",
    "log_cholesky",
    "log_of",
    "read_log",
    "suspicions",
    "with_inertial_parameters",
]
CONTROL = [
    "Axis",
    "CenterOfMass",
    "Collocation",
    "DifferentialInverseKinematics",
    "Effort",
    "InverseKinematics",
    "LookAt",
    "Momentum",
    "OptimalControl",
    "OptimalMotion",
    "Orientation",
    "Phase",
    "Pose",
    "Position",
    "Posture",
    "PrescribedMotion",
    "QuadraticSolution",
    "Support",
    "Task",
    "WholeBody",
    "WholeBodyStep",
    "adaptive",
    "cartesian_impedance",
    "computed_torque",
    "differential_inverse_kinematics",
    "ilqr",
    "inverse_kinematics",
    "inverse_kinematics_program",
    "joint_impedance",
    "operational_space",
    "passivity_based",
    "pd_with_gravity",
    "prescribed_motion",
    "quadratic_program",
    "weight_compensation",
]
FUNCTIONS = [name for name in NAMES if inspect.isfunction(getattr(kt, name))]
ON_ROBOTS = [name for name in FUNCTIONS if hasattr(getattr(kt, name), "definition")]


def test_the_list_of_public_names() -> None:
    assert kt.__all__ == NAMES


def test_the_list_of_public_names_of_control() -> None:
    assert kt.control.__all__ == CONTROL


@pytest.mark.parametrize("name", CONTROL)
def test_every_public_name_of_control_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(kt.control, name))


def test_the_list_of_public_names_of_identification() -> None:
    assert kt.identification.__all__ == IDENTIFICATION


@pytest.mark.parametrize("name", IDENTIFICATION)
def test_every_public_name_of_identification_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(kt.identification, name))


def test_nothing_else_is_public_but_the_rooms_themselves() -> None:
    others = set(vars(kt)) - set(NAMES)
    assert {n for n in others if not n.startswith("_") and not isinstance(getattr(kt, n), ModuleType)} == set()


def test_shells_offer_the_public_names_and_nothing_else() -> None:
    assert [name for name in dir(kt) if not name.startswith("__")] == NAMES
    assert {"__version__", "__doc__", "__all__"} <= set(dir(kt))


def test_modules_that_users_need_are_attributes_without_being_offered() -> None:
    assert kt.spatial.Vec3.__name__ == "Vec3"
    assert kt.errors.KinetreeError is kt.KinetreeError
    assert kt.expr.trace.__name__ == "trace"


def test_functions_are_called_what_they_are_imported_as() -> None:
    aliases = {"forward_dynamics": "aba", "inverse_dynamics": "rnea", "mass_matrix": "crba"}
    assert {name: getattr(kt, name).__name__ for name in FUNCTIONS} == {n: aliases.get(n, n) for n in FUNCTIONS}


@pytest.mark.parametrize("name", [n for n in NAMES if n != "zoo"])
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(kt, name))


@pytest.mark.parametrize("name", ON_ROBOTS)
def test_a_function_of_motion_tells_its_shapes_errors_source_and_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(kt, name)) or ""
    for part in ("Args:", "Returns:", "Raises:", "Source:", ">>> ", "(…"):
        assert part in text, part


@pytest.mark.parametrize(
    "module", ["llvmlite", "matplotlib", "typer", "rich", "pinocchio", "mujoco", "scipy", "jax", "torch"]
)
def test_importing_kinetree_leaves_heavy_packages_alone(module: str) -> None:
    assert "kinetree" in imported_with_kinetree()
    assert module not in imported_with_kinetree()


@cache
def imported_with_kinetree() -> frozenset[str]:
    """The names of all modules in a process that has imported kinetree."""
    code = "import kinetree, sys; print(*sys.modules)"
    return frozenset(
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    )


def packages_with_lazy_names() -> list[str]:
    root = Path(kt.__file__).parents[1]
    files = (file for file in root.rglob("__init__.py") if "_lazy_names(" in file.read_text())
    return sorted(".".join(file.parent.relative_to(root).parts) for file in files)


@pytest.mark.parametrize("package", packages_with_lazy_names())
def test_a_name_is_imported_from_where_type_checkers_look_for_it(package: str) -> None:
    module = importlib.import_module(package)
    text = Path(str(module.__file__)).read_text()
    (block,) = (part for part in ast.parse(text).body if isinstance(part, ast.If))
    seen = {
        (part.module, name.name)
        for part in block.body
        if isinstance(part, ast.ImportFrom) and part.module != package
        for name in part.names
    }
    (table,) = (part for part in ast.walk(block) if isinstance(part, ast.Dict))
    homes: dict[str, str] = ast.literal_eval(table)
    assert seen == {(f"{package}.{home}", name) for home, names in homes.items() for name in names.split()}
    assert {name for _, name in seen} <= set(module.__all__)
    assert [name for name in dir(module) if not name.startswith("__")] == sorted(module.__all__)
    for home, name in seen:
        assert getattr(module, name) is getattr(importlib.import_module(home), name)
        assert getattr(module, name) is not sys.modules.get(f"{package}.{name}")


@pytest.mark.parametrize(
    "module",
    [
        *("kinetree.appearance", "kinetree.control", "kinetree.functions", "kinetree.io.load", "kinetree.model"),
        *("kinetree.pictures.draw", "kinetree.programs", "kinetree.sim", "kinetree.viewer"),
    ],
)
def test_rooms_are_imported_when_they_are_first_asked_for(module: str) -> None:
    assert module not in imported_with_kinetree()
    assert kt.render.__module__ == "kinetree.pictures.render"
    assert kt.view.__module__ == "kinetree.viewer.view"


@pytest.mark.parametrize("module", ["kinetree.interop", "kinetree.pictures", "kinetree.zoo"])
def test_rooms_that_others_must_know_are_imported_at_once(module: str) -> None:
    assert module in imported_with_kinetree()


def test_rooms_that_draw_are_attributes_before_they_are_imported() -> None:
    code = "import kinetree as kt; print(kt.appearance.looks_of.__name__, kt.viewer.Viewer.__name__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["looks_of", "Viewer"]


def test_a_name_that_there_is_not_is_told() -> None:
    with pytest.raises(AttributeError, match="module 'kinetree' has no attribute 'rendr'"):
        kt.rendr  # type: ignore[attr-defined]  # noqa: B018
