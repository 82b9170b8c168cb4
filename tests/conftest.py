"""Settings and fixtures that all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadline: no test depends on time.  `--hypothesis-profile=explore` looks for new examples.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile("repeatable")

# A job that a script starts in the background ignores Ctrl-C, and so do its own processes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the public instances: SUBMIN_DATA, or ../shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SUBMIN_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"the public instances are not in {folder}; SUBMIN_DATA names their folder")
    return folder
