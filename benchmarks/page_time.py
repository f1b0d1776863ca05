"""How soon a page shows the robot: from navigation to the first picture with it, in headless chromium.

    python benchmarks/page_time.py [MODEL] [--repeat 5]

WebGL runs on the processor here, which is the slowest case; a browser with a graphics processor needs less.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.viewer.browser import FLAGS, Opener, executable

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.viewer import view

SIZE = (640, 400)
DARK = 120
"""Robots have darker pixels than this, the floor and the sky have none."""


def main() -> None:
    """Measure."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?", default="arm6", help="a robot of the zoo, or a file")
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    robot = kt.load(given.model) if Path(given.model).exists() else kt.zoo.load(given.model)
    begun = time.perf_counter()
    with view(robot, port=0) as viewer, sync_playwright() as playwright:
        print(f"kt.view: {time.perf_counter() - begun:.2f} s")
        started = playwright.chromium.launch(executable_path=executable(), args=list(FLAGS))
        opener = Opener(started)
        seconds = []
        for _ in range(given.repeat):
            begun = time.perf_counter()
            with opener.page(viewer.url, None, SIZE) as tab:
                tab.picture_when(lambda picture: -float((picture.min(axis=-1) < DARK).sum()), at_most=-300.0)
                seconds.append(time.perf_counter() - begun)
        started.close()
    told = ", ".join(f"{x:.2f}" for x in seconds)
    print(f"{robot.name}: {told} s, median {statistics.median(seconds):.2f} s")


if __name__ == "__main__":
    main()
