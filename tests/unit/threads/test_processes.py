"""Forks, Ctrl-C and the end of the interpreter, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
from kinetree.compiler.batch_pieces import call_in_pieces

X = np.arange(64.0)
helped = threading.Event()

def slow(x, out):
    if threading.current_thread().name == "kinetree helper":
        helped.set()
    time.sleep(0.002)
    np.copyto(out, x)

def call(function, threads=2):
    return call_in_pieces(function, [X], None, (0,), (), float, 1.0, threads)
"""


def output_of(code: str) -> str:
    """What a program prints. It must end by itself, and well."""
    process = subprocess.run(
        [sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, check=False, timeout=60
    )
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    return process.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_children_forked_while_other_threads_compute_have_helpers_of_their_own() -> None:
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later: a fork of a process with threads
ending = False
def busy():
    while not ending:
        call(slow, 3)
workers = [threading.Thread(target=busy) for _ in range(2)]
for worker in workers:
    worker.start()
for k in range(10):
    time.sleep(0.003)
    child = os.fork()
    if not child:
        signal.alarm(20)
        helped.clear()
        right = all((call(slow, 3) == X).all() for _ in range(3))
        os._exit(0 if right and helped.is_set() else 1)
    assert os.waitpid(child, 0)[1] == 0
ending = True
for worker in workers:
    worker.join()
print("ten children")
"""
    assert output_of(code) == "ten children"


def test_the_interpreter_ends_right_after_a_call() -> None:
    assert output_of("call(slow, 5); print(helped.is_set())") == "True"


def test_calls_at_the_very_end_of_the_interpreter_still_give_results() -> None:
    code = """
import atexit
atexit.register(lambda: print("first use at exit", (call(slow, 5) == X).all()))
class Late:
    def __del__(self, call=call, slow=slow, X=X, print=print):
        print("after exit", (call(slow, 5) == X).all())
late = Late()
"""
    assert output_of(code).splitlines() == ["first use at exit True", "after exit True"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows delivers no signal to a thread that waits")
def test_an_interrupted_caller_waits_for_running_pieces_and_drops_the_others() -> None:
    code = """
begun, ended = [], []
def interrupted(x, out):
    begun.append(x)
    if threading.current_thread() is threading.main_thread():
        helped.wait(20)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    helped.set()
    time.sleep(0.3)
    ended.append(x)
try:
    call(interrupted)
except KeyboardInterrupt:
    print("interrupted", len(begun), len(ended))
print((call(slow) == X).all())
"""
    assert output_of(code) == "interrupted 2 1\nTrue"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows delivers no signal to a thread that waits")
def test_a_caller_interrupted_while_it_waits_goes_on_waiting() -> None:
    code = """
ended = []
def interrupted(x, out):
    if threading.current_thread() is threading.main_thread():
        helped.wait(20)
    else:
        helped.set()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        ended.append(x)
try:
    call(interrupted)
except KeyboardInterrupt:
    print("interrupted", len(ended))
print((call(slow) == X).all())
"""
    assert output_of(code) == "interrupted 1\nTrue"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no limit on threads that a test could set")
def test_a_system_without_threads_to_give_computes_on_the_callers() -> None:
    code = """
def refused(self):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refused
print((call(slow, 4) == X).all(), helped.is_set())
"""
    assert output_of(code) == "True False"
