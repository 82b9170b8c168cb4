"""Real processes: the entry point, its imports, Ctrl-C, and terminals of all kinds."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
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
    output, errors = process.communicate()
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
