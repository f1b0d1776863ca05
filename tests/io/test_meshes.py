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
    assert any(note.startswith("mesh") and address[:50] in note for note in notes)


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


def test_a_root_that_is_no_folder_is_refused(package: Path) -> None:
    with pytest.raises(kt.ModelError, match=r"package_roots: .*nowhere' is not a folder"):
        find(package, "near.stl", package / "nowhere")


@pytest.mark.parametrize(("scale", "size"), [("", (1, 1, 1)), ('scale="2 3 -4"', (2, 3, -4)), ('scale="2"', (2, 2, 2))])
def test_the_scale_of_a_mesh_is_read(scale: str, size: tuple[float, ...], tmp_path: Path) -> None:
    text = spoil('<box size="0.1 0.2 0.3"/>', f'<mesh filename="hand.stl" {scale}/>')
    assert kt.load(write(tmp_path, text)).bodies["lower"].geometry[0].size == size
