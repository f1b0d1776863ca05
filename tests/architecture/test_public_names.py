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

# fmt: off
NAMES = [
    "Fixed", "Free", "KinetreeError", "Model", "ModelBuilder", "Prismatic", "Revolute", "Trajectory", "Transform",
    "aba", "bias_forces", "center_of_mass", "check", "checking", "compare", "comparison", "compile",
    "constraints", "contact", "contact_dynamics", "control", "crba", "difference", "dynamics",
    "environment", "errors",
    "forward_dynamics", "forward_kinematics", "frame_jacobian", "frame_placement", "from_text", "gravity_forces",
    "hvp", "identification", "integrate", "interop", "inverse_dynamics", "jacobian", "joints", "jvp",
    "kinematics", "kinetic_energy", "learning", "lie", "load", "load_trajectory", "mass_matrix", "mass_matrix_inverse",
    "model", "pictures", "potential_energy", "program", "programs", "random", "render", "rnea", "rollout", "save",
    "sim", "simulate", "solids", "sweep", "sweeps", "to_text", "view", "vjp", "zoo",
]
GROUPS = {
    "checking": [
        "Problem", "Repaired", "Report", "check",
    ],
    "comparison": [
        "Comparison", "Counterpart", "Difference", "Parting", "Quantity", "StepComparison", "compare",
        "compare_steps",
    ],
    "constraints": [
        "ConstrainedForces", "ConstrainedMotion", "Contact", "Impact", "Loop", "NearestConfiguration",
        "constrained_dynamics", "constrained_inverse_dynamics", "constraint_bias", "constraint_errors",
        "constraint_forces", "constraint_jacobian", "impact", "nearest_configuration", "nearest_velocity",
        "operational_space_inertia",
    ],
    "contact": [
        "ContactForces", "ContactMotion", "ContactPair", "SoftConstraints", "above_ground", "closest_points",
        "contact_dynamics", "contact_forces", "contact_pairs", "distance", "ray_distance", "soft_constraints",
        "unfelt_parameters", "with_convex_parts", "with_fitted_shapes",
    ],
    "control": [
        "Axis", "CenterOfMass", "Collocation", "DifferentialInverseKinematics", "Effort", "InverseKinematics",
        "LookAt", "Momentum", "OptimalControl", "OptimalMotion", "Orientation", "Phase", "Pose", "Position",
        "Posture", "PrescribedMotion", "QuadraticSolution", "Support", "Task", "WholeBody", "WholeBodyStep",
        "adaptive", "cartesian_impedance", "computed_torque", "differential_inverse_kinematics", "ilqr",
        "inverse_kinematics", "inverse_kinematics_program", "joint_impedance", "keep_apart", "operational_space",
        "passivity_based", "pd_with_gravity", "prescribed_motion", "quadratic_program", "weight_compensation",
    ],
    "dynamics": [
        "AbaDerivatives", "ActuatorForces", "ArticulatedJoints", "EulerLagrangeMatrices", "ForceOn",
        "HybridDynamics", "MassMatrixFactors", "RneaDerivatives", "WrenchOn", "aba", "aba_derivatives",
        "actuator_forces", "articulated_bias_forces", "articulated_inertias", "articulated_joints",
        "base_wrench", "bias_forces", "body_wrench_regressor", "centroidal_inertia", "centroidal_momentum",
        "centroidal_momentum_matrix", "centroidal_momentum_matrix_rate", "centroidal_momentum_rate",
        "coriolis_forces", "coriolis_matrix", "crba", "euler_lagrange", "euler_lagrange_matrices",
        "floating_inverse_dynamics", "fluid_forces", "forward_dynamics", "gravity_compensation",
        "gravity_forces", "hybrid_dynamics", "inverse_dynamics", "joint_torque_regressor", "joint_wrenches",
        "kinetic_energy", "kinetic_energy_regressor", "limited_forces", "mass_matrix", "mass_matrix_factors",
        "mass_matrix_inverse", "mass_matrix_solve", "mechanical_power", "momentum", "momentum_regressor",
        "passive_forces", "potential_energy", "potential_energy_regressor", "rnea", "rnea_derivatives",
        "sensor_places", "sensors", "servo", "tendon_forces",
    ],
    "errors": [
        "ActuationError", "ConfigurationError", "DTypeError", "DeviceError", "FrozenError", "KinetreeError",
        "LogError", "MissingPackageError", "ModelError", "ModelWarning", "NameNotFoundError", "OptionError",
        "PolicyFileError", "ProgramError", "SaveError", "ShapeError", "SimulationError", "SimulationWarning",
        "SingularModelError", "StiffFrictionError", "TrajectoryFileError", "brief", "listed", "nearest_names",
        "quoted", "visible",
    ],
    "identification": [
        "BaseEstimate", "BaseParameters", "ConsistentEstimate", "Excitation", "FourierTrajectory",
        "FrictionCurve", "Identification", "Log", "Payload", "Regression", "Validation", "base_estimate",
        "base_parameters", "consistent_estimate", "divergence", "exciting_trajectory", "filtered", "identify",
        "identify_payload", "inertial_parameters", "log_cholesky", "log_of", "read_log", "suspicions",
        "with_inertial_parameters",
    ],
    "interop": [
        "CSource", "Layout", "to_c", "to_casadi", "to_jax", "to_torch",
    ],
    "joints": [
        "Composite", "Continuous", "Cylindrical", "Ellipsoid", "Euler", "ExponentialMap", "Fixed",
        "FloatingBase", "Free", "FreeRPY", "Helical", "JointKind", "JointMotion", "MultiDof", "Placed",
        "Planar", "Prismatic", "Reversed", "Revolute", "Screw", "Spherical", "Translation", "Universal",
    ],
    "kinematics": [
        "BodyMotions", "body_accelerations", "body_jacobians", "body_motions", "body_velocities",
        "center_of_mass", "center_of_mass_acceleration", "center_of_mass_jacobian", "center_of_mass_velocity",
        "coordinate_rates", "difference", "difference_jacobian", "forward_kinematics", "frame_acceleration",
        "frame_bias_acceleration", "frame_jacobian", "frame_jacobian_rate", "frame_placement",
        "frame_velocity", "integrate", "integrate_jacobian", "kinematic_hessian", "point_acceleration",
        "point_jacobian", "point_position", "point_velocity", "pose_error", "relative_acceleration",
        "relative_jacobian", "relative_placement", "relative_velocity",
    ],
    "learning": [
        "ARS", "PPO", "Choice", "Environment", "Integers", "Normal", "Policy", "Push", "Run",
        "TrainingInterrupted", "Uniform", "Unrolled", "Worlds", "environment", "gru", "load_policy",
        "load_run", "mlp", "play", "task", "train", "train_many",
    ],
    "lie": [
        "convert", "from_scipy", "jacobian", "placement", "pose_exp", "pose_exp_jacobian", "pose_log",
        "pose_log_jacobian", "rotation_exp", "rotation_exp_jacobian", "rotation_log", "rotation_log_jacobian",
        "to_scipy",
    ],
    "model": [
        "Actuator", "Body", "Coupling", "Extras", "Frame", "Geometry", "Inertia", "Joint", "Limits", "Mimic",
        "Model", "ModelBuilder", "Named", "Rotor", "Sym3", "Vec3", "check_robot", "merge", "no_motor",
    ],
    "pictures": [
        "Background", "Camera", "Floor", "Light", "framing", "png_of_robot",
    ],
    "programs": [
        "Argument", "BareFunction", "DeviceFunction", "Program", "fori", "program", "scan", "when",
    ],
    "random": [
        "choice", "fold", "integers", "normal", "uniform",
    ],
    "sim": [
        "RK45", "Event", "Recording", "SimulationInterrupted", "Snapshot", "StepCounts", "Trajectory",
        "TrajectoryFolder", "Viewing", "actuated_rollout", "load_trajectory", "plot", "simulate",
    ],
    "solids": [
        "box", "capsule", "cylinder", "ellipsoid", "inertia", "mesh", "mesh_file", "sphere",
    ],
    "sweeps": [
        "Anywhere", "Grid", "LogUniform", "Normal", "Study", "Uniform", "load_study", "sweep",
    ],
    "zoo": [
        "load", "names", "path", "robots",
    ],
}
# fmt: on
"""What the groups of `NAMES` offer."""
FUNCTIONS = {
    f"{room.__name__}.{name}": function
    for room in (kt, *(getattr(kt, group) for group in GROUPS))
    for name in room.__all__
    if inspect.isfunction(function := getattr(room, name))
}
ON_ROBOTS = [name for name, function in FUNCTIONS.items() if hasattr(function, "definition")]


