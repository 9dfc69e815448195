"""How many instructions a request takes in the worker, counted by callgrind: nearly as many on a busy machine.

Requests are sent one after the other through nginx. The kernel's instructions are not counted.
"""

import http.client
import pathlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from itertools import cycle, islice

import sides
from scene import Request
from sides import Side
from symbols import Symbols
from workloads import Workload

# Each request that can be repeated once, to prepare statements and to have its token verified; then those that are counted.
WARM, COUNTED = 64, 200
WORKLOADS = (
    "me",
    "bootstrap-known",
    "bootstrap-new",
    "link-conflict",
    "approvals-list",
    "claim-repeat",
    "claim-10",
    "claim-known",
    "ingest-1",
    "ingest-100",
    "properties",
    "userinfo",
    "introspection",
)


def measure(bench, learn, workload: Workload) -> dict:
    """For a request, of Merganser and of the floor."""
    requests = workload.prepare(2 * (WARM + COUNTED) + 5 if workload.once else WARM)
    while len(requests) < 5:
        requests += requests
    plan = learn(bench.recorder, workload, requests[:5])
    plans = sides.WORK / "plans"
    plans.write_text("\n".join([f"session {bench.recorder.session}", *plan.lines, ""]))
    rest = requests[5:]
    own, others = (rest[::2], rest[1::2]) if workload.once else (rest or requests, rest or requests)
    command, environment = sides.program("instructions", bench.sockets, 1)
    program = bare(command[0])
    under = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={sides.WORK}/callgrind.%p", "-q"]
    # So that the dump has each instruction's address.
    addresses = ["--dump-instr=yes", "--compress-pos=no"]
    side = sides.start("instructions", [*under, *addresses, program], environment, bench.sockets)
    dump, loaded_at = count(side, program, workload, own)
    parts = Symbols(command[0]).parts(dump, program, loaded_at)
    return {
        "name": workload.name,
        "title": workload.title,
        "merganser": total(dump),
        "parts": {name: number // COUNTED for name, number in parts.items()},
        "floor": total(
            count(sides.floor(bench.floor_program, plans, bench.sockets, 1, under), bench.floor_program, workload, others)[0]
        ),
    }


def address(pid: int, program: pathlib.Path) -> int:
    """Where a running program is in memory: where its first page is."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        addresses, _, offset, *_, name = line.split(maxsplit=5)
        if name == str(program) and int(offset, 16) == 0:
            return int(addresses.split("-")[0], 16)
    raise SystemExit(f"error: {program} is not in the memory of its process")


def count(side: Side, program: pathlib.Path, workload: Workload, requests: Sequence[Request]) -> tuple[pathlib.Path, int]:
    """Ends the side. Returns what callgrind wrote, and where the program was in memory."""
    pid = side.responders[0].pid
    try:
        loaded_at = address(pid, program)
        endless = iter(requests if workload.once else cycle(requests))
        connection = http.client.HTTPConnection(side.address, timeout=60)
        send(connection, workload, islice(endless, WARM))
        control(pid, "--instr=on")
        send(connection, workload, islice(endless, COUNTED))
        control(pid, "--instr=off")
        control(pid, "--dump")
        connection.close()
    finally:
        side.stop()
    return sides.WORK / f"callgrind.{pid}.1", loaded_at


def total(dump: pathlib.Path) -> int:
    found = re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)
    if not found:
        raise SystemExit(f"error: callgrind wrote no sum into {dump}")
    return int(found[1]) // COUNTED


def bare(program: str) -> pathlib.Path:
    """A copy away from its symbols, which valgrind 3.19 cannot read (DWARF 5)."""
    return pathlib.Path(shutil.copy(program, sides.WORK / "bare-program"))


def control(pid: int, command: str) -> None:
    done = subprocess.run(["callgrind_control", command, str(pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or "OK" not in done.stdout:
        raise SystemExit(f"error: callgrind_control {command}: {done.stdout}")


def send(connection: http.client.HTTPConnection, workload: Workload, requests: Iterable[Request]) -> None:
    for request in requests:
        headers = {**request.headers, "X-Floor": ",".join((workload.name, *request.fields))}
        connection.request(request.method, request.path, request.body or None, headers)
        response = connection.getresponse()
        body = response.read()
        if response.status != workload.status:
            raise SystemExit(f"error: {workload.name}: {response.status} {body[:200]!r}")
