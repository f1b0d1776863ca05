"""Names from elsewhere lead to functions here, and words to functions and pages, from an installed package too."""

from __future__ import annotations

import copy
import pickle
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.guide import answers, elsewhere, find, instead, sections

ROOT = Path(__file__).parents[2]
FIRST_GUESSES = {
    # DART
    "getMassMatrix": "kt.mass_matrix",
    "getCoriolisForces": "kt.dynamics.coriolis_forces",
    "getInvMassMatrix": "kt.mass_matrix_inverse",
    "getGravityForces": "kt.gravity_forces",
    "getCoriolisAndGravityForces": "kt.bias_forces",
    "computeForwardDynamics": "kt.aba",
    "computeInverseDynamics": "kt.rnea",
    "getJacobian": "kt.frame_jacobian",
    "getLinearJacobian": "kt.frame_jacobian",
    "getAngularJacobian": "kt.frame_jacobian",
    "getCOM": "kt.center_of_mass",
    "getBodyNodes": "robot.bodies",
    "getWorldTransform": "kt.frame_placement",
    "computeKineticEnergy": "kt.kinetic_energy",
    "getPositionDifferences": "kt.difference",
    "setExtForce": "f_ext",
    "Skeleton": "kt.load",
    # RBDL
    "ForwardDynamics": "kt.forward_dynamics",
    "InverseDynamics": "kt.inverse_dynamics",
    "NonlinearEffects": "kt.bias_forces",
    "CompositeRigidBodyAlgorithm": "kt.crba",
    "CalcPointJacobian": "kt.kinematics.point_jacobian",
    "CalcBodyToBaseCoordinates": "kt.kinematics.point_position",
    "CalcMInvTimesTau": "kt.dynamics.mass_matrix_solve",
    "CalcPointVelocity": "kt.kinematics.point_velocity",
    "SetQuaternion": "robot.with_quaternion",
    "GetQuaternion": "robot.quaternion",
    "IsFixedBodyId": "is_fixed",
    "fixed_body_discriminator": "is_fixed",
    "JointTypeSpherical": "kt.joints.Spherical",
    "JointTypeEulerZYX": "kt.joints.Euler",
    "JointTypeFloatingBase": "kt.joints.FloatingBase",
    "AddBody": "add_body",
    "AppendBody": "add_body",
    "URDFReadFromFile": "kt.load",
    "InverseKinematics": "inverse_kinematics",
    # the slides and the pages among the sources
    "ComputeSerialLinkVelocities": "kt.kinematics.body_velocities",
    "InitSerialLinks": "kt.dynamics.articulated_bias_forces",
    "SerialForwardDynamics": "kt.aba",
    "ABA": "kt.aba",
    "RNEA": "kt.rnea",
    "CRBA": "kt.crba",
    "articulated_body_algorithm": "kt.aba",
    "recursive_newton_euler": "kt.rnea",
    "spatial_inertia": "kt.model.Inertia",
    "spatial_transform": "kt.Transform",
    "zero_acceleration_force": "kt.dynamics.articulated_bias_forces",
    "gaussian_elimination": "kt.dynamics.mass_matrix_solve",
    "computed_torque": "kt.control.computed_torque",
    "impedance": "kt.control.joint_impedance",
    # Pinocchio
    "computeMinverse": "kt.mass_matrix_inverse",
    "nonLinearEffects": "kt.bias_forces",
    "framesForwardKinematics": "kt.forward_kinematics",
    "computeFrameJacobian": "kt.frame_jacobian",
    "computeABADerivatives": "kt.dynamics.aba_derivatives",
    "randomConfiguration": "robot.random",
    "buildModelFromUrdf": "kt.load",
    "computeGeneralizedGravity": "kt.gravity_forces",
    "ccrba": "kt.dynamics.centroidal_inertia",
    "centerOfMass": "kt.center_of_mass",
    # MuJoCo
    "mj_step": "kt.simulate",
    "mj_fullM": "kt.crba",
    "mj_jacBody": "kt.frame_jacobian",
    "mj_inverse": "kt.rnea",
    "mj_forward": "kt.aba",
    "qfrc_bias": "kt.bias_forces",
    "mj_solveM": "kt.dynamics.mass_matrix_solve",
    "sensordata": "kt.dynamics.sensors",
    # Drake
    "CalcMassMatrix": "kt.crba",
    "CalcGravityGeneralizedForces": "kt.gravity_forces",
    "MultibodyPlant": "kt.load",
    "CalcBiasTerm": "kt.dynamics.coriolis_forces",
    "CalcInverseDynamics": "kt.rnea",
    "MakeActuationMatrix": "robot.selection_matrix",
    # short names
    "fk": "kt.forward_kinematics",
    "ik": "kt.control.inverse_kinematics",
    "com": "kt.center_of_mass",
    "step": "kt.simulate",
    "inverse_kinematics": "kt.control.inverse_kinematics",
    "coriolis": "kt.dynamics.coriolis_forces",
    "gravity": "kt.gravity_forces",
    "inertia_matrix": "kt.crba",
    "energy": "kt.kinetic_energy",
    "quaternion": "robot.quaternion",
    "dof": "robot.nv",
    "box": "kt.solids.box",
    "with_gravity": "robot.with_gravity",
    "PDController": "kt.control.pd_with_gravity",
    "load_urdf": "kt.load",
    "thruster": "f_ext",
    "elastic_joint": "robot.with_elastic_joint",
    "linearize": "kt.jacobian",
    "mas_matrix": "'mass_matrix'",
    "crab": "'crba'",
    "massMatrix": "kt.mass_matrix",
}


