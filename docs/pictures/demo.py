"""The files of `kinetree demo`, and README's film of its page, from a training of the task quadruped_rough.

    kinetree train quadruped_rough --steps 12000000 --out runs/quadruped_rough
    python docs/pictures/demo.py runs/quadruped_rough

It writes the policy's weights, of 16 bits each, and the scene with a recorded motion into src/kinetree/cli/demo_files,
and then films the page in chromium (`pip install playwright pillow`): docs/pictures/demo.webp.
"""

from __future__ import annotations

import base64
import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.appearance import looks_of
from kinetree.cli.demo_server import ALONE, FILES, page, walker
from kinetree.joints import Fixed, Revolute

SCALE = 5000  # rows and vertices are whole numbers of 16 bits, this many per metre or radian
SECONDS = 20.0
SIZE, BEGIN, END, FPS, QUALITY = (480, 270), 4.0, 9.0, 12.5, 60  # of the film
_FRAME = """t => {
    requestAnimationFrame = () => 0;
    next(1000 * t);
    return document.querySelector("canvas").toDataURL("image/png").split(",")[1];
}"""


def text(array: Any, dtype: str) -> str:
    """Whole numbers for the page."""
    return base64.b64encode(np.round(array).astype(dtype).tobytes()).decode()


def column_by_column(matrix: Any) -> list[float]:
    """A matrix for the page."""
    return [float(x) for x in np.round(np.asarray(matrix), 6).T.ravel()]


def scene(robot: kt.Model, q: NDArray[Any], dt: float) -> dict[str, Any]:
    """The robot and its ground for the page: bodies from their parents, meshes, parts on bodies, and the motion."""
    names = ["world", *(joint.child for joint in robot.parts.joints)]
    bodies = []
    for joint in robot.parts.joints[1:]:  # the first one is free
        axis, place = [0.0, 0.0, 0.0], 0
        if isinstance(joint.kind, Revolute):
            a = joint.kind.axis
            axis, place = [float(a.x), float(a.y), float(a.z)], list(robot.q_names).index(joint.name)
        elif not isinstance(joint.kind, Fixed):
            raise TypeError(f"the page does not know the joint {joint.name}")
        bodies.append([names.index(joint.parent), column_by_column(joint.placement.matrix), axis, place])
    meshes: list[list[str]] = []
    parts = []
    for part in looks_of(robot).parts:
        surface = part.surface
        mesh = [text(SCALE * surface.vertices, "<i2"), text(127 * surface.normals, "i1"), text(surface.faces, "<u2")]
        if mesh not in meshes:
            meshes.append(mesh)
        color = np.round(surface.colors[0, :3] / 255.0, 3).tolist()
        parts.append([names.index(part.body), column_by_column(part.placement), meshes.index(mesh), color])
    rows = text(SCALE * q, "<i2")
    return {"scale": SCALE, "dt": dt, "bodies": bodies, "parts": parts, "meshes": meshes, "rows": rows}


def walk() -> tuple[kt.Model, NDArray[Any], float]:
    """The robot, its motion while nobody steers (steps, nq), and the time between rows."""
    env, policy, weights = walker()
    worlds, rows = env.reset(seed=0), []
    for _ in range(round(SECONDS / env.dt)):
        state = env.parts_of_state(worlds.state)
        state["command"][:] = ALONE
        rows.append(state["q"].copy())
        worlds = env.step(worlds.state, policy(weights, worlds.observation))
        assert not worlds.terminated
    return env.robot, np.array(rows), env.dt


def film(path: Path) -> None:
    """Film the page."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    width, height = SIZE
    with sync_playwright() as playwright:
        flags = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        tab = browser.new_page(viewport={"width": 2 * width, "height": 2 * height})
        tab.set_content(page().decode())
        frames = []
        for t in np.arange(BEGIN, END, 1.0 / FPS):
            picture = base64.b64decode(tab.evaluate(_FRAME, t))
            frames.append(Image.open(io.BytesIO(picture)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS))
        browser.close()
    options: dict[str, Any] = {"duration": round(1000.0 / FPS), "loop": 0, "quality": QUALITY, "method": 6}
    frames[0].save(path, save_all=True, append_images=frames[1:], **options)


def main(folder: str) -> None:
    run = kt.learning.load_run(folder)
    np.save(FILES / "policy.npy", run.weights.astype(np.float16))
    (FILES / "scene.json").write_text(json.dumps(scene(*walk()), separators=(",", ":")) + "\n")
    film(Path(__file__).with_suffix(".webp"))


if __name__ == "__main__":
    main(*sys.argv[1:])
