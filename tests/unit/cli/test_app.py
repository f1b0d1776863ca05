"""The command line as a whole: help, exit codes, errors, interruption."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinetree import zoo
from kinetree.cli.app import app

from .conftest import Command, without_announcements


def test_version(kinetree: Command) -> None:
    result = kinetree("--version")
    assert result.code == 0
    assert result.out.startswith("kinetree 0.")


@pytest.mark.parametrize("command", [(), ("simulate",), ("info",), ("convert",), ("export",), ("bench",)])
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(kinetree: Command, command: tuple[str, ...], flag: str) -> None:
    result = kinetree(*command, flag)
    assert result.code == 0
    assert "Usage: kinetree" in result.out
    for name in command or ("simulate", "info", "convert", "export", "bench"):
        assert name in result.out


def test_python_runs_the_package_as_the_command() -> None:
    ran = subprocess.run([sys.executable, "-m", "kinetree", "--version"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("kinetree 0.")


def test_a_command_ends_without_a_last_search_for_garbage() -> None:
    """Python calls last the function registered first, just before its own search through all that it holds."""
    code = (
        "import atexit, gc\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000))\n"
        "from kinetree.cli import main\n"
        "main(['--version'])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[1:] == ["True"]


def test_the_zoo_is_listed_with_a_line_per_robot(kinetree: Command) -> None:
    result = kinetree("zoo")
    assert result.code == 0
    lines = [line.split() for line in result.out.splitlines()]
    for name in zoo.names():
        robot = zoo.load(name)
        base = "floating" if robot.floating_base else "fixed"
        (line,) = (words for words in lines if words[:1] == [name])
        assert line[1:4] == [base, str(robot.nq), str(robot.nv)]
        assert float(line[4]) == pytest.approx(robot.mass, rel=1e-3)


def test_the_zoo_as_json(kinetree: Command) -> None:
    result = kinetree("zoo", "--json")
    robots = {name: zoo.load(name) for name in zoo.names()}
    assert json.loads(result.out) == [
        {"name": name, "floating_base": x.floating_base, "nq": x.nq, "nv": x.nv, "mass": x.mass}
        for name, x in robots.items()
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_be_given_completion(shell: str, tmp_path: Path) -> None:
    """The script that --show-completion prints runs the command with such an environment."""
    code = "from kinetree.cli import main; main()"

    def complete(words: str) -> str:
        how = {"_KINETREE_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": words, "COMP_WORDS": words}
        how |= {"COMP_CWORD": str(words.count(" ")), "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        ran = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **how},
            cwd=tmp_path,
        )
        assert ran.stderr == ""
        return ran.stdout

    assert "simulate" in complete("kinetree simu")
    (tmp_path / "double.urdf").touch()
    offered = complete("kinetree info dou")
    assert "double_pendulum" in offered
    assert "double.urdf" in offered
    assert "urdf" not in complete("kinetree info ./dou")
    assert "--duration" in complete("kinetree simulate --du")
    assert "semi_implicit_euler" in complete("kinetree simulate --integrator se")
    assert "compliant" in complete("kinetree simulate --contact com")
    assert "--seed" in complete("kinetree simulate --contact nonsense --see")
    assert "rnea" in complete("kinetree export arm7 --function rn")
    assert "hopper" in complete("kinetree train hop")
    assert "mjcf" in complete("kinetree convert arm7 arm --format mj")


def test_the_script_of_completion_can_be_printed(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    result = kinetree("--show-completion")
    assert (result.code, "_KINETREE_COMPLETE=complete_bash" in result.out) == (0, True)


@pytest.mark.parametrize("command", ["simulate", "view", "identify", "export", "compare", "check", "plot", "sweep"])
def test_the_help_groups_options_and_says_what_they_take(kinetree: Command, command: str) -> None:
    lines = kinetree(command, "--help").out.splitlines()
    assert any("─ Output ─" in line for line in lines)
    for line in lines:
        assert "--" not in line or not any(word in line for word in (" <str> ", " <path> ", " TEXT ", " PATH ")), line


def test_without_a_command_there_is_a_short_welcome(kinetree: Command) -> None:
    result = kinetree()
    lines = result.out.splitlines()
    assert (result.code, result.err, len(lines) <= 12) == (0, "", True)
    known = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}
    assert {line.split()[1] for line in lines if line.startswith("  kinetree ")} < known


def test_an_unknown_command_is_wrong_usage(kinetree: Command) -> None:
    result = kinetree("simulat")
    assert result.code == 2
    assert "simulat" in result.err


@pytest.mark.parametrize("command", ["simulate", "info", "bench"])
def test_a_robot_that_is_nowhere(kinetree: Command, command: str) -> None:
    result = kinetree(command, "humanoit")
    assert result.code == 1
    expected = (
        "error: humanoit: there is no such file, and the zoo has no robot of that name: did you mean 'humanoid'?\n"
    )
    assert result.err == expected


@pytest.mark.parametrize("command", ["simulate", "info", "bench"])
def test_a_broken_file_is_reported_with_its_line(kinetree: Command, command: str) -> None:
    Path("bad.urdf").write_text('<robot name="r">\n<link name="a"/>\n<link name="a"/>\n</robot>', encoding="utf-8")
    result = kinetree(command, "bad.urdf")
    assert result.code == 1
    assert result.err.startswith("error: bad.urdf:3")
    assert "Traceback" not in result.err


def test_a_folder_is_no_robot(kinetree: Command) -> None:
    Path("robots").mkdir()
    result = kinetree("info", "robots")
    assert result.code == 1
    assert "this is a folder" in result.err


def test_a_file_on_disk_comes_before_the_zoo(kinetree: Command) -> None:
    Path("arm6").write_text('<robot name="mine"><link name="only"/></robot>', encoding="utf-8")
    assert "'mine'" in kinetree("info", "arm6").out


def test_suspicious_files_are_warned_of_in_a_line_each(kinetree: Command) -> None:
    Path("r.urdf").write_text(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint></robot>',
        encoding="utf-8",
    )
    result = kinetree("convert", "r.urdf", "r.json")
    assert result.code == 0
    (line,) = result.err.splitlines()
    assert line.startswith("warning: r.urdf:1")
    assert "'j'" in line


FOLLOWER = (
    '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    '<visual><geometry><mesh filename="package://leg/b.stl"/></geometry></visual></link>'
    '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><mimic joint="k"/></joint>'
    "</robot>"
)


@pytest.mark.parametrize("command", [("info",), ("simulate", "--duration", "0.01")], ids=" ".join)
def test_a_file_whose_followers_have_no_leader_can_be_read_without_them(
    kinetree: Command, command: tuple[str, ...]
) -> None:
    Path("r.urdf").write_text(FOLLOWER, encoding="utf-8")
    result = kinetree(*command, "r.urdf")
    assert result.code == 1
    assert "or --no-mimic on the command line" in result.err
    assert kinetree(*command, "r.urdf", "--no-mimic").code == 0


@pytest.mark.parametrize("command", [("info",), ("simulate", "--duration", "0.01"), ("bench", "-n", "1")], ids=" ".join)
def test_every_command_that_reads_a_robot_looks_for_packages_of_ros_if_asked(
    kinetree: Command, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def load(*_: object, ros_packages: bool, **__: object) -> None:
        seen.append(ros_packages)
        raise MemoryError

    monkeypatch.setattr("kinetree.io.load.load", load)
    Path("r.urdf").write_text(FOLLOWER, encoding="utf-8")
    kinetree(*command, "r.urdf")
    kinetree(*command, "r.urdf", "--ros-packages")
    assert seen == [False, True]


@pytest.mark.parametrize("debug", [False, True])
def test_an_unexpected_error_asks_for_a_report(kinetree: Command, monkeypatch: pytest.MonkeyPatch, debug: bool) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the sky fell")

    monkeypatch.setattr("kinetree.zoo.names", fail)
    result = kinetree(*(("--debug",) if debug else ()), "info", "arm6")
    assert result.code == 1
    assert "internal error: RuntimeError: the sky fell. This is a fault of kinetree: please report it" in result.err
    assert ("Traceback" in result.err) is debug


def test_debug_shows_the_traceback_of_a_refusal_too(kinetree: Command) -> None:
    result = kinetree("--debug", "info", "humanoit")
    assert result.code == 1
    assert "Traceback" in result.err
    assert "error: humanoit: there is no such file" in result.err


def test_out_of_memory_is_said_in_a_line(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("kinetree.sim.simulate", fail)
    result = kinetree("simulate", "arm6")
    assert (result.code, result.err.startswith("error: out of memory")) == (1, True)


def test_an_interruption_ends_with_130(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kinetree.sim.simulate", interrupt)
    result = kinetree("simulate", "arm6")
    assert (result.code, result.err, result.out) == (130, "interrupted\n", "")


def in_a_process(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = in_a_process("from kinetree.cli import main; main(['info', 'humanoid'])")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as stderr:
        assert stderr.read() == ""
    assert process.wait() == 141


@pytest.mark.skipif(sys.platform == "win32", reason="the shell of Windows closes no streams")
@pytest.mark.parametrize(
    ("arguments", "streams", "code", "said"),
    [
        ("info arm6", ">&-", 0, ""),
        ("info arm6", "<&- >&- 2>&-", 0, ""),
        ("info humanoit", ">&- 2>/dev/full", 1, ""),
        ("info arm6", ">/dev/full", 1, "error: standard output cannot be written: No space left on device\n"),
        ("--help", "| true; exit ${PIPESTATUS[0]}", 141, ""),
        ("simulate arm6 --duration 0.01", ">&-", 0, ""),
    ],
)
def test_streams_that_are_closed_full_or_left(
    arguments: str, streams: str, code: int, said: str, tmp_path: Path
) -> None:
    if "/dev/full" in streams and not Path("/dev/full").exists():
        pytest.skip("the system has no device that is always full")
    command = f"{sys.executable} -c 'from kinetree.cli import main; main()' {arguments} {streams}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, without_announcements(done.stderr)) == (code, "", said)
    assert sorted(os.listdir(tmp_path)) == (
        ["arm6.motion.png", "arm6.npz", "arm6.png"] if "simulate" in arguments else []
    )


@pytest.mark.parametrize("words", [[], ["--help"]])
def test_welcome_and_help_need_neither_compiler_nor_plotting_nor_servers(words: list[str]) -> None:
    unwanted = ("llvmlite", "matplotlib", "lxml", "pinocchio", "mujoco", "http.server", "kinetree.model.robot")
    code = (
        "import sys\nfrom kinetree.cli import main\n"
        f"try: main({words})\n"
        "except SystemExit: pass\n"
        f"print([m for m in {unwanted} if m in sys.modules])"
    )
    process = in_a_process(code)
    out, err = process.communicate()
    assert err == ""
    assert out.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "command",
    [
        "simulate --duration -1", "simulate --duration nan", "simulate -t inf", "simulate --dt 0",
        "simulate --rtol 0 --integrator rk45", "simulate --atol -1 --integrator rk45", "simulate --rtol 1e-6",
        "simulate --angle 1.6", "simulate --angle nan", "simulate --spread nan", "simulate --film film.txt",
        "simulate --speed 0 --view", "identify log.csv --cutoff 0", "identify log.csv --resample -1",
        "identify log.csv --bridge nan", "identify log.csv --prior-deviation 0", "bench -n 0",
        "identify log.csv --plot picture.gif", "plot --samples one", "plot --out picture.gif",
    ],
)  # fmt: skip
def test_a_wrong_value_ends_a_command_before_it_reads_a_file(kinetree: Command, command: str) -> None:
    name, *options = command.split()
    result = kinetree(name, *options, "nowhere.urdf")
    assert result.code == 2
    assert any(word in result.err for word in (*options, ".gif"))
    assert "nowhere.urdf" not in result.err
    assert "No such file" not in result.err


@pytest.mark.parametrize("option", ["--duration", "--dt", "--rtol", "--atol", "--angle"])
def test_a_wrong_number_ends_the_command_before_anything_is_loaded(option: str) -> None:
    code = f"""
import sys
from kinetree.cli.app import main
try:
    main(["simulate", "{option}", "nan"])
except SystemExit as end:
    print(end.code, [name for name in ("kinetree.sim", "kinetree.model.robot", "llvmlite") if name in sys.modules])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert result.stdout == "2 []\n"
    assert "not nan" in result.stderr
