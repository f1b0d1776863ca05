"""The packages of a release: two builds with the same bytes, checks, and all other files of a release.

    python .ci/packages.py                      build, compare and check, as .ci/run does
    python .ci/packages.py prepare 0.2.0        write version, date and addresses, before the tag is made
    python .ci/packages.py release v0.2.0 OUT   the same as without arguments, for a tag; OUT gets all of the release

Needs `pip install -r .ci/packages.txt`, except for `prepare`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r'^__version__ = "(.*)"$', re.M)
IN_WHEELS = re.compile(
    r"kinetree/(?:docs/[\w/]+\.md|docs/pictures/[\w/-]+\.webp|(?!docs/).+\.(?:py|typed|urdf|srdf|json|html|npy))"
)
"""The files of the package and its pages; any other file is there by mistake."""
LARGEST_WHEEL = 8_000_000
SCHEMAS = {
    "citation-file-format": "CITATION.cff",
    "dependabot": ".github/dependabot.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-workflows": ".github/workflows/*.yml",
}


def pyproject(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def addresses(root: Path) -> dict[str, str]:
    """The two addresses that a person fills in: of the repository and of the site."""
    table: dict[str, str] = pyproject(root)["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    return table


def version_of(root: Path) -> str:
    found = VERSION.search((root / "src/kinetree/__init__.py").read_text(encoding="utf-8"))
    return found[1] if found else ""


def prepare(root: Path, version: str, date: str) -> None:
    """Writes the version, the date and the addresses wherever a release has them."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?", version):
        sys.exit(f"{version!r} is not a version; expected one such as 0.2.0 or 0.2.0rc1")
    for name, address in addresses(root).items():
        if not re.fullmatch(r"https://\S+", address):
            sys.exit(f"pyproject.toml: fill in {name!r} of [tool.hatch.metadata.hooks.custom]; it is {address!r}")
    fields = {"version": version, "date-released": date, "repository-code": addresses(root)["repository"]}
    fields["url"] = addresses(root)["site"]
    citation = root / "CITATION.cff"
    kept = [x for x in citation.read_text(encoding="utf-8").splitlines() if x.partition(":")[0] not in fields]
    added = [f'{name}: "{value}"' for name, value in fields.items()]
    citation.write_text("\n".join([*kept, *added]) + "\n", encoding="utf-8")
    module, changes = root / "src/kinetree/__init__.py", root / "CHANGELOG.md"
    module.write_text(VERSION.sub(f'__version__ = "{version}"', module.read_text(encoding="utf-8")), encoding="utf-8")
    text = changes.read_text(encoding="utf-8")
    if f"## [{version}]" not in text:
        heading = re.compile(r"^## \[Unreleased\]\n(?:\nBecomes .*\n)?", re.M)
        changes.write_text(heading.sub(f"## [Unreleased]\n\n## [{version}] - {date}\n", text), encoding="utf-8")


