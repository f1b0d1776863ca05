"""Names of packages are imported when they are first asked for, whatever was imported before, in any thread."""

from __future__ import annotations

import subprocess
import sys

import pytest


def printed(code: str) -> str:
    """What code prints in a process of its own, which must end in time."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=100)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "first",
    [
        "import kinetree.algorithms.aba",
        "import kinetree.algorithms.aba as aba",
        "from kinetree.algorithms.aba import aba",
        "import kinetree.algorithms.forward_dynamics",  # which imports it from its module
        "from kinetree.algorithms import *",
        "import kinetree; kinetree.aba",
    ],
)
def test_a_name_that_a_module_shares_is_that_of_the_function(first: str) -> None:
    code = (
        "import kinetree.algorithms as rooms; from kinetree.algorithms import aba as one; print(one is rooms.aba, one)"
    )
    assert printed(f"{first}\n{code}").startswith("True <function aba")


def test_modules_are_found_below_a_package_as_before() -> None:
    code = """
import sys
import kinetree.algorithms.aba
from kinetree.algorithms import aba_derivatives
modules = sys.modules["kinetree.algorithms.aba"], sys.modules["kinetree.algorithms.aba_derivatives"]
print([module.__name__ for module in modules], kinetree.model.changes.__name__)
"""
    assert printed(code).endswith(
        "['kinetree.algorithms.aba', 'kinetree.algorithms.aba_derivatives'] kinetree.model.changes"
    )


def test_a_name_that_no_module_has_is_an_error_with_the_package_in_it() -> None:
    code = """
import kinetree.algorithms
try:
    kinetree.algorithms.abba
except AttributeError as error:
    print(error)
"""
    assert printed(code) == "module 'kinetree.algorithms' has no attribute 'abba'"


def test_an_import_statement_does_not_wait_for_a_thread_that_may_wait_for_its_module() -> None:
    """A thread that asks for a name holds the lock of such imports and waits for Python's lock of the module; another
    thread, in which an import statement runs the module, holds that lock and asks for names."""
    code = """
import threading
import kinetree
from kinetree.locks import importing
with importing:
    other = threading.Thread(target=__import__, args=("kinetree.functions.dynamics",), daemon=True)
    other.start()
    other.join(60)
    print(other.is_alive())
"""
    assert printed(code) == "False"


def test_threads_ask_for_names_and_import_modules_at_once() -> None:
    code = """
import sys, threading
import numpy.typing  # NumPy's own modules import each other in circles, which fails in several threads at once
import kinetree as kt
sys.setswitchinterval(1e-5)
modules = ["kinetree.functions.dynamics", "kinetree.sim", "kinetree.control", "kinetree.functions.rollouts"]
work = [lambda m=m: __import__(m) for m in modules] + [lambda n=n: getattr(kt, n) for n in kt.__all__[::7]]
failed = []
def run(one):
    try:
        one()
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in work]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
print(failed, any(thread.is_alive() for thread in threads))
"""
    assert printed(code) == "[] False"


def test_imports_of_others_are_made_while_names_are_noted() -> None:
    code = """
import sys, types
from kinetree.lazy_names import lazy_names
sys.modules["front"] = front = types.ModuleType("front")
exec('''
from kinetree.lazy_names import lazy_names
with lazy_names(__name__):
    from kinetree.files import reason
    exec("from math import pi", elsewhere := {})
__all__ = ["reason"]
''', vars(front))
print(front.elsewhere["pi"] > 3, "reason" in vars(front), front.reason.__module__)
"""
    assert printed(code) == "True False kinetree.files"
