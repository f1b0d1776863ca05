"""`kinetree train` and `kinetree play`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt

from .conftest import Command, without_announcements
from .test_command_line import KEYS

pytest.importorskip("torch")
TRAIN = "train", "cart_pole", "max_steps=20", "--worlds", "16", "--set", "horizon=8", "--set", "hidden=[8]"


def test_a_training_is_shown_and_continued(kinetree: Command) -> None:
    result = kinetree(*TRAIN, "--steps", "256", "--evaluate-every", "0")
    assert (result.code, without_announcements(result.err)) == (0, "")
    first, *_, last, advice = result.out.splitlines()
    assert first.startswith("time ")
    assert ", steps 128, return " in first
    assert last == "run of cart_pole with ppo: 256 steps in 2 iterations, runs/cart_pole"
    assert advice == "kinetree play runs/cart_pole shows it"
    again = kinetree(*TRAIN, "--steps", "256")
    assert again.code == 2
    assert "there is a training of cart_pole in runs/cart_pole already" in again.err
    rest = kinetree(*TRAIN, "--steps", "384", "--evaluate-every", "0", "--resume", "--quiet")
    assert (rest.code, rest.out) == (0, "")
    run = kt.learning.load_run("runs/cart_pole")
    assert (run.about["iterations"], run.env.max_steps, run.policy.sizes) == (3, 20, (5, 8, 1))
    shown = kinetree("play", "runs/cart_pole", "--motion", "m.npz", "--strip", "s.png", "--html", "p.html")
    assert shown.code == 0
    assert shown.out.startswith("return ")
    assert shown.out.endswith("wrote m.npz\nwrote s.png\nwrote p.html\n")
    motion = kt.load_trajectory("m.npz")
    np.testing.assert_array_equal(motion.q, run.play().q)
    assert motion.time[-1] == pytest.approx(0.4)
    assert Path("s.png").stat().st_size > 1000


def test_another_algorithm(kinetree: Command) -> None:
    small = "--set", "directions=2", "--set", "best=1", "--steps", "80", "--json", "-o", "here"
    trained = kinetree("train", "cart_pole", "max_steps=20", "--algorithm", "ars", *small)
    document = json.loads(trained.out)
    assert (trained.code, list(document)) == (0, KEYS["train"])
    assert document["last"]["steps"] == document["steps"] == 80
    played = json.loads(kinetree("play", "here", "-n", "3", "--json").out)
    assert list(played) == KEYS["play"]
    assert [len(played[name]) for name in KEYS["play"]] == [3, 3, 0]
    several = kinetree("play", "here", "-n", "3", "--motion", "m.npz")
    assert "of 3 episodes on average" in several.out
    assert kt.load_trajectory("m.npz").shape == (3,)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("train", "cart_poll"), "there is no task 'cart_poll'; the tasks are 'cart_pole', "),
        (("train", "cart_pole", "max_steps"), "'max_steps' is not an option of the form name=value"),
        (("train", "cart_pole", "--set", "horizn=3"), "PPO has no setting 'horizn'"),
        (("play", "nothing"), "there is no training in nothing"),
    ],
)
def test_wrong_usage(kinetree: Command, arguments: tuple[str, ...], expected: str) -> None:
    result = kinetree(*arguments)
    assert result.code in (1, 2)
    assert expected in " ".join(result.err.replace("│", " ").split())
    assert not Path("runs").exists()
