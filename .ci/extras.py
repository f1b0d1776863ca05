"""Each extra alone: a wheel in a fresh environment with one of its extras runs the feature that this is for.

    python .ci/extras.py dist/kinetree-0.2.0-py3-none-any.whl [EXTRA …]

Afterwards the wheel is uninstalled, and nothing of it may be left but its cache. Needs uv.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = {
    "casadi": "casadi.md",
    "coacd": "print(kt.contact.with_convex_parts(kt.load('step.xml')))",
    "control": "print(kt.control.quadratic_program(np.eye(2), np.ones(2), solver='daqp').x)",
    "dask": "dask.md",
    "gymnasium": "learning_gymnasium.md",
    "identify": "identification.md",
    "jax": "jax.md",
    "learning": "subprocess.run([sys.executable, *'-m kinetree train cart_pole --steps 20000'.split()], check=True)",
    "mesh": "print(kt.solids.mesh_file('step.off', density=1000.0))",
    "pandas": "print(kt.simulate(kt.zoo.load('cart_pole'), duration=0.1).to_dataframe())",
    "plot": "kt.simulate(kt.zoo.load('cart_pole'), duration=0.1).plot('plot.png')",
    "rsl-rl": "learning_rsl_rl.md",
    "stable-baselines3": "learning_stable_baselines3.md",
    "torch": "torch.md",
    "view": "m = kt.simulate(kt.zoo.load('ragdoll'), duration=0.1); m.save_html('page.html'); m.film('film.mp4')",
    "xacro": "print(kt.load('arm.xacro', xacro=True))",
}
"""The code that tries an extra: a statement, or the first program of a page of the installed package."""
START = "import os, subprocess, sys\nfrom pathlib import Path\nimport numpy as np\nimport kinetree as kt\n"
CORNERS = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))]
SIDES = [(0, 3, 1), (1, 3, 2), (3, 5, 4), (0, 5, 3)]
FACES = [*SIDES, *((6 + a, 6 + c, 6 + b) for a, b, c in SIDES)]
FACES += [f for k in range(6) for f in ((k, (k + 1) % 6, k + 6), ((k + 1) % 6, (k + 1) % 6 + 6, k + 6))]
ROWS = [" ".join(map(str, row)) for row in CORNERS], [" ".join(map(str, row)) for row in FACES]
FILES = {
    "arm.xacro": "<robot xmlns:xacro='http://www.ros.org/wiki/xacro' name='arm'><link name='l${1 + 1}'/></robot>",
    "step.off": "\n".join(["OFF", f"{len(CORNERS)} {len(FACES)} 0", *ROWS[0], *(f"3 {row}" for row in ROWS[1])]),
    "step.xml": f"<mujoco><asset><mesh name='step' vertex='{' '.join(ROWS[0])}' face='{' '.join(ROWS[1])}'/></asset>"
    "<worldbody><body><freejoint/><geom type='mesh' mesh='step'/></body></worldbody></mujoco>",
}


def try_extra(wheel: Path, extra: str, folder: Path) -> str:
    """Returns the end of what went wrong, or nothing."""
    environment, cache = folder / "environment", folder / "cache"
    python = environment / "bin" / "python"
    pins = folder / "pins.txt"
    pins.write_text("torch==2.13.0\n")  # of later ones the index has builds for CUDA only, as in pyproject.toml
    for name, text in FILES.items():
        (folder / name).write_text(text)
    made = [["uv", "venv", "-q", environment], ["uv", "pip", "install", "-q", "--python", python]]
    made[1] += ["-c", pins, f"{wheel}[{extra}]" if extra else wheel]
    code = RUNS.get(extra, "print(kt.aba(kt.zoo.load('cart_pole'), [0, 0], [0, 0], [0, 0]))")
    if code.endswith(".md"):
        page = f"(Path(kt.__file__).parent / 'docs' / {code!r}).read_text()"
        code = f"exec({page}.split('```python')[1].split('```')[0], {{'__name__': 'page'}})"
    made += [[python, "-c", START + code], ["uv", "pip", "uninstall", "-q", "--python", python, "kinetree"]]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KINETREE"))}
    for command in made:
        ran = subprocess.run(
            [*map(str, command)], cwd=folder, capture_output=True, text=True,
            env=own | {"XDG_CACHE_HOME": str(cache), "UV_CACHE_DIR": uv_cache(), "MPLBACKEND": "agg"},
        )  # fmt: skip
        if ran.returncode:
            return f"{' '.join(map(str, command))[:200]}\n{ran.stderr[-2000:]}"
    left = [path for path in environment.rglob("*kinetree*") if path.is_file() or not path.is_symlink()]
    others = [path for path in cache.iterdir() if path.name != "kinetree"] if cache.is_dir() else []
    others = [path for path in others if path.name not in ("matplotlib", "fontconfig", "mesa_shader_cache")]
    return "".join(f"left behind: {path}\n" for path in left + others)


def uv_cache() -> str:
    return subprocess.run(["uv", "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()


def main(wheel: str, *extras: str) -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*RUNS} == {*known} - {"test", "bench", "site"}, "an extra without a program that tries it"
    failed = []
    for extra in extras or ("", *RUNS):
        with tempfile.TemporaryDirectory() as folder:
            problem = try_extra(Path(wheel).resolve(), extra, Path(folder))
        print(f"{extra or 'no extra'}: {problem or 'as it should be'}", flush=True)
        failed += [extra] * bool(problem)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
