"""A real SLURM of two nodes on this machine, for the tests: munge, one controller, two daemons.

All are children of the process that starts them, so that none is left behind. There is no
accounting database, as on many small clusters. Each node has its own cores, to which its daemon
and with it its jobs are pinned.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "srun")
DEFAULT = Path("/etc/slurm/slurm.conf")  # job steps start without SLURM_CONF
SETTINGS = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,batch_sched_delay=0,sched_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=10
MessageTimeout=10
PropagateResourceLimits=NONE
DebugFlags=NO_CONF_HASH
NodeName=n[0-1] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] \\
  CPUs={cpus} RealMemory={memory}
PartitionName=main Nodes=n[0-1] Default=YES MaxTime=600 DefMemPerCPU=100
PartitionName=short Nodes=n0 MaxTime=1 DefMemPerCPU=100
"""


class UnavailableError(Exception):
    """No cluster can be started here, with the reason."""


class Cluster:
    """Two nodes, n0 and n1; `environment` is what clients need."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.running = {}
        cores = sorted(os.sched_getaffinity(0))
        half = max(1, len(cores) // 2)
        self.cores = {"n0": cores[:half], "n1": cores[-half:]}
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        self._check()
        try:
            self._configure()
            self._start("munged", "--foreground", "--force", *self._munge_options())
            self._wait("munge", (self.folder / "munge" / "socket").exists)
            self.start_controller()
            for node in self.cores:
                self.revive(node)
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(subprocess.SubprocessError):
            self.ask("scancel", "--user", "root")
            self._wait("jobs", lambda: not self.ask("squeue", "--noheader"), seconds=10)
        for process in reversed(self.running.values()):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
        for pid in self._processes_of(*self.cores):
            os.kill(pid, signal.SIGKILL)
        if DEFAULT.is_symlink() and DEFAULT.resolve() == (self.folder / "slurm.conf").resolve():
            DEFAULT.unlink()

    def ask(self, *command):
        """Output of one client command."""
        environment = os.environ | self.environment
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=30
        ).stdout.strip()

    def start_controller(self):
        """Start the controller, which knows its jobs from before."""
        self._start("slurmctld", "-D", "-f", self.environment["SLURM_CONF"])

    def stop_controller(self):
        """Let the controller end; nodes and their jobs go on."""
        self.running["slurmctld"].terminate()
        self.running["slurmctld"].wait(30)

    def revive(self, node):
        """Start the daemon of a node."""
        cores = ",".join(map(str, self.cores[node]))
        conf = self.environment["SLURM_CONF"]
        self._start("taskset", "-c", cores, "slurmd", "-D", "-N", node, "-f", conf, name=node)

    def wait_until_ready(self):
        """Wait until both nodes are idle."""
        self._wait("nodes", self._ready)

    def kill(self, node):
        """Let a node die: its daemon and all that it runs, at once."""
        self.running[node].kill()
        self.running[node].wait()
        for pid in self._processes_of(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _check(self):
        missing = [command for command in COMMANDS if shutil.which(command, path=_path()) is None]
        if missing:
            reason = f"not installed: {', '.join(missing)} (Debian: slurm-wlm, munge)"
            raise UnavailableError(reason)
        if os.geteuid() != 0:
            raise UnavailableError("a cluster of one's own is started as root")
        if DEFAULT.is_symlink() and "UP" not in self._ping():
            DEFAULT.unlink()  # of a cluster that was killed
        if DEFAULT.exists():
            raise UnavailableError(f"{DEFAULT} is there: another cluster is set up on this machine")

    def _ping(self):
        command = ["scontrol", "ping"]
        conf = os.environ | {"SLURM_CONF": str(DEFAULT)}
        return subprocess.run(
            command, env=conf, capture_output=True, text=True, check=False, timeout=60
        ).stdout

    def _configure(self):
        ports = _free_ports()
        host = socket.gethostname().split(".")[0]
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        for name in ("munge", "state", "spool/n0", "spool/n1"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        (self.folder / "munge").chmod(0o755)
        key = self.folder / "munge" / "key"
        with Path("/dev/urandom").open("rb") as entropy:
            key.write_bytes(entropy.read(1024))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(
            SETTINGS.format(
                folder=self.folder,
                host=host,
                port=ports,
                first=ports + 1,
                last=ports + 2,
                cpus=len(self.cores["n0"]),
                memory=int(0.9 * total / 2),
            )
        )
        version = self.ask("slurmd", "-V").split()[-1]
        plugin = "cgroup/v1" if int(version.split(".")[0]) < 23 else "disabled"
        (self.folder / "cgroup.conf").write_text(f"CgroupPlugin={plugin}\n")
        DEFAULT.parent.mkdir(parents=True, exist_ok=True)
        DEFAULT.symlink_to(self.folder / "slurm.conf")

    def _munge_options(self):
        folder = self.folder / "munge"
        names = ("key-file", "socket", "pid-file", "log-file", "seed-file")
        files = ("key", "socket", "pid", "log", "seed")
        return [f"--{name}={folder / file}" for name, file in zip(names, files, strict=True)]

    def _start(self, *command, name=None):
        with (self.folder / f"{name or command[0]}.out").open("ab") as output:
            self.running[name or command[0]] = subprocess.Popen(
                command,
                env=os.environ | self.environment | {"PATH": _path()},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509
            )

    def _ready(self):
        states = self.ask("sinfo", "--noheader", "--Node", "--partition=main", "--format=%t")
        return states.split() == ["idle", "idle"]

    def _wait(self, what, condition, seconds=60):
        for _ in range(seconds * 5):
            with contextlib.suppress(subprocess.SubprocessError):
                if condition():
                    return
            time.sleep(0.2)
        said = [path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log")]
        raise RuntimeError(f"SLURM: no {what} after {seconds} s\n" + "\n".join(said))

    def _processes_of(self, *nodes):
        """Processes of jobs on some nodes of this cluster, and the daemons that watch them."""
        marks = {f"SLURMD_NODENAME={node}".encode() for node in nodes}
        found = set()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if marks & set((entry / "environ").read_bytes().split(b"\0")):
                    parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
                    name = Path(f"/proc/{parent}/comm").read_text().strip()
                    found |= {int(entry.name)} | ({int(parent)} if name == "slurmstepd" else set())
        return found


def _die_with_parent():
    """Let the kernel end this process when the one that started it ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def _path():
    return os.environ["PATH"] + ":/usr/sbin:/sbin"


def _free_ports():
    """First of three free ports in a row."""
    for first in range(17817, 18817, 10):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for port in range(first, first + 3):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
    raise UnavailableError("no three free ports in a row between 17817 and 18817")
