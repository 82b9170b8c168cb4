"""The end of a program while daemon threads are inside the library, and sub-interpreters."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import submin as sm

PREPARE = """
import ctypes, sys, threading, time
import numpy as np, submin as sm
begun = threading.Event()
unary = np.random.default_rng(0).normal(size=(120, 120))
grid = sm.Problem(unary, [sm.GridCut(unary.shape, 0.4)])
members = ctypes.POINTER(ctypes.c_uint8)
@ctypes.CFUNCTYPE(ctypes.c_double, members, ctypes.c_int64, ctypes.c_void_p)
def concave(member, size, data):
    begun.set()
    return float(sum(member[:size]) ** 0.5)
def watched(record, minimizer):
    begun.set()
def work():
    while True:
        WORK
for _ in range(THREADS):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(float(sys.argv[1]))
"""

WORK = {
    "frank_wolfe": 'sm.minimize(grid, "frank_wolfe", callback=watched)',
    "rcdm": 'sm.minimize(grid, "rcdm", callback=watched)',
    "cyclic_sweeps": 'sm.minimize(grid, "cyclic_sweeps", blocks="matchings", callback=watched)',
    "max_flow": 'begun.set(); sm.minimize(grid, "max_flow")',
    "auto": "begun.set(); sm.minimize(grid)",
    "prox": "sm.prox(grid, callback=watched, tol=1e-300)",
    "verify": "begun.set(); sm.verify(grid, unary < 0)",
    "callback to Python": (
        "sm.minimize(sm.Problem(np.linspace(-1, 1, 9), [sm.Function.compiled(range(9), concave)]))"
    ),
}


def python(code, *arguments):
    environment = os.environ | {"PYTHONPATH": str(Path(sm.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, timeout=120, env=environment,
    )  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_daemon_threads_do_not_abort_the_exit(name):
    """The exit used to abort in five of five tries of Frank-Wolfe."""
    code = PREPARE.replace("WORK", WORK[name])
    for threads, wait in ((1, 0.0), (1, 0.03), (4, 0.01)):
        run = python(code.replace("THREADS", str(threads)), wait)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


SUBINTERPRETER = """
import _xxsubinterpreters as interpreters
interpreters.run_string(interpreters.create(), '''
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import numpy as np, submin as sm
    problem = sm.Problem([1.0, -3.0, 1.0], [sm.GridCut(3, 0.5)])
    print(sm.minimize(problem).value)
print(*(str(warning.message) for warning in caught if "submin" in str(warning.message)))
''')
"""


@pytest.mark.skipif(
    importlib.util.find_spec("_xxsubinterpreters") is None or sys.version_info >= (3, 12),
    reason="from Python 3.12 on, NumPy refuses sub-interpreters",
)
def test_a_sub_interpreter_uses_the_kernels_of_numpy():
    """Compiled kernels would wait for themselves there."""
    run = python(SUBINTERPRETER)
    value, warning = run.stdout.splitlines()
    assert (run.returncode, value) == (0, "-2.0")
    assert warning.endswith("they need the main interpreter, and this is a sub-interpreter")
    assert "Traceback" not in run.stderr
