"""Meshes are located inside the given folders, and nothing outside of them is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import kinetree as kt
from tests.io.arm import spoil, write


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package `arm_description` beside a secret: meshes/hand.stl, urdf/, links that stay and links that leave."""
    (tmp_path / "secret.stl").write_text("secret")
    package = tmp_path / "arm_description"
    (package / "meshes").mkdir(parents=True)
    (package / "urdf").mkdir()
    (package / "meshes" / "hand.stl").write_text("solid")
    (package / "urdf" / "near.stl").write_text("solid")
    (package / "meshes" / "inside.stl").symlink_to("hand.stl")
    (package / "meshes" / "outside.stl").symlink_to(tmp_path / "secret.stl")
    (package / "up").symlink_to("..")
    (package / "loop").symlink_to("loop")
    (package / "also_meshes").symlink_to("meshes")
    return package


def find(package: Path, address: str, *roots: Path) -> tuple[Path | None, tuple[str, ...]]:
    """Where the mesh with this address is, for a robot in the package's urdf folder, and the notes."""
    path = write(package / "urdf", spoil('<box size="0.1 0.2 0.3"/>', f'<mesh filename="{address}"/>'))
    model = kt.load(path, package_roots=roots)
    (geometry,) = model.bodies["lower"].geometry
    assert (geometry.shape, geometry.mesh) == ("mesh", address)
    return geometry.mesh_path, model.notes


FOUND = {
    "a path beside the file": ("near.stl", (), "urdf/near.stl"),
    "a path that goes down and up again": ("x/../near.stl", (), "urdf/near.stl"),
    "a package around the file": ("package://arm_description/meshes/hand.stl", (), "meshes/hand.stl"),
    "a package after three slashes": ("package:///arm_description/meshes/hand.stl", (), "meshes/hand.stl"),
    "a package in a root": ("package://arm_description/meshes/hand.stl", ("..",), "meshes/hand.stl"),
    "a package that is a root": ("package://arm_description/meshes/hand.stl", (".",), "meshes/hand.stl"),
    "a path within a root": ("../meshes/hand.stl", (".",), "meshes/hand.stl"),
    "a link that stays in its root": ("package://arm_description/meshes/inside.stl", (), "meshes/inside.stl"),
    "a linked folder that stays": ("package://arm_description/also_meshes/hand.stl", (), "also_meshes/hand.stl"),
}


@pytest.mark.parametrize(("address", "roots", "expected"), FOUND.values(), ids=FOUND.keys())
def test_a_mesh_inside_the_roots_is_found(address: str, roots: tuple[str, ...], expected: str, package: Path) -> None:
    found, notes = find(package, address, *(Path(os.path.normpath(package / root)) for root in roots))
    assert found == package / expected
    assert not any("meshes" in note for note in notes)


REFUSED = {
    "a path above the file": ("../meshes/hand.stl", ()),
    "a path far above": ("../../secret.stl", (".",)),
    "a package path that leaves it": ("package://arm_description/../secret.stl", ()),
    "a package path that leaves a root": ("package://arm_description/../../secret.stl", ("..",)),
    "a package named by dots": ("package://../secret.stl", ("..",)),
    "an absolute path": ("/etc/hostname", ()),
    "a file address": ("file:///etc/hostname", (".",)),
    "a link that leaves": ("package://arm_description/meshes/outside.stl", ()),
    "a linked folder that leaves": ("package://arm_description/up/secret.stl", ()),
    "a link to itself": ("package://arm_description/loop/hand.stl", ()),
    "a folder": ("package://arm_description/meshes", ()),
    "a file that is not there": ("package://arm_description/meshes/foot.stl", ()),
    "a package nobody knows": ("package://leg_description/meshes/hand.stl", ()),
    "an address on the network": ("http://localhost:9/hand.stl", ()),
    "a name too long for a file system": ("x" * 3000, ()),
    "a null byte by another name": ("%00", ()),
    "a folder around the file that is no package": ("package://{parent}/secret.stl", ()),
}