@pytest.mark.parametrize(("name", "here"), FIRST_GUESSES.items())
def test_a_first_guess_is_an_error_that_names_the_function_here(name: str, here: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(here)) as caught:
        getattr(kt, name)
    assert caught.value.name == name


def test_a_method_that_a_robot_does_not_have_is_named_as_well() -> None:
    robot = kt.zoo.load("cart_pole")
    with pytest.raises(
        AttributeError, match=r"'Model' object has no attribute 'getMassMatrix': DART's .* kt\.mass_matrix"
    ):
        robot.getMassMatrix()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"it is kt\.aba here") as caught:
        robot.aba  # type: ignore[attr-defined] # noqa: B018
    assert str(pickle.loads(pickle.dumps(caught.value))).startswith("'Model' object has no attribute 'aba'")
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'neutrall': did you mean 'neutral'"):
        robot.neutrall()  # type: ignore[attr-defined]
    assert not hasattr(robot, "anything")
    assert pickle.loads(pickle.dumps(robot)) == copy.deepcopy(robot) == robot


def test_every_name_of_the_tables_leads_somewhere() -> None:
    assert len(answers()) > 200
    assert len(elsewhere()) > 350
    for name in elsewhere():
        assert " here" in instead(name), name


def test_what_the_tables_name_exists() -> None:
    """Names of kinetree, and of robots and motions."""
    robot, wrong = kt.zoo.load("cart_pole"), []
    motion = kt.simulate(robot, duration=0.01)
    for answer in answers():
        for dotted in re.findall(r"\bkt((?:\.\w+)+)", answer.here):
            owner = kt
            for name in dotted.strip(".").split("."):
                owner = getattr(owner, name, None)
            if owner is None:
                wrong.append(f"kt{dotted}")
        wrong += [
            f"robot.{name}" for name in re.findall(r"(?<![\"\w])robot\.(\w+)", answer.here) if not hasattr(robot, name)
        ]
        wrong += [f"motion.{name}" for name in re.findall(r"\bmotion\.(\w+)", answer.here) if not hasattr(motion, name)]
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "function", "page"),
    [
        ("mass matrix", "kt.mass_matrix", "algorithms/mass_matrix.md"),
        ("elastic", "robot.with_elastic_joint", "elastic_joints.md"),
        ("flexible", "robot.with_elastic_joint", "elastic_joints.md"),
        ("spatial transpose", None, "spatial_algebra.md"),
        ("wind", "f_ext= of kt.aba, kt.simulate, kt.rollout", "simulation.md#forces-from-outside-and-parameters"),
        ("inverse kinematics", "kt.control.inverse_kinematics", "inverse_kinematics.md"),
        ("CalcPointJacobian", "kt.kinematics.point_jacobian", None),
        ("friction cone", None, "contact.md"),
    ],
)
def test_words_find_functions_and_pages(words: str, function: str | None, page: str | None) -> None:
    functions, pages = find(words, 8)
    if function is not None:
        assert any(function in x.here for x in functions), [x.here for x in functions]
    if page is not None:
        assert any(x.place.startswith(page) for x in pages), [x.place for x in pages]


def test_places_of_sections_are_headings() -> None:
    for part in sections():
        file, _, anchor = part.place.partition("#")
        assert (ROOT / "docs" / file).is_file()
        if anchor:
            page = (ROOT / "docs" / file).read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.*)$", page, re.M)
            assert anchor in [re.sub(r"[^\w\- ]", "", x.lower()).replace(" ", "-") for x in headings], part.place


def test_pages_that_messages_and_docstrings_name_are_there() -> None:
    """They are named as `kinetree docs` opens them, from a wheel too: the folder docs is one of the checkout."""
    places, named = {part.place for part in sections()}, 0
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"\bdocs/[\w/-]+\.md", text) == [], path
        for page, section in re.findall(r"`kinetree docs ([a-z]\S*?)(#\S+?)?`", text):
            assert f"{page}.md{section}" in places, f"{path}: {page}{section}"
            named += 1
    assert named > 80


@pytest.mark.parametrize("name", ["_private", "__wrapped__", "x" * 100_000, "é" * 50, "a.b(", "\x1b[31m"])
def test_no_name_is_too_strange(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(kt, name)
    find(name)


@pytest.mark.parametrize("name", ["__path_of_nothing__", "_nothing"])
def test_private_names_have_no_advice(name: str) -> None:
    assert instead(name) == ""


def test_an_installed_package_has_the_pages(tmp_path: Path) -> None:
    """As the wheel is laid out: the pages are a folder of the package."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["sources"] == {"src/kinetree": "kinetree", "docs": "kinetree/docs"}
    assert {*wheel["only-include"]} == {*wheel["sources"]}
    for source, place in wheel["sources"].items():
        shutil.copytree(ROOT / source, tmp_path / place, ignore=shutil.ignore_patterns("__pycache__", "*.webp"))
    command = [sys.executable, "-m", "kinetree", "find", "elastic"]
    found = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert "robot.with_elastic_joint" in found.stdout
    assert "elastic_joints.md  Elastic joints" in found.stdout
    assert str(tmp_path / "kinetree" / "docs") in found.stdout
