"""Files are written whole or not at all: interrupts, kills, full disks, links and devices."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import submin as sm
from submin._files import require_writable, whole_file

OLD, NEW = b"old" * 1000, b"new" * 50_000


ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(sm.__file__).parents[1])}


def python(code, *arguments, **settings):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    settings = {"capture_output": True, "text": True, "timeout": 300} | settings
    return subprocess.run(command, env=ENVIRONMENT, **settings)


def write(path, data=NEW):
    with whole_file(path) as file:
        file.write(data)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_and_an_old_one(tmp_path):
    for data in (OLD, NEW, b""):
        write(tmp_path / "file", data)
        assert (tmp_path / "file").read_bytes() == data
        assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("failure", [ValueError, OSError, KeyboardInterrupt, MemoryError])
def test_an_error_leaves_the_old_file(tmp_path, failure):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    with pytest.raises(failure), whole_file(path) as file:  # noqa: PT012
        file.write(NEW)
        raise failure
    assert path.read_bytes() == OLD
    assert names(tmp_path) == ["file"]


def test_an_interrupt_stays_one(tmp_path):
    """Libraries clean up after an interrupt, and may fail at that."""
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "file"):  # noqa: PT012
        try:
            raise KeyboardInterrupt
        except BaseException:
            raise ValueError("not closed")  # noqa: B904


def test_an_error_after_an_interrupt_stays_one(tmp_path):
    """As in a program that saves what it has when it is interrupted."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(ValueError, match="another"), whole_file(tmp_path / "file"):
            raise ValueError("another") from None
    assert names(tmp_path) == []


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions_are_those_of_a_plain_write(tmp_path, mask):
    before = os.umask(mask)
    try:
        (tmp_path / "plain").write_bytes(NEW)
        write(tmp_path / "whole")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"plain": 0o666 & ~mask, "whole": 0o666 & ~mask}
    for mode in (0o600, 0o640, 0o755):
        (tmp_path / "whole").chmod(mode)
        write(tmp_path / "whole")
        assert stat.S_IMODE((tmp_path / "whole").stat().st_mode) == mode


