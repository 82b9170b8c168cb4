"""Files that are written whole or not at all."""

from __future__ import annotations

import io
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EINVAL
from os import PathLike
from typing import BinaryIO

STREAMS = (0, 1, 2)
"""Descriptors of standard input, output and error."""


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` only once it is complete.

    The new file is written beside the old one and then renamed.  An interrupt, an error or a full
    disk leaves the old file as it was, and nothing beside it; a kill leaves at worst a hidden file
    ``.submin-*``.  The permissions are those of the old file, or those of any new file.  Symbolic
    links are followed.  Devices, pipes and the standard streams are written to directly.

    Raises
    ------
    OSError
        If the file can not be written; ``filename`` is `path`.
    KeyboardInterrupt
        After an interrupt, also if the writing library raised another exception meanwhile.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "greeting")
    ...     with whole_file(path) as file:
    ...         _ = file.write(b"hello")
    ...     path.read_bytes(), len(list(path.parent.iterdir()))
    (b'hello', 1)
    """
    name, handled = os.fsdecode(path), sys.exception()
    try:
        old = _status(name)
        if _is_direct(name, old):
            with io.BufferedWriter(_Stream(name, "wb")) as stream:
                yield stream
        else:
            with _replacement(os.path.realpath(name), old) as file:
                yield file
    except Exception as error:
        if _follows_interrupt(error, handled):  # zipfile raises ValueError where it can not close
            raise KeyboardInterrupt from error
        if isinstance(error, OSError) and error.errno is not None:
            error.filename, error.filename2 = name, None
        raise


def _follows_interrupt(error: BaseException | None, handled: BaseException | None) -> bool:
    """Say whether an interrupt led to an error, other than one that was handled before."""
    while error is not None and error is not handled:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def require_writable(path: str | PathLike[str]) -> None:
    """Raise the `OSError` of ``whole_file`` before there is anything to write.

    Devices and pipes are not opened, since their readers would notice.
    """
    name = os.fsdecode(path)
    if _is_direct(name, _status(name)) and os.access(name, os.W_OK) and not os.path.isdir(name):
        return
    with suppress(_NothingWrittenError), whole_file(name):
        raise _NothingWrittenError


class _NothingWrittenError(Exception):
    """Ends ``whole_file`` without a file."""


def _status(name: str) -> os.stat_result | None:
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None


class _Stream(io.FileIO):
    """A file without positions, which devices pretend to have."""

    def seekable(self) -> bool:
        """Say that it is written from the start to the end."""
        return False

    def tell(self) -> int:
        """Refuse to tell a position."""
        raise io.UnsupportedOperation("a stream has no positions")


def _is_direct(name: str, old: os.stat_result | None) -> bool:
    """Say whether to open the name itself: a rename would put a file in place of a device."""
    if old is None:
        return not os.path.basename(name)  # an empty name or a missing folder: open refuses it
    if not stat.S_ISREG(old.st_mode):
        return True
    if os.path.realpath(os.path.dirname(name)).startswith("/proc/"):
        return True  # a descriptor by its number, such as /dev/fd/3
    return any(_is_open_as(descriptor, old) for descriptor in STREAMS)


def _is_open_as(descriptor: int, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), status)
    except OSError:  # the stream is closed
        return False


@contextmanager
def _replacement(target: str, old: os.stat_result | None) -> Iterator[BinaryIO]:
    """Open a new file beside `target`, and rename it in the end."""
    if old is not None:
        os.close(os.open(target, os.O_WRONLY))  # a plain write would need this permission
    temporary = os.path.join(os.path.dirname(target), f".submin-{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            if old is not None:
                _keep_permissions(file.fileno(), old)
            yield file
            file.flush()
            _store(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _keep_permissions(descriptor: int, old: os.stat_result) -> None:
    """Give a new file the owner and the mode of the old one, as far as the system allows."""
    new = os.fstat(descriptor)
    if hasattr(os, "fchown") and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):  # after the owner, whose change clears bits of the mode
        with suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _store(descriptor: int) -> None:
    """Wait until the data are on the disk: a rename before that may survive a crash alone."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != EINVAL:  # the file system has no such call
            raise
