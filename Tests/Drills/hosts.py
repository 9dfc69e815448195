"""Machines on this machine: each a network namespace (network_namespaces(7)), and a cable from it to a bridge.

scripts/machines gives the drill namespaces of its own for networks, mounts and processes, so that whatever is made here
ends with the drill, however the drill ends. Its own network is the bridge's: it sends the load from there.
"""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping

from instance import DrillError, run, wait_until

NEW_NETWORK = 0x40000000
# Those of documentation (RFC 5737), as in packaging/cluster.
SWITCH = "192.0.2.1"
BRIDGE = "switch"
# The drill's folder, which every user can reach.
RUN = pathlib.Path("/run/drill")
# Where no machine listens.
CLOSED_PORT = 9


def make_switch() -> None:
    """The bridge has an address of its own: otherwise it takes one of its ports', and another one when that is gone."""
    for command in ("link set lo up", f"link add {BRIDGE} address 02:00:00:00:00:01 type bridge",
                    f"link set {BRIDGE} up", f"address add {SWITCH}/24 dev {BRIDGE}"):
        run(["ip", *command.split()])


class Host:
    """A machine. Its cable's other end, at the bridge, has its name."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address
        self.folder = RUN / name
        self.folder.mkdir(mode=0o755)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        run(["ip", "netns", "add", name])
        run(["ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name])
        run(["ip", "link", "set", name, "master", BRIDGE, "up"])
        for command in ("link set lo up", f"address add {address}/24 dev eth0", "link set eth0 up"):
            run(["ip", "-n", name, *command.split()])

    # --- Its processes

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """What this thread starts and connects meanwhile is on the host."""
        with open("/proc/thread-self/ns/net") as here, open(f"/run/netns/{self.name}") as there:
            enter(there.fileno())
            try:
                yield
            finally:
                enter(here.fileno())

    def launch(self, name: str, command: list[str], environment: Mapping[str, str] | None = None) -> None:
        with self.inside(), open(self.folder / f"{name}.log", "ab") as log:
            self._processes[name] = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def runs(self, name: str) -> bool:
        return name in self._processes and self._processes[name].poll() is None

    def send(self, name: str, number: signal.Signals) -> None:
        self._processes[name].send_signal(number)

    def end(self, name: str, number: signal.Signals = signal.SIGTERM, seconds: float = 60) -> None:
        """Returns when the process has ended."""
        self.send(name, number)
        try:
            self._processes[name].wait(seconds)
        except subprocess.TimeoutExpired:
            raise DrillError(f"{name} of {self.name} does not end within {seconds:g} s") from None

    def kill_all(self) -> None:
        """All processes at once, as when the machine loses its power."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self._processes.values():
            process.poll()
        wait_until(lambda: not self.processes(), 10, f"the end of {self.name}")

    def processes(self) -> list[int]:
        """Those that run; a dead one has no network any more."""
        return [int(pid) for pid in run(["ip", "netns", "pids", self.name]).split()]

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def echo(self, address: str) -> float:
        """The median round trip to another machine, in milliseconds: a connection that is refused."""
        times = []
        for _ in range(101):
            with self.inside(), socket.socket() as client:
                began = time.perf_counter()
                client.connect_ex((address, CLOSED_PORT))
                times.append(1000 * (time.perf_counter() - began))
        return sorted(times)[50]

    def remove(self) -> None:
        self.kill_all()
        run(["ip", "link", "delete", self.name])
        run(["ip", "netns", "delete", self.name])
        shutil.rmtree(self.folder)

    # --- Its cable

    @contextlib.contextmanager
    def cut_off(self) -> Iterator[None]:
        """Nothing reaches the machine, and nothing comes from it; connections learn nothing of that."""
        run(["ip", "link", "set", self.name, "down"])
        try:
            yield
        finally:
            run(["ip", "link", "set", self.name, "up"])

    @contextlib.contextmanager
    def delayed(self, seconds: float) -> Iterator[None]:
        """Each frame to the machine, and from it, arrives so much later."""
        program, here, there = wire_program(), f"{self.name}-here", f"{self.name}-there"
        run(["ip", "link", "add", here, "type", "veth", "peer", "name", there])
        run(["ip", "link", "set", self.name, "nomaster"])
        run(["ip", "link", "set", there, "master", BRIDGE, "up"])
        run(["ip", "link", "set", here, "up"])
        wire = subprocess.Popen([str(program), self.name, here, str(round(seconds * 1e6))])
        try:
            yield
            if wire.poll() is not None:
                raise DrillError(f"the wire to {self.name} ended with status {wire.returncode}")
        finally:
            wire.kill()
            wire.wait()
            run(["ip", "link", "delete", here])
            run(["ip", "link", "set", self.name, "master", BRIDGE])


def enter(namespace: int) -> None:
    """Puts this thread into a network. Python has os.setns from 3.12 on."""
    if ctypes.CDLL(None, use_errno=True).setns(namespace, NEW_NETWORK) != 0:
        raise DrillError(f"setns: {os.strerror(ctypes.get_errno())}")


def wire_program() -> pathlib.Path:
    program = RUN / "wire"
    if not program.exists():
        source = pathlib.Path(__file__).with_name("wire.c")
        run(["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(source)])
    return program
