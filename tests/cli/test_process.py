"""Real processes: the entry point, its imports, Ctrl-C, and terminals of all kinds."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import submin as sm

pytest.importorskip("typer")
ROOT = str(Path(sm.__file__).parents[1])
HEAVY = ("numpy", "matplotlib", "skimage", "sklearn", "scipy", "PIL")


def environment(**changes):
    paths = [ROOT, os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))} | changes


def python(*arguments, **changes):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True, text=True, encoding="utf-8", env=environment(**changes),
    )  # fmt: skip


def submin(*arguments, **changes):
    return python("-m", "submin", *arguments, **changes)


def test_version():
    run = submin("--version")
    assert (run.returncode, run.stdout) == (0, f"submin {sm.__version__}\n")


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "-h"], ["segment", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    code = f"""
import sys
from submin.cli import main
sys.argv = ["submin", *{arguments}]
try:
    main()
finally:
    print("heavy:", *(name for name in {HEAVY} if name in sys.modules))
"""
    run = python("-c", code)
    assert run.returncode == 0
    assert "Usage" in run.stdout
    assert run.stdout.splitlines()[-1] == "heavy:"


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra(package):
    code = f"import sys; sys.modules[{package!r}] = None; from submin.cli import main; main()"
    run = python("-c", code)
    assert run.returncode == 2
    assert run.stdout == ""
    assert package in run.stderr
    assert "pip install 'submin[cli]'" in run.stderr
    assert "Traceback" not in run.stderr


def test_unknown_command_and_option():
    for arguments in (["frobnicate"], ["solve"], ["solve", "x.npz", "--colour"]):
        run = submin(*arguments)
        assert run.returncode == 2
        assert run.stdout == ""
        assert "Traceback" not in run.stderr


@pytest.fixture
def slow_file(tmp_path):
    """Write a problem that conditional gradient steps do not finish in any test's time."""
    unary = np.random.default_rng(0).normal(size=(150, 150))
    path = tmp_path / "slow.npz"
    sm.Problem(unary, [sm.GridCut(unary.shape, 0.4)]).save(path)
    return path