def test_the_list_of_public_names() -> None:
    assert kt.__all__ == NAMES


@pytest.mark.parametrize("group", GROUPS)
def test_the_list_of_public_names_of_a_group(group: str) -> None:
    assert getattr(kt, group).__all__ == GROUPS[group]
    assert set(GROUPS) == {name for name in NAMES if isinstance(getattr(kt, name), ModuleType)}
    assert [name for name in GROUPS[group] if not inspect.getdoc(getattr(getattr(kt, group), name))] == []


@pytest.mark.parametrize("name", ["point_jacobian", "ModelError", "pose_exp", "Contact", "to_c"])
def test_a_name_that_moved_is_found_with_a_warning(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"kinetree\.{name} is kinetree\.\w+\.{name} now"):
        found = getattr(kt, name)
    (group,) = (group for group, names in GROUPS.items() if name in names)
    assert found is getattr(getattr(kt, group), name)


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
    own = {name: name.rpartition(".")[2] for name in FUNCTIONS}
    assert {name: function.__name__ for name, function in FUNCTIONS.items()} == {
        name: aliases.get(last, last) for name, last in own.items()
    }


@pytest.mark.parametrize("name", [n for n in NAMES if n != "zoo"])
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(getattr(kt, name))


@pytest.mark.parametrize("name", ON_ROBOTS)
def test_a_function_of_motion_documents_its_shapes_errors_source_and_an_example(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
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
    files = (file for file in root.rglob("*.py") if "with _lazy_names(" in file.read_text())
    return sorted(".".join(file.with_suffix("").relative_to(root).parts).removesuffix(".__init__") for file in files)


@pytest.mark.parametrize("package", packages_with_lazy_names())
def test_a_name_is_imported_when_it_is_asked_for(package: str) -> None:
    module = importlib.import_module(package)
    (block,) = (part for part in ast.parse(Path(str(module.__file__)).read_text()).body if isinstance(part, ast.With))
    seen = {
        (part.module, name.name)
        for part in block.body
        if isinstance(part, ast.ImportFrom) and part.module != package
        for name in part.names
    }
    assert {name for _, name in seen} <= set(module.__all__)
    assert [name for name in dir(module) if not name.startswith("__")] == sorted(module.__all__)
    for home, name in seen:
        assert getattr(module, name) is getattr(importlib.import_module(home), name)
        assert getattr(module, name) is not sys.modules.get(f"{package}.{name}")


@pytest.mark.parametrize(
    "module",
    [
        *("kinetree.appearance", "kinetree.control", "kinetree.functions", "kinetree.io.load", "kinetree.model"),
        *("kinetree.pictures", "kinetree.plots", "kinetree.programs", "kinetree.sim", "kinetree.viewer"),
    ],
)
def test_rooms_are_imported_when_they_are_first_asked_for(module: str) -> None:
    assert module not in imported_with_kinetree()
    assert kt.render.__module__ == "kinetree.pictures.render"
    assert kt.view.__module__ == "kinetree.viewer.view"


@pytest.mark.parametrize("module", ["kinetree.interop", "kinetree.zoo"])
def test_rooms_that_others_must_know_are_imported_at_once(module: str) -> None:
    assert module in imported_with_kinetree()


def test_rooms_that_draw_are_attributes_before_they_are_imported() -> None:
    code = "import kinetree as kt; print(kt.appearance.looks_of.__name__, kt.viewer.Viewer.__name__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["looks_of", "Viewer"]


def test_an_unknown_name_is_reported() -> None:
    with pytest.raises(AttributeError, match="module 'kinetree' has no attribute 'rendr'"):
        kt.rendr  # type: ignore[attr-defined]  # noqa: B018
