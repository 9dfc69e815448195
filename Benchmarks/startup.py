"""Measures how long an instance takes from exec to READY=1, and how much memory it needs, idle and with all threads busy."""

import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import sides
from load import load
from workloads import WORKLOADS

THREADS = 16
# In this order, so that each figure is the most memory that the instance has had until then.
BUSY = ("me", "bootstrap-known", "userinfo", "ingest-1", "ingest-100", "refresh-oauth")


@dataclass(slots=True)
class Memory:
    """Bytes of resident memory. The pages of files (programs and libraries) are shared with other instances, and the system can
    drop them; the instance's own cannot be dropped."""

    resident: int
    own: int

    def __init__(self, pid: int) -> None:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        self.resident, self.own = (
            int(re.search(rf"{name}:\s+(\d+) kB", text)[1]) * 1024 for name in ("VmRSS", "RssAnon")
        )

    @property
    def figures(self) -> dict[str, int]:
        return {"resident": self.resident, "own": self.own}


@contextmanager
def started(bench) -> Iterator[tuple[int, float]]:
    """An instance without nginx: its pid, and the milliseconds until it was ready."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
        notified.bind(f"{folder}/notify")
        notified.settimeout(30)
        command, environment = sides.program("merganser-startup", bench.sockets, THREADS, NOTIFY_SOCKET=f"{folder}/notify")
        with open(f"{folder}/log", "wb") as log:
            start = time.perf_counter()
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=log)
        try:
            while b"READY=1" not in notified.recv(4096):
                pass
            yield process.pid, (time.perf_counter() - start) * 1e3
        finally:
            process.terminate()
            process.wait(40)


def measure(bench, rounds: int, seconds: float) -> dict:
    times, idle = [], []
    # The first one reads files that the others find in memory.
    for _ in range(2 * rounds + 1):
        with started(bench) as (pid, milliseconds):
            times.append(milliseconds)
            # Its threads have done what they do after the start.
            time.sleep(0.5)
            idle.append(Memory(pid))
    result = {
        "threads": THREADS,
        "ready": statistics.median(times[1:]),
        "slowest": max(times[1:]),
        "idle": max(idle, key=lambda each: each.resident).figures,
        "busy": [],
    }
    print(f"Ready in {result['ready']:.0f} ms, at most {result['slowest']:.0f} ms.", flush=True)
    show("idle", result["idle"])
    side = sides.merganser("merganser-busy", bench.sockets, THREADS)
    try:
        for workload in WORKLOADS:
            if workload.name in BUSY:
                share = workload.once or (workload.connections if workload.chain else 64)
                load(side, workload, workload.prepare(share), seconds)
                memory = Memory(side.responders[0].pid).figures
                result["busy"].append({"name": workload.name, "title": workload.title, **memory})
                show("then " + workload.title, memory)
    finally:
        side.stop()
    return result


def show(what: str, memory: dict[str, int]) -> None:
    print(f"  {what:<34}{memory['resident'] / 1e6:>6.1f} MB, {memory['own'] / 1e6:.1f} MB of it its own", flush=True)
