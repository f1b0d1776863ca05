"""The cost of a page that shows a robot while it moves: the processor time of `viewer.set(q)` and of its server.

    python benchmarks/viewing.py [--bodies 40] [--rate 60] [--seconds 10] [--clients 1]

A program sets a configuration so many times per second, all joints of which move. Clients read what is sent, as a
browser does, in processes of their own. What is told is the time of the processor that the program and the server in
it take, relative to one core; so other work of the machine changes it little.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import time
from multiprocessing.synchronize import Event

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.viewer import view


def tree(bodies: int) -> kt.Model:
    """A free body with four chains of boxes."""
    builder = kt.ModelBuilder(f"a tree of {bodies} bodies")
    builder.add_body("trunk", kt.solids.box(0.3, 0.2, 0.5, mass=10.0))
    for k in range(bodies - 1):
        parent = "trunk" if k < 4 else f"link {k - 4}"
        builder.add_body(f"link {k}", kt.solids.box(0.05, 0.05, 0.2, mass=0.5))
        at = [0.2 * (-1.0) ** k, 0.1 * (-1.0) ** (k // 2), 0.0] if k < 4 else [0.0, 0.0, -0.2]
        builder.add_joint(
            f"joint {k}", kt.Revolute([[1, 0, 0], [0, 1, 0]][k // 4 % 2]), parent, f"link {k}", kt.lie.placement(at)
        )
    return builder.build(floating_base=True)


def read(port: int, begins: Event) -> None:
    """A client that reads and forgets."""
    import viser
    from websockets.sync.client import connect

    protocol: list[str] = [f"viser-v{viser.__version__}"]
    with connect(f"ws://127.0.0.1:{port}", subprotocols=protocol, max_size=None, compression=None) as page:  # type: ignore[arg-type]
        page.recv()
        begins.set()
        for _ in page:
            pass


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=40)
    parser.add_argument("--rate", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=1)
    given = parser.parse_args()

    robot = tree(given.bodies)
    start, v = robot.neutral(), np.concatenate((np.full(6, 0.2), np.ones(robot.nv - 6)))
    with view(robot, port=0) as viewer:
        context = multiprocessing.get_context("spawn")
        connected = [context.Event() for _ in range(given.clients)]
        port = int(viewer.url.rpartition(":")[2])
        readers = [context.Process(target=read, args=(port, event), daemon=True) for event in connected]
        for reader in readers:
            reader.start()
        for event in connected:
            event.wait(30.0)
        viewer.set(start)
        time.sleep(1.0)
        set_in, count = 0.0, 0
        began, used = time.perf_counter(), time.process_time()
        while (now := time.perf_counter()) - began < given.seconds:
            viewer.set(robot.integrate(start, v * 0.5 * math.sin(2.0 * (now - began))))
            set_in += time.perf_counter() - now
            count += 1
            time.sleep(max(0.0, began + count / given.rate - time.perf_counter()))
        wall, used = time.perf_counter() - began, time.process_time() - used
        for reader in readers:
            reader.terminate()
    print(f"{robot.name}, nq = {robot.nq}; Python {sys.version.split()[0]}, clients: {given.clients}")
    print(f"updates per second: {count / wall:.1f}, each in {set_in / count * 1e3:.2f} ms of the program's time")
    print(f"processor time, program and server: {100.0 * used / wall:.1f} % of a core")


if __name__ == "__main__":
    main()
