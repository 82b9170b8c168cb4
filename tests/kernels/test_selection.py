"""Which kernel set is active."""

import os
import subprocess
import sys

import pytest

ACTIVE = "from submin import kernels; print(kernels.active.__name__)"
WITHOUT_NATIVE = "import sys; sys.modules['submin._native'] = None; "


def run(program, choice, warnings="error"):
    environment = dict(os.environ, SUBMIN_KERNELS=choice)
    command = [sys.executable, "-W", warnings, "-c", program]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("choice", "module"), [("", "native"), ("native", "native"), ("reference", "reference")]
)
def test_environment_variable(choice, module):
    if module == "native":
        pytest.importorskip("submin.kernels.native")
    assert run(ACTIVE, choice).stdout.strip() == f"submin.kernels.{module}"


def test_unknown_choice():
    result = run(ACTIVE, "cuda")
    assert result.returncode != 0
    assert "SUBMIN_KERNELS must be 'native' or 'reference', not 'cuda'" in result.stderr


def test_missing_native_module_warns_once_and_falls_back():
    result = run(WITHOUT_NATIVE + ACTIVE, "", warnings="always")
    assert result.stdout.strip() == "submin.kernels.reference"
    assert result.stderr.count("RuntimeWarning") == 1


def test_reference_needs_no_native_module():
    assert run(WITHOUT_NATIVE + ACTIVE, "reference").returncode == 0