def interrupted(*arguments):
    """Run a solve that would not end, press Ctrl-C once it is under way, return its JSON."""
    command = [
        sys.executable, "-m", "submin", *map(str, arguments),
        "--solver", "frank_wolfe", "--max-passes", "1000000000", "--json",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert "pass " in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "best answer so far" in errors
    assert "Traceback" not in errors
    return json.loads(output)


def test_ctrl_c_keeps_the_answer(slow_file, tmp_path):
    target = tmp_path / "result.npz"
    assert interrupted("solve", slow_file, "-o", target)["interrupted"] is True
    result = sm.Result.load(target)
    assert result.interrupted
    assert sm.verify(sm.Problem.load(target), result).value == result.value
    assert submin("verify", target).returncode == 0


def test_ctrl_c_keeps_the_mask(tmp_path):
    pytest.importorskip("skimage")
    image = pytest.importorskip("PIL.Image")
    photo = tmp_path / "noise.png"
    pixels = np.random.default_rng(0).integers(0, 256, (120, 160), dtype=np.uint8)
    pixels[40:80, 50:110] //= 2  # so that the mask is not empty, which a few passes would prove
    image.fromarray(pixels).save(photo)
    fields = interrupted(
        "segment", photo, "--box", "20,20,140,100", "--rounds", 1, "--smoothness", 1,
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert fields["interrupted"] is True
    assert fields["settled"] is False
    assert all(Path(file).is_file() for file in fields["files"].values())
    assert submin("verify", fields["files"]["result"]).returncode == 0


@pytest.fixture(scope="module")
def large_file(tmp_path_factory):
    """Write a problem that is solved at once and takes a while to save."""
    path = tmp_path_factory.mktemp("large") / "large.npz"
    sm.Problem(np.random.default_rng(0).normal(size=400_000)).save(path)
    return path


@pytest.mark.parametrize("moment", [0.0, 0.01, 0.03, 0.06, 0.1])
def test_ctrl_c_while_the_answer_is_written(large_file, tmp_path, moment):
    """What is printed is also saved: an interrupt waits for that."""
    target = tmp_path / "result.npz"
    command = [sys.executable, "-m", "submin", "solve", large_file, "-o", target, "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout.readline() == "{\n"
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    with process:
        output, errors = process.stdout.read(), process.stderr.read()
    assert process.returncode in (0, 130, -signal.SIGINT)
    assert "Traceback" not in errors
    value = json.loads("{" + output)["value"]
    assert [path.name for path in tmp_path.iterdir()] == ["result.npz"]
    assert sm.verify(sm.Problem.load(target), sm.Result.load(target)).value == value


def test_ctrl_c_at_any_moment(large_file, tmp_path):
    """From the start to the end of the process: the old file or a complete new one."""
    target, rng = tmp_path / "result.npz", np.random.default_rng(0)
    sm.Problem([1.0]).save(target)
    for _ in range(12):
        code = "print(flush=True); from submin.cli import main; main()"
        command = [sys.executable, "-c", code, "solve", large_file, "-o", target, "-q"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        )
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 1.5))
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode in (0, 130, -signal.SIGINT)
        assert [path.name for path in tmp_path.iterdir()] == ["result.npz"]
        assert sm.Problem.load(target).n in (1, 400_000)


def limited(limit, *arguments):
    """Run the command line with a limit of the system."""
    code = (
        f"import resource; resource.setrlimit(resource.{limit}); import submin.cli as c; c.main()"
    )
    return python("-c", code, *arguments)


@pytest.mark.parametrize("options", [["--json"], ["--quiet"], []])
def test_a_disk_without_room(large_file, tmp_path, options):
    target = tmp_path / "result.npz"
    target.write_bytes(b"old")
    run = limited("RLIMIT_FSIZE, (10**6, 10**6)", "solve", large_file, "-o", target, *options)
    assert run.returncode == 2
    assert "File too large; the answer (OPTIMAL, value -" in run.stderr
    assert "Traceback" not in run.stderr
    assert ("OPTIMAL" in run.stdout) == (options != ["--quiet"])
    assert [path.name for path in tmp_path.iterdir()] == ["result.npz"]
    assert target.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/null"])
def test_devices_as_output(problem_file, tmp_path, name):
    run = subprocess.run(
        [sys.executable, "-m", "submin", "solve", problem_file, "-q", "-o", name],
        capture_output=True, env=environment(),
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, b"")
    (tmp_path / "copy.npz").write_bytes(run.stdout)
    assert name == "/dev/null" or sm.Result.load(tmp_path / "copy.npz").value


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", [["solve"], ["verify"], ["verify", "--json"]])
def test_an_answer_that_can_not_be_printed(optimal_file, command):
    """Exit code 1 would say that a claim is refuted."""
    command = [sys.executable, "-m", "submin", *command, str(optimal_file)]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True,
                             env=environment())  # fmt: skip
    assert run.returncode == 2
    assert run.stderr.endswith("submin: No space left on device\n")
    assert "Traceback" not in run.stderr
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True,
                         env=environment())  # fmt: skip
    os.close(writer)
    assert run.returncode == 2
    assert run.stderr.endswith("submin: Broken pipe\n")


def test_a_fault_of_the_library_has_an_exit_code_of_its_own(optimal_file):
    code = """
import sys, submin.solve.verification
from submin.cli import main
def broken(*_):
    raise ZeroDivisionError("a fault of the library")
submin.solve.verification.verify_set = broken
main()
"""
    run = python("-c", code, "verify", optimal_file)
    assert run.returncode == 70
    assert run.stderr.startswith("Traceback")
    assert run.stderr.endswith("ZeroDivisionError: a fault of the library\n")


@pytest.mark.parametrize(
    "changes", [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"PYTHONIOENCODING": "ascii"}, {}]
)
def test_piped_output_is_plain(changes, optimal_file):
    run = submin("verify", optimal_file, **changes)
    assert run.returncode == 0
    assert "\x1b" not in run.stdout
    assert run.stdout.isascii()


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_a_terminal_of_any_width_shows_every_digit(width, optimal_file):
    run = submin("verify", optimal_file, FORCE_COLOR="1", NO_COLOR="1", COLUMNS=str(width))
    assert run.returncode == 0
    text = re.sub("\x1b[^m]*m", "", run.stdout)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    digits = text.translate(str.maketrans("", "", "│ \n"))
    assert f"{sm.Result.load(optimal_file).value:.12g}" in digits


def test_any_file_name_can_be_printed(problem_file, tmp_path):
    target = tmp_path / "größe [bold] ∑.npz"
    run = submin("solve", problem_file, "-o", target, PYTHONIOENCODING="ascii")
    assert run.returncode == 0
    assert "[bold]" in run.stdout
    assert target.is_file()


def test_module_and_json(optimal_file):
    run = submin("verify", optimal_file, "--json")
    assert json.loads(run.stdout)["holds"] is True
    assert run.stderr == ""