@pytest.mark.parametrize(("address", "roots"), REFUSED.values(), ids=REFUSED.keys())
def test_a_mesh_outside_the_roots_or_missing_is_noted_and_has_no_path(
    address: str, roots: tuple[str, ...], package: Path
) -> None:
    address = address.format(parent=package.parent.name)
    found, notes = find(package, address, *(Path(os.path.normpath(package / root)) for root in roots))
    assert found is None
    (note,) = (note for note in notes if "meshes" in note)
    assert note.startswith("1 of 1 meshes have no file here: 1 ")
    assert address[-49:] in note or address.split("/")[2] in note
    assert len(note) < 200


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every path that is asked about from here on."""
    paths: list[str] = []
    for name in ("stat", "lstat", "readlink", "open", "scandir", "listdir"):
        original = getattr(os, name)

        def spy(path: object, *arguments: object, _original: object = original, **options: object) -> object:
            if isinstance(path, str | os.PathLike):
                paths.append(os.path.abspath(path))
            return _original(path, *arguments, **options)  # type: ignore[operator]

        monkeypatch.setattr(os, name, spy)
    return paths


@pytest.mark.parametrize(("address", "roots"), REFUSED.values(), ids=REFUSED.keys())
def test_nothing_outside_the_package_is_looked_at(
    address: str, roots: tuple[str, ...], package: Path, looked_at: list[str]
) -> None:
    given = [Path(os.path.normpath(package / root)) for root in roots]
    path = write(package / "urdf", spoil('<box size="0.1 0.2 0.3"/>', f'<mesh filename="{address}"/>'))
    looked_at.clear()
    kt.load(path, package_roots=given)
    allowed = [package, *given]
    strays = [p for p in looked_at if not any(Path(p).is_relative_to(root) for root in allowed)]
    assert looked_at
    assert strays == []


def test_a_package_further_up_is_known_by_its_package_xml(package: Path) -> None:
    outer = package.parent
    address = f"package://{outer.name}/secret.stl"
    assert find(package, address)[0] is None
    (outer / "package.xml").write_text("<package/>")
    assert find(package, address)[0] == outer / "secret.stl"


def test_many_meshes_and_reasons_are_one_short_note(package: Path) -> None:
    addresses = [f"package://leg_{k % 2}/meshes/a_rather_long_name_of_a_mesh_{k}.stl" for k in range(30)]
    addresses += [*(f"meshes/{k}.stl" for k in range(20)), "../far.stl", "http://x/y.stl", "package://", "near.stl"]
    shapes = "".join(
        f'<visual><geometry><mesh filename="{a}"/></geometry></visual>' for a in [*addresses, addresses[0]]
    )
    file = package / "urdf" / "many.urdf"
    file.write_text(f'<robot name="r"><link name="l">{shapes}</link></robot>')
    robot = kt.load(file)
    (note,) = (note for note in robot.notes if "meshes" in note)
    assert note == (
        "53 of 54 meshes have no file here: 30 in packages whose folder is not known (leg_0, leg_1), 20 not found "
        "(meshes/0.stl, meshes/1.stl and 18 more), 1 outside the folder of the file (../far.stl), 1 whose address is "
        "neither a path nor package:// or file:// (http://x/y.stl), 1 without a package's name (package://); name "
        "their folders in package_roots (--package-roots), or give ros_packages"
    )
    missing = [shape.mesh for shape in robot.bodies["l"].geometry if shape.mesh_path is None]
    assert missing == [a for a in [*addresses, addresses[0]] if a != "near.stl"]


@pytest.fixture
def ros(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Packages `leg` in a workspace's src and `foot` under an install prefix, and a robot elsewhere that uses both."""
    ros = package.parent / "ros"
    for folder in ("src/stack/leg", "install/share/foot"):
        (ros / folder / "meshes").mkdir(parents=True)
        (ros / folder / "package.xml").write_text("<package/>")
        (ros / folder / "meshes" / "part.stl").write_text("solid")
        (ros / folder / "meshes" / "out.stl").symlink_to(package.parent / "secret.stl")
    (ros / "src" / "ignored").mkdir()
    (ros / "src" / "ignored" / "CATKIN_IGNORE").touch()
    (ros / "src" / "ignored" / "toe").mkdir()
    (ros / "src" / "ignored" / "toe" / "package.xml").touch()
    (ros / "src" / "ignored" / "toe" / "part.stl").touch()
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere{os.pathsep}{os.pathsep}{ros / 'src'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{ros / 'install'}{os.pathsep}/nowhere/either")
    return ros


ROS = {
    "package://leg/meshes/part.stl": "src/stack/leg/meshes/part.stl",
    "package://foot/meshes/part.stl": "install/share/foot/meshes/part.stl",
    "package://leg/meshes/out.stl": None,
    "package://foot/meshes/out.stl": None,
    "package://leg/../leg/meshes/part.stl": "src/stack/leg/meshes/part.stl",
    "package://foot/../../../../secret.stl": None,
    "package://share/foot/meshes/part.stl": None,
    "package://toe/part.stl": None,
    "package://../foot/meshes/part.stl": None,
}


@pytest.mark.parametrize(("address", "expected"), ROS.items(), ids=ROS)
def test_packages_of_ros_are_looked_at_if_asked(address: str, expected: str | None, ros: Path, package: Path) -> None:
    path = write(package / "urdf", spoil('<box size="0.1 0.2 0.3"/>', f'<mesh filename="{address}"/>'))
    for options in ({}, {"package_roots": [package]}):
        without, with_ros = (
            kt.load(path, ros_packages=asked, **options).bodies["lower"].geometry[0].mesh_path  # type: ignore[arg-type]
            for asked in (False, True)
        )
        assert without is None
        assert with_ros == (None if expected is None else ros / expected)


def test_the_text_form_finds_them_too(ros: Path, package: Path) -> None:
    address = "package://leg/meshes/part.stl"
    path = write(package / "urdf", spoil('<box size="0.1 0.2 0.3"/>', f'<mesh filename="{address}"/>'))
    text = kt.save(kt.load(path), package / "arm.json")
    assert (
        kt.load(text, ros_packages=True).bodies["lower"].geometry[0].mesh_path == ros / "src/stack/leg/meshes/part.stl"
    )


def test_nothing_but_these_packages_is_looked_at(ros: Path, package: Path, looked_at: list[str]) -> None:
    address = "package://foot/../../../../secret.stl"
    path = write(package / "urdf", spoil('<box size="0.1 0.2 0.3"/>', f'<mesh filename="{address}"/>'))
    looked_at.clear()
    kt.load(path, ros_packages=True)
    allowed = [package, ros / "src", ros / "install" / "share" / "foot", Path("/nowhere").absolute()]
    assert [p for p in looked_at if not any(Path(p).is_relative_to(root) for root in allowed)] == []


def test_the_note_says_what_is_not_set(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    path = write(package / "urdf", spoil('<box size="0.1 0.2 0.3"/>', '<mesh filename="package://leg/a.stl"/>'))
    (note,) = (note for note in kt.load(path, ros_packages=True).notes if "meshes" in note)
    assert "; name their folders in package_roots (--package-roots), or set " in note
    assert note.endswith(" ROS_PACKAGE_PATH or AMENT_PREFIX_PATH")


def test_a_root_that_is_no_folder_is_refused(package: Path) -> None:
    with pytest.raises(kt.errors.ModelError, match=r"package_roots: .*nowhere' is not a folder"):
        find(package, "near.stl", package / "nowhere")


@pytest.mark.parametrize(("scale", "size"), [("", (1, 1, 1)), ('scale="2 3 -4"', (2, 3, -4)), ('scale="2"', (2, 2, 2))])
def test_the_scale_of_a_mesh_is_read(scale: str, size: tuple[float, ...], tmp_path: Path) -> None:
    text = spoil('<box size="0.1 0.2 0.3"/>', f'<mesh filename="hand.stl" {scale}/>')
    assert kt.load(write(tmp_path, text)).bodies["lower"].geometry[0].size == size
