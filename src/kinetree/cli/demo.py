"""`kinetree demo`: a legged robot walks in the browser, first as it was recorded, then by physics computed here."""

from __future__ import annotations

import threading

import typer

from kinetree.cli import options
from kinetree.cli.interruption import Interruption
from kinetree.cli.output import print_lines
from kinetree.cli.view import announce
from kinetree.files import write_file

__all__ = ["FIRST", "demo"]

FIRST = """
  kinetree demo                   a legged robot walks on hills in your browser
  kinetree simulate               a ragdoll falls on a slope: trajectory and energy balance
  kinetree view my_robot.urdf     your own robot in the browser (pip install 'kinetree[view]')
  kinetree train hopper           a policy of your own (pip install 'kinetree[learning]')
  kinetree find mass matrix       functions and pages about something
  kinetree docs                   all pages, in your browser

kinetree --help lists all commands."""


def demo(context: typer.Context, html: options.Html = None, browser: options.Browser = None) -> None:
    """Watch a legged robot walk on hills in the browser, and steer it, until Ctrl-C.

    The page begins with a recorded motion. The physics is compiled meanwhile, and takes over after a few seconds.
    """
    from kinetree.cli.demo_server import Server, page, walk  # Python's web server takes time to import

    if html is not None:
        write_file(html, lambda file: file.write(page()))
        print_lines(f"wrote {html}")
        return
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Interruption.of(context).outcome = "; the page is closed"
        announce("a robot that walks on hills", server.url, browser)
        print_lines("Without a browser here, kinetree demo --html FILE.html writes the recorded motion as a page.")
        print_lines(FIRST.replace(FIRST.splitlines()[1], "Next:"))
        walk(server)
