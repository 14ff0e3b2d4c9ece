"""Where a ledger lives and who may charge it: the memory of one process, or a file for several.

A ledger in memory belongs to the process that made it. A copy in another process, of a fork or by
pickle, would count what is spent there and nowhere else, so that it refuses to be charged. A ledger
in a file may be charged by all who can write the file: each charge holds a lock on the file, reads
it again, and replaces it as a whole.

One lock covers the check of a release and its record. The draw need not be inside: it follows its
charge, adds nothing to the ledger, and what was charged stays charged if the draw fails.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from dpnoise._validation import Problems
    from dpnoise.privacy.odometer.ledger import Piece

_WAIT, _POLL = 600.0, 0.01  # seconds to wait for the lock on a file, and between two looks at it
_SHARED = (
    "a budget in a file (Budget.create, Budget.open) may be charged by several processes; "
    "to_json and from_json move a budget"
)
_forks = [0]  # how many lie between this process and the first one, as numbers of processes recur


def _count_fork() -> None:
    _forks[0] += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """What tells this process from its parents."""
    return os.getpid(), _forks[0]


class _Guard:
    """A lock for the threads of one process, which a thread may hold once only."""

    def __init__(self) -> None:
        self.process = _process()
        self._lock, self._held = RLock(), False

    def __enter__(self) -> None:
        """Hold it; RuntimeError in a thread that holds it already."""
        self._lock.acquire()
        if self._held:
            self._lock.release()
            message = (
                "budget: expected one charge after another, got one from within another of the "
                "same thread, as of a signal handler; nothing was spent by the inner one"
            )
            raise RuntimeError(message)
        self._held = True

    def __exit__(self, *_: object) -> None:
        """Let it go."""
        self._held = False
        self._lock.release()


class Memory:
    """The memory of one process, for the original or for a copy."""

    path: Path | None = None

    def __init__(self, *, original: bool = True) -> None:
        self._guard, self._original = _Guard(), original

    def refusal(self) -> str:
        """Why a ledger may not be charged here, or nothing."""
        if not self._original:
            got = "a copy (by copy, pickle or another process)"
            return (
                f"budget: expected the original, whose entries are all there are, got {got}; "
                + (_SHARED)
            )
        here, there = _process(), self._guard.process
        if here != there:
            return (
                f"budget: expected process {there[0]}, which made it, got process {here[0]}, a "
                f"fork in which it is a copy; {_SHARED}"
            )
        return ""

    def charging(self) -> AbstractContextManager[None]:
        """The lock under which a release is checked and recorded."""
        return self._guard

    def read(self) -> bytes | None:
        """What a file says, as to which there is none."""
        return None

    def write(self, text: Callable[[list[Piece]], str]) -> bytes | None:  # noqa: ARG002
        """Nothing is written."""
        return None


class LedgerFile:
    """A file, by its path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = _Guard()
        self._known: list[Piece] = []

    def refusal(self) -> str:
        """Nothing: whoever can write the file may charge its ledger."""
        return ""

    @contextmanager
    def charging(self) -> Iterator[None]:
        """The lock under which a release is checked and recorded, for threads and processes.

        Raises a RuntimeError if another process holds it for too long, or it cannot be had.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415  (for those who use files)

        if self._guard.process != _process():  # of a fork, with threads of its own
            self._guard = _Guard()
        name = f"{self.path}.lock"
        with self._guard:
            lock = FileLock(name)
            try:
                lock.acquire(timeout=_WAIT, poll_interval=_POLL)
            except Timeout as error:
                message = (
                    f"budget: path: expected the lock {name!r} within {_WAIT:g} seconds, which "
                    "another process holds; nothing was spent"
                )
                raise RuntimeError(message) from error
            except OSError as error:
                raise self._error("locked", error) from error
            try:
                yield
            finally:
                lock.release()

    def read(self) -> bytes:
        """What the file says; RuntimeError if it cannot be read."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise self._error("read", error) from error

    def write(self, text: Callable[[list[Piece]], str]) -> bytes:
        """Replace what the file says, as a whole; RuntimeError if that fails, and nothing changed.

        It is on the disk when this returns.
        """
        found = text(self._known).encode()
        draft = Path(f"{self.path}.new")  # there is one writer at a time
        try:
            draft.unlink(missing_ok=True)  # of a process that was killed
            with draft.open("xb") as file:
                file.write(found)
                file.flush()
                os.fsync(file.fileno())
            if self.path.exists():
                shutil.copymode(self.path, draft)
            draft.replace(self.path)
            self._sync_folder()
        except OSError as error:
            raise self._error("written", error) from error
        return found

    def _sync_folder(self) -> None:
        """Put the new name on the disk, where a folder can be opened."""
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _error(self, verb: str, error: OSError) -> RuntimeError:
        return RuntimeError(
            f"budget: path: expected a ledger that can be {verb}, got {str(self.path)!r}: "
            f"{error.strerror or error}"
        )


def read_path(problems: Problems, path: object, *, new: bool) -> Path:
    """The path of a ledger that is there, or of a new one; problems are recorded."""
    expected = (
        "a new file, as Budget.open goes on with one that is there"
        if new
        else ("a file that Budget.create made")
    )
    try:
        found = Path(path).resolve()  # type: ignore[arg-type]
        good = not found.exists() and found.parent.is_dir() if new else found.is_file()
    except (TypeError, ValueError, OSError, RuntimeError):  # no path, or one that leads in circles
        found, good = Path(), False
    problems.require(good, "path", expected, path if isinstance(path, str) else repr(path))
    return found