def notes(root: Path, version: str) -> str:
    """The section of CHANGELOG.md about a version."""
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)"
    found = re.search(heading, (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M | re.S)
    return found[1].strip() + "\n" if found else ""


def problems_of_release(root: Path, tag: str) -> list[str]:
    """Everything that speaks against a release under this tag."""
    version = version_of(root)
    problems = [f"{name} is not filled in" for name, address in addresses(root).items() if not address]
    if tag != f"v{version}":
        problems.append(f"the tag is {tag}, and the version of src/kinetree/__init__.py is {version}")
    if not notes(root, version):
        problems.append(f"CHANGELOG.md has no section [{version}] with a date")
    if f'version: "{version}"' not in (root / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        problems.append(f"CITATION.cff is not of version {version}")
    return problems and [*problems, f"run: python .ci/packages.py prepare {tag.removeprefix('v')}"]


def run(*command: str | Path, **options: Any) -> None:
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")


def build(root: Path, out: Path) -> list[Path]:
    """The source distribution, and the wheel that is made of it."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, root)
    return sorted(out.iterdir())


def build_elsewhere(root: Path, out: Path) -> list[Path]:
    """The same of a copy with other dates, rights and surroundings, and the wheel straight from its files."""
    copy = out / "another folder"
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=root, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, copy / name)
            (copy / name).chmod((root / name).stat().st_mode & 0o700)
            os.utime(copy / name, (1e9, 1e9))
    environment = os.environ | {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", out / "built", copy]
    run(*command, env=environment, umask=0o077)
    return sorted((out / "built").iterdir())


def check(root: Path, built: list[Path]) -> None:
    """Check the packages' contents and metadata, README as the package index shows it, and the files around them."""
    wheel, source = built
    run("twine", "check", "--strict", wheel, source)
    run("check-wheel-contents", "--package", root / "src/kinetree", "--ignore", "W102", wheel)
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert wheel.stat().st_size < LARGEST_WHEEL, f"the wheel has {wheel.stat().st_size:,} bytes"
    assert {"kinetree/py.typed", "kinetree/docs/tour.md", "kinetree/zoo/models/arm7.urdf"} <= {*names}
    strange = [name for name in names if not IN_WHEELS.fullmatch(name)]
    assert not strange, f"the wheel has files that it should not have: {strange}"
    check_readme(root)
    for schema, pattern in SCHEMAS.items():
        run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *sorted(root.glob(pattern)))


def check_readme(root: Path) -> None:
    """README on the package index, with addresses filled in, has no link that leads nowhere there."""
    from readme_renderer.markdown import render

    specification = importlib.util.spec_from_file_location("hatch_build", root / "hatch_build.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    metadata: dict[str, Any] = {"version": "0.2.0"}
    invented = {"repository": "https://repository.invalid", "site": "https://site.invalid/"}
    module.Addresses(str(root), invented).update(metadata)
    page = render(metadata["readme"]["text"])
    assert page, "README cannot be rendered"
    links = re.findall(r'(?:href|src)="([^"]*)"', page)
    wrong = [x for x in links if not x.startswith("https://") and not (x[:1] == "#" and f'id="{x[1:]}"' in page)]
    assert not wrong, f"README has links that lead nowhere on the package index: {wrong}"
    assert any(link.startswith("https://repository.invalid/raw/v0.2.0/docs/pictures/") for link in links)


def recipe(root: Path, source: Path) -> str:
    """The recipe of conda-forge for a source distribution, checked by rattler-build's parser."""
    from rattler_build import Stage0Recipe, VariantConfig

    text = (root / "recipe/recipe.yaml").read_text(encoding="utf-8")
    for name, value in {
        "version": version_of(root),
        "sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        **addresses(root),
    }.items():
        text, count = re.subn(
            rf'^  {name}: ".*"', f'  {name}: "{value or "https://address.invalid"}"', text, flags=re.M
        )
        assert count == 1, f"recipe.yaml: there must be one line for {name}"
    Stage0Recipe.from_yaml(text).render(VariantConfig())
    needed = re.findall(r"^    - ([\w-]+) >=([\d.]+)$", text.partition("  run:")[2], re.M)
    own = [tuple(x.split(">=")) for x in pyproject(root)["project"]["dependencies"]]
    assert sorted(needed) == sorted(own), f"recipe.yaml and pyproject.toml differ: {needed}, {own}"
    return text


def bill_of_materials(wheel: Path, folder: Path, out: Path) -> None:
    """The parts of a plain installation, in CycloneDX's format."""
    environment = folder / "installed"
    run(sys.executable, "-m", "venv", environment)
    python = environment / "bin/python"
    run(python, "-m", "pip", "install", "-q", wheel)
    run(python, "-m", "pip", "uninstall", "-q", "-y", "setuptools", "pip")
    run(
        "cyclonedx-py",
        "environment",
        "--output-reproducible",
        "--pyproject",
        ROOT / "pyproject.toml",
        "-o",
        out,
        python,
    )
    bill = json.loads(out.read_text(encoding="utf-8"))
    name, version, *_ = wheel.name.split("-")
    bill["metadata"]["component"] |= {"type": "library", "version": version, "purl": f"pkg:pypi/{name}@{version}"}
    bill["components"] = [part for part in bill["components"] if part["name"] != name]
    out.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")


def main(what: str = "check", *rest: str) -> None:
    if what == "prepare":
        prepare(ROOT, *rest, f"{datetime.now(UTC):%Y-%m-%d}")
        return
    if what == "release" and (problems := problems_of_release(ROOT, rest[0])):
        sys.exit("\n".join(problems))
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built, again = build(ROOT, folder / "dist"), build_elsewhere(ROOT, folder / "again")
        for first, second in zip(built, again, strict=True):
            assert first.name == second.name
            assert first.read_bytes() == second.read_bytes(), f"two builds of {first.name} differ"
        check(ROOT, built)
        text = recipe(ROOT, built[1])
        if what == "release":
            out = Path(rest[1])
            shutil.copytree(folder / "dist", out / "dist")
            (out / "recipe.yaml").write_text(text, encoding="utf-8")
            (out / "notes.md").write_text(notes(ROOT, version_of(ROOT)), encoding="utf-8")
            bill_of_materials(built[0], folder, out / "sbom.cdx.json")
        for path in built:
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
