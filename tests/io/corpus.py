"""Every malformed or hostile file of these tests, with the message expected of each, over all formats.

Most are the tables of the tests of each reader; those here are what these do not have: paths and links, devices, and
XML as such. `run` loads and checks all of them in one process that is watched.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.io.bad_mjcf import BESIDE, MJCF

__all__ = ["Case", "cases", "write_cases"]

SECONDS = 5.0
OUTSIDE = "outside"
"""The folder beside those of the cases, from which nothing may be opened."""


class Case(NamedTuple):
    """Files in a folder of their own, of which one is loaded."""

    files: dict[str, str | bytes]
    """Contents by path; a path that ends in "@" is a symbolic link with this target."""
    opened: str
    message: str
    """Part of the error; "" if the file is loaded, whatever it is worth."""


def cases() -> dict[str, Case]:
    """All cases by name."""
    return dict(_all())


def _all() -> Iterator[tuple[str, Case]]:
    from tests.io.sdf.test_bad_sdf import BAD, RING
    from tests.io.test_bad_urdf import CASES, NOT_XML
    from tests.io.test_text_form import REFUSED

    for name, spoilt in CASES.items():
        yield f"URDF: {name}", _one("arm.urdf", spoil(spoilt.old, spoilt.new), spoilt.message)
    for name, (data, message) in NOT_XML.items():
        yield f"XML: {name}", _one("arm.urdf", data, message)
    for name, (text, message) in BAD.items():
        yield f"SDF: {name}", Case({"robot.sdf": text, **RING}, "robot.sdf", message)
    for k, (text, message) in enumerate(REFUSED):
        if text.lstrip().startswith("{"):
            yield f"text form: {k}", _one("robot.json", text, message.replace("line ", "", 1))
    yield from PATHS.items()
    yield from XML.items()
    for name, (text, message) in MJCF.items():
        yield f"MJCF: {name}", Case({"robot.xml": text, **BESIDE}, "robot.xml", message)


def _one(name: str, data: str | bytes, message: str) -> Case:
    return Case({name: data}, name, message)


def spoil(old: str, new: str) -> str:
    from tests.io.arm import spoil as spoilt

    return spoilt(old, new)


def _mesh(address: str, files: dict[str, str | bytes]) -> Case:
    geometry = f'<geometry><mesh filename="{address}"/></geometry>'
    text = f'<robot name="r"><link name="a"><visual>{geometry}</visual></link></robot>'
    return Case({"robots/r.urdf": text, **files}, "robots/r.urdf", "")


def _include(uri: str, message: str, files: dict[str, str | bytes] | None = None) -> Case:
    text = f'<sdf version="1.9"><model name="m"><include><uri>{uri}</uri></include></model></sdf>'
    return Case({"robots/m.sdf": text, **(files or {})}, "robots/m.sdf", message)


SECRET = '<sdf version="1.9"><model name="secret"><link name="a"/></model></sdf>'
NESTED = "<a>" * 600 + "</a>" * 600

PATHS: dict[str, Case] = {
    "a mesh above the folder": _mesh("../../outside/secret.stl", {}),
    "a mesh by an absolute path": _mesh("/etc/passwd", {}),
    "a mesh by a file address": _mesh("file:///etc/passwd", {}),
    "a mesh of a package that would be the root": _mesh("package:///etc/passwd", {}),
    "a mesh of a package above": _mesh("package://../../outside/secret.stl", {}),
    "a mesh through a link out of the folder": _mesh("hand.stl", {"robots/hand.stl@": "../../outside/secret.stl"}),
    "a mesh in a folder that is a link": _mesh("meshes/secret.stl", {"robots/meshes@": "../../outside"}),
    "a mesh that is a link to itself": _mesh("hand.stl", {"robots/hand.stl@": "hand.stl"}),
    "a mesh that is a device": _mesh("hand.stl", {"robots/hand.stl@": "/dev/zero"}),
    "a mesh that is a pipe": _mesh("pipe.stl", {"robots/pipe.stl|": ""}),
    "a mesh that is a folder": _mesh("hand.stl", {"robots/hand.stl/inside": ""}),
    "a mesh on a server": _mesh("http://localhost:9/hand.stl", {}),
    "a mesh with a null in its name": _mesh("a%00.stl", {}),
    "a mesh that claims four thousand million triangles": _mesh(
        "hand.stl", {"robots/hand.stl": bytes(80) + b"\xff\xff\xff\xff" + bytes(100)}
    ),
    "a mesh of numbers that are none": _mesh("hand.obj", {"robots/hand.obj": "v nan inf 1e999\nv - + .\n" * 50}),
    "a mesh that is text": _mesh("hand.stl", {"robots/hand.stl": "solid x\nvertex 1 2\nendsolid"}),
    "an include above the folder": _include("../../outside/secret.sdf", "secret.sdf"),
    "an include by an absolute path": _include("/etc/passwd", "/etc/passwd"),
    "an include by a file address": _include("file:///etc/passwd", "/etc/passwd"),
    "an include through a link": _include("in.sdf", "in.sdf", {"robots/in.sdf@": "../../outside/secret.sdf"}),
    "an include of a device": _include("in.sdf", "in.sdf", {"robots/in.sdf@": "/dev/zero"}),
    "an include of a pipe": _include("in.sdf", "in.sdf", {"robots/in.sdf|": ""}),
    "an include of itself": _include("m.sdf", "in a circle"),
    "an include of a file that includes it": _include(
        "b.sdf",
        "in a circle",
        {"robots/b.sdf": '<sdf version="1.9"><model name="b"><include><uri>m.sdf</uri></include></model></sdf>'},
    ),
    "an include on a server": _include("https://localhost:9/m.sdf", "https://localhost:9/m.sdf"),
    "a folder": Case({"robots/inside": ""}, "robots", "this is a folder"),
    "a pipe": Case({"r.urdf|": ""}, "r.urdf", "not a regular file"),
    "a device": Case({"r.urdf@": "/dev/zero"}, "r.urdf", "not a regular file"),
    "a link to nowhere": Case({"r.urdf@": "gone.urdf"}, "r.urdf", "No such file"),
    "a link to itself": Case({"r.urdf@": "r.urdf"}, "r.urdf", "cannot be read"),
}  # fmt: skip

XML: dict[str, Case] = {
    "billions of laughs": _one(
        "r.urdf",
        '<!DOCTYPE r [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY a{k} "{f"&a{k - 1 or str()};" * 10}">' for k in range(1, 10))
        + ']><robot name="&a9;"/>',
        "document type",
    ),
    "an entity in a parameter": _one(
        "r.urdf", '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><robot name="r"/>', "document type"
    ),
    "an external entity in SDF": _one(
        "m.sdf", '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><sdf version="1.9">&a;</sdf>', "document type"
    ),
    "an address for a document type in SDF": _one(
        "m.sdf", '<!DOCTYPE sdf SYSTEM "http://localhost:9/a.dtd"><sdf version="1.9"/>', "document type"
    ),
    "nesting in URDF": _one("r.urdf", f"<robot name='r'>{NESTED}</robot>", "deep"),
    "nesting in SDF": _one("m.sdf", f"<sdf version='1.9'>{NESTED}</sdf>", "deep"),
    "UTF-16 without a mark": _one("r.urdf", '<robot name="r"/>'.encode("utf-16-le"), "has no bodies"),
    "UTF-16 that is cut off": _one("r.urdf", '<robot name="r"/>'.encode("utf-16")[:-3], "well-formed"),
    "an encoding that is another": _one(
        "r.urdf", b'<?xml version="1.0" encoding="utf-16"?><robot name="r"/>', "well-formed"
    ),
    "UTF-7": _one("r.urdf", b'<?xml version="1.0" encoding="utf-7"?><robot name="r"/>', "encoding"),
    "nulls after the end": _one("r.urdf", b"<robot name='r'><link name='a'/></robot>\0\0\0", "well-formed"),
    "a null in a name": _one("r.urdf", b"<robot name='r'><link name='a\0b'/></robot>", "well-formed"),
    "a control character by its number": _one("r.urdf", "<robot name='&#1;'/>", "well-formed"),
    "half a character": _one("r.urdf", b"<robot name='\xe2\x82'/>", "the text is not UTF-8"),
    "a lone surrogate": _one("r.urdf", b"<robot name='\xed\xa0\x80'/>", "the text is not UTF-8"),
    "an open comment": _one("r.urdf", "<robot name='r'><!-- <link name='a'/></robot>", "well-formed"),
    "two dashes in a comment": _one("r.urdf", "<robot name='r'><!-- a -- b --><link name='a'/></robot>", "well-formed"),
    "an open section of text": _one("r.urdf", "<robot name='r'><![CDATA[ </robot>", "well-formed"),
    "an open instruction": _one("r.urdf", "<robot name='r'><?a </robot>", "well-formed"),
    "a second declaration": _one("r.urdf", "<robot name='r'><?xml version='1.0'?></robot>", "well-formed"),
    "an attribute without quotes": _one("r.urdf", "<robot name=r/>", "well-formed"),
    "an attribute without value": _one("r.urdf", "<robot name/>", "well-formed"),
    "a tag in an attribute": _one("r.urdf", "<robot name='<a>'/>", "well-formed"),
    "a tag that begins with a digit": _one("r.urdf", "<1robot/>", "well-formed"),
    "a schema location": _one(
        "r.urdf",
        "<robot name='r' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' "
        "xsi:schemaLocation='a http://localhost:9/a.xsd'><link name='a'/></robot>",
        "",
    ),
    "an inclusion of XML": _one(
        "r.urdf",
        "<robot name='r' xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='file:///etc/passwd'/>"
        "<link name='a'/></robot>",
        "",
    ),
    "a style sheet": _one("r.urdf", "<?xml-stylesheet href='file:///etc/passwd'?><robot><link name='a'/></robot>", ""),
    "another root": _one("r.urdf", "<robots><robot name='r'/></robots>", "not a robot file that kinetree can read"),
    "a root in a namespace": _one("r.urdf", "<u:robot xmlns:u='u' name='r'/>", "not a robot file"),
    "macros": _one(
        "r.urdf", "<robot name='r'><xacro:macro name='m'/><link name='a'/></robot>", "has not been expanded"
    ),
    "Python in a value": _one("r.urdf", "<robot name='r'><link name='a'><inertial><mass value=\"${__import__('os')}\"/>"
                         "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>",
                         "is a xacro expression"),
    "a text form in Latin 1": _one("r.json", '{"kinetree": "é"}'.encode("latin-1"), "the text is not UTF-8"),
    "a text form in UTF-16": _one("r.json", '{"kinetree": "model"}'.encode("utf-16"), "r.json"),
    "a text form that is cut off": _one("r.json", '{"kinetree": "model", "version": 1, "name', "this is not JSON"),
}  # fmt: skip


def write_cases(folder: Path) -> Path:
    """Write the files of all cases, each in a folder of its own, and a list of what to load; return the list."""
    (folder / OUTSIDE).mkdir()
    (folder / OUTSIDE / "secret.stl").write_bytes(b"secret")
    (folder / OUTSIDE / "secret.sdf").write_text(SECRET, encoding="utf-8")
    listed = []
    for k, (name, case) in enumerate(cases().items()):
        own = folder / f"case{k}"
        for path, data in case.files.items():
            target = own / path.rstrip("@|")
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.endswith("@"):
                target.symlink_to(data if isinstance(data, str) else data.decode())
            elif path.endswith("|"):
                os.mkfifo(target)
            else:
                target.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        listed.append({"name": name, "folder": str(own), "path": str(own / case.opened), "message": case.message})
    result = folder / "cases.json"
    result.write_text(json.dumps(listed), encoding="utf-8")
    return result


class _Watch:
    """What this process opens outside a folder, and what it starts or connects to."""

    def __init__(self) -> None:
        self.folder: str | None = None
        self.seen: list[str] = []
        python = {os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *sys.path) if path}
        self._python = tuple(path.rstrip(os.sep) + os.sep for path in python)
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None:
            return
        if event in ("open", "os.listdir", "os.scandir"):
            if isinstance(arguments[0], int):
                return
            real = os.path.realpath(os.fsdecode(arguments[0]))
            is_code = real.startswith(self._python) and real.endswith((".py", ".pyc", ".so"))
            is_folder_of_code = event != "open" and (real + os.sep).startswith(self._python)
            if not (is_code or is_folder_of_code or (real + os.sep).startswith(self.folder)):
                self.seen.append(f"{event} {real}")
        elif event.startswith(
            ("socket.", "subprocess.", "os.exec", "os.system", "os.posix_spawn", "os.remove", "ctypes.dlopen")
        ):
            self.seen.append(event)


def run(listed: str) -> None:
    """Load and check every case; print one JSON object per case, and the most memory that was used."""
    import kinetree as kt

    for format_ in ("urdf", "sdf", "mjcf"):  # import what the readers need before they are watched
        __import__(f"kinetree.io.{format_}.reader")
    warnings.simplefilter("ignore")
    watch = _Watch()
    signal.signal(signal.SIGALRM, _too_late)
    for case in json.loads(Path(listed).read_text(encoding="utf-8")):
        watch.seen.clear()
        watch.folder = case["folder"] + os.sep
        start = time.process_time()
        signal.alarm(60)
        said, problems, found = "", [], []
        try:
            kt.load(case["path"])
        except kt.errors.ModelError as error:
            said, problems = str(error), [list(each) for each in error.problems]
        found = [list(each) for each in kt.check(case["path"]).errors]
        signal.alarm(0)
        seconds = time.process_time() - start
        watch.folder = None
        print(
            json.dumps(
                {**case, "said": said, "problems": problems, "found": found, "seconds": seconds, "opened": watch.seen}
            )
        )
    # `ru_maxrss` would be the parent's, if that has had more.
    (kilobytes,) = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    print(int(kilobytes) / 2**20)


def _too_late(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    run(sys.argv[1])
