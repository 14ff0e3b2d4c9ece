"""Where the raw tables may lie, and which hosts answer.

Only the standard library and PyYAML are imported here: the Snakefile needs both answers
while it is parsed. Nothing is read or verified beyond the registry itself.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

MIRROR_VARIABLE = "DPNOISE_DATA_MIRROR"
_VERDICT_LIFE = 60.0  # seconds for which a host's answer is remembered within a process
_verdicts: dict[tuple[str, int], tuple[bool, float]] = {}


def find_registry(registry: str | os.PathLike | None = None) -> Path:
    """Return the path of the registry: the one given, the repository's, or the folder's.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    repository = Path(__file__).resolve().parents[3]
    candidates = (
        [Path(registry)]
        if registry is not None
        else [repository / "data" / "registry.yaml", Path("data", "registry.yaml")]
    )
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"no registry of data sets at {' or '.join(str(path) for path in candidates)}"
    )


def read_yaml(path: Path) -> object:
    """Return the content of a YAML file, parsed once for each state of the file."""
    return _parse(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _parse(path: str, _mtime: int) -> object:
    with Path(path).open(encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def mirror_folder(mirror: str | os.PathLike | None) -> Path | None:
    """Return the mirror folder: the argument, else the environment's, else None.

    An empty string means 'no mirror', whatever the environment says.
    """
    chosen = os.environ.get(MIRROR_VARIABLE, "") if mirror is None else os.fspath(mirror)
    return Path(chosen) if chosen else None


def in_folder(table: str, files: Iterable[str], folder: Path) -> list[Path]:
    """Return the files of `folder` that may hold a table, best first.

    A table is known by the paths that the registry lists, by their base names, and by its
    own name with any extension, so that a file saved by hand is found.
    """
    listed = [Path(file) for file in files]
    relative = dict.fromkeys([*listed, *(Path(file.name) for file in listed)])
    paths = [folder / path for path in relative]
    paths += sorted(folder.glob(f"{table}.*"))
    return list(dict.fromkeys(path for path in paths if path.is_file()))


def host_of(url: str) -> tuple[str, int]:
    """Return host and port of an address."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def answering(urls: Iterable[str], *, timeout: float) -> set[tuple[str, int]]:
    """Return the hosts, with port, among those of `urls` that accept a connection.

    All hosts are asked at once and none is waited for longer than `timeout` seconds, name
    resolution included. Where a proxy is configured, it is asked to reach the host.
    """
    hosts = {host_of(url): urlsplit(url).scheme for url in urls}
    now = time.monotonic()
    asked = {}
    for (host, port), scheme in hosts.items():
        known = _verdicts.get((host, port))
        if known is None or now - known[1] > _VERDICT_LIFE:
            args = (host, port, scheme, timeout)
            asked[host, port] = threading.Thread(target=_ask, args=args, daemon=True)
            _verdicts[host, port] = (False, now)
    for thread in asked.values():
        thread.start()
    for thread in asked.values():
        thread.join(max(0.0, now + timeout - time.monotonic()))
    return {key for key in hosts if _verdicts[key][0]}


def _ask(host: str, port: int, scheme: str, timeout: float) -> None:
    """Record that a host answers, through the configured proxy where there is one."""
    proxy = None if proxy_bypass(host) else getproxies().get(scheme)
    try:
        target = host_of(proxy) if proxy else (host, port)
        with socket.create_connection(target, timeout) as connection:
            if proxy:
                request = f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
                connection.sendall(request.encode())
                if connection.recv(64).split(b" ")[1:2] != [b"200"]:
                    return
        _verdicts[host, port] = (True, time.monotonic())
    except (OSError, UnicodeError):
        return
