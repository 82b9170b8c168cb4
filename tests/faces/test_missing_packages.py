"""What a face needs is named by its extra where it is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

HIDE = "import sys; sys.modules[{name!r}] = None; "


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("sklearn", "import submin.learn", "pip install 'submin[learn]'"),
        ("scipy.io", "from submin.files import read_matlab; read_matlab(sys.executable)",
         "pip install 'submin[files]'"),
        ("scipy.sparse", "from submin.files import read_sparse; read_sparse(sys.executable)",
         "pip install 'submin[files]'"),
    ],
)  # fmt: skip
def test_the_error_names_the_extra(name, code, words):
    run = subprocess.run(
        [sys.executable, "-c", HIDE.format(name=name) + code], capture_output=True, text=True
    )
    assert run.returncode == 1
    assert "ImportError: " in run.stderr.splitlines()[-1]
    assert words in run.stderr.splitlines()[-1]


def test_files_and_graphs_need_no_package():
    """What is not asked for is not imported."""
    code = (
        "import submin as sm, sys; sm.files.read; sm.Cut.from_pandas({'source': [0], 'target': [1],"
        "'weight': [2.0]}); print(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy", "sklearn", "networkx", "pandas", "igraph"} & set(run.stdout.split())