def test_systems_without_owners_and_modes(tmp_path, monkeypatch):
    for name in ("fchown", "fchmod"):  # Windows has neither
        monkeypatch.delattr(os, name, raising=False)
    (tmp_path / "file").write_bytes(OLD)
    write(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == NEW


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    os.chown(path, 1234, 4321)
    path.chmod(0o640)
    write(path)
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 4321, 0o640)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_must_not_be_written(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(0o444)
    for attempt in (write, require_writable):
        with pytest.raises(PermissionError):
            attempt(path)
    assert path.read_bytes() == OLD


def test_symbolic_links_stay(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for target in ("file", "new"):
        link = tmp_path / f"link to {target}"
        link.symlink_to(folder / target)
    (folder / "file").write_bytes(OLD)
    for target in ("file", "new"):
        write(tmp_path / f"link to {target}")
        assert (tmp_path / f"link to {target}").is_symlink()
        assert (folder / target).read_bytes() == NEW
    assert names(folder) == ["file", "new"]


def test_devices_and_pipes_are_written_to(tmp_path):
    write("/dev/null")
    sm.Problem([1.0]).save("/dev/null")
    require_writable("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo(tmp_path / "pipe")
    require_writable(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        write(tmp_path / "pipe")
        assert reader.stdout.read() == NEW
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output(tmp_path, name):
    code = (
        "import sys; from submin._files import require_writable, whole_file\n"
        "require_writable(sys.argv[1])\n"
        "with whole_file(sys.argv[1]) as file: file.write(b'new')"
    )
    assert python(code, name).stdout == "new"
    with open(tmp_path / "file", "wb") as file:
        run = python(code, name, capture_output=False, stdout=file)
    assert run.returncode == 0
    assert (tmp_path / "file").read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize(
    "name", ["a" * 300, "missing/file", "", "folder", "folder/", "new/", "file/below", "loop"]
)
def test_names_that_can_not_be_written(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").write_bytes(OLD)
    Path("loop").symlink_to("loop")
    before = names(tmp_path)
    for attempt in (write, require_writable):
        with pytest.raises(OSError) as refusal:  # noqa: PT011 (any of its kinds)
            attempt(name)
        assert refusal.value.filename == name
        assert refusal.value.strerror
    assert names(tmp_path) == before


@pytest.mark.parametrize("name", ["a" * 255, "größe [bold] ∑", "-o", "two\nlines"])
def test_names_that_can(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    require_writable(name)
    assert names(tmp_path) == []
    write(name)
    assert Path(name).read_bytes() == NEW


def test_require_writable_changes_nothing(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    before = path.stat()
    require_writable(path)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


LIMITED = """
import resource, signal, sys
import numpy as np, submin as sm
from submin._files import whole_file
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
path, case = sys.argv[1:]
noise = np.random.default_rng(0).normal(size=10_000)
try:
    if case == "archive":
        sm.Problem(noise).save(path)
    else:
        with whole_file(path) as file:
            file.write(noise.tobytes())
except OSError as error:
    print(error.filename == path, error.strerror)
"""


@pytest.mark.parametrize("case", ["archive", "bytes"])
@pytest.mark.parametrize("old", [True, False])
def test_a_disk_without_room(tmp_path, case, old):
    path = tmp_path / "file.npz"
    if old:
        path.write_bytes(OLD)
    run = python(LIMITED, path, case)
    assert run.stdout == "True File too large\n"
    assert run.stderr == ""
    assert names(tmp_path) == (["file.npz"] if old else [])
    assert not old or path.read_bytes() == OLD


INTERRUPTED = """
import os, signal, sys, time
import numpy as np, submin as sm
path, tries = sys.argv[1], int(sys.argv[2])
signal.signal(signal.SIGALRM, signal.default_int_handler)
sys.unraisablehook = lambda _: None  # what an interrupt stops in a destructor
rng = np.random.default_rng(0)
old, new = sm.Problem(rng.normal(size=20_000)), sm.Problem(rng.normal(size=20_000))
began = time.perf_counter()
for _ in range(5):
    old.save(path)
duration = (time.perf_counter() - began) / 5
hits = 0
for k in range(tries):
    before = sm.Problem.load(path).unary.tobytes()
    chosen = (old, new)[k % 2]
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, duration))
        chosen.save(path)
        time.sleep(duration)
    except KeyboardInterrupt:
        pass
    after = sm.Problem.load(path).unary.tobytes()
    assert after in (before, chosen.unary.tobytes())
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)], os.listdir()
    hits += after != chosen.unary.tobytes()
print(hits)
"""


def test_interrupts_at_random_moments(tmp_path):
    """A signal at any moment leaves the old archive or the new one, and nothing beside it."""
    run = python(INTERRUPTED, tmp_path / "file.npz", 200)
    assert run.stderr == ""
    assert int(run.stdout) > 0


def test_kills_at_random_moments(tmp_path):
    """A kill leaves the old archive or the new one, and at worst a hidden file."""
    code = """
import sys, numpy as np, submin as sm
problems = [sm.Problem(np.random.default_rng(k).normal(size=100_000)) for k in (0, 1)]
problems[0].save(sys.argv[1])
print("begun", flush=True)
while True:
    for problem in problems:
        problem.save(sys.argv[1])
"""
    path, rng = tmp_path / "file.npz", np.random.default_rng(0)
    known = [np.random.default_rng(k).normal(size=100_000).tobytes() for k in (0, 1)]
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", code, path], stdout=subprocess.PIPE,
            env=ENVIRONMENT,
        )  # fmt: skip
        assert process.stdout.readline() == b"begun\n"
        time.sleep(rng.uniform(0.0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert sm.Problem.load(path).unary.tobytes() in known
    assert all(name == "file.npz" or name.startswith(".submin-") for name in names(tmp_path))


def writers():
    """Every public function that writes a file of a name."""
    picture = np.zeros((4, 5, 3), dtype=np.uint8)
    problem = sm.Problem([1.0, -1.0])
    yield "problem.npz", problem.save
    yield "result.npz", sm.minimize(problem).save
    try:
        from submin.vision.pictures import save_picture
    except ImportError:
        return
    yield "picture.png", lambda path: save_picture(picture, path)
    yield "picture.jpg", lambda path: save_picture(picture, path)


def test_every_writer_replaces_whole_files(tmp_path, monkeypatch):
    """A writer that opened its name itself would leave an empty file where no rename works."""

    def no_rename(*_):
        raise OSError(28, "No space left on device")

    for name, writer in writers():
        path = tmp_path / name
        writer(path)
        before = path.read_bytes()
        assert before
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", no_rename)
            with pytest.raises(OSError, match="No space left"):
                writer(path)
        assert path.read_bytes() == before
    assert not any(name.startswith(".") for name in names(tmp_path))


def test_no_other_module_opens_a_file_to_write():
    package = Path(sm.__file__).parent
    forbidden = ("write_text", "write_bytes", '"wb"', '"w"', "'w'", ".savez_compressed(path")
    for path in package.rglob("*.py"):
        if path.name != "_files.py":
            text = "".join(line for line in io.StringIO(path.read_text()) if ">>>" not in line
                           and "..." not in line)  # fmt: skip
            assert not [word for word in forbidden if word in text], path
