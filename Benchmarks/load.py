"""One measurement: sends requests with wrk and records their cost."""

import json
import pathlib
import statistics
import subprocess
from dataclasses import asdict, dataclass

import sides
from scene import RUN, Request
from sides import Side, cpu, family, resident, settle
from workloads import Workload


@dataclass(slots=True)
class Round:
    """The result of one side in one round."""

    rate: float
    p50: float
    p99: float
    p999: float
    # Processor seconds for 1 000 requests.
    nginx_cpu: float
    worker_cpu: float
    database_cpu: float
    memory: int


def write_requests(path: pathlib.Path, requests: list[Request], plan: str, address: str) -> None:
    with open(path, "wb") as file:
        for request in requests:
            text = Request(request.method, request.path, request.headers, request.body, (plan, *request.fields)).wire(
                address
            )
            file.write(b"%08d" % len(text) + text)


def load(
    side: Side, workload: Workload, requests: list[Request], seconds: float, connections: int | None = None
) -> Round:
    """One measurement with wrk."""
    path = sides.WORK / "requests"
    write_requests(path, requests, workload.name, side.address)
    connections = connections or workload.connections
    threads = workload.threads if workload.chain else min(2, connections)
    mode = "refresh" if workload.chain else "once" if workload.once else "loop"
    database = int(pathlib.Path(RUN, "pids/mariadb").read_text().split()[0])
    responders = [pid for process in side.responders for pid in family(process.pid)]
    groups = [family(side.nginx.pid), responders, [database]]
    before = [cpu(pids) for pids in groups]
    script = pathlib.Path(__file__).with_name("requests.lua")
    command = [
        "wrk",
        f"-t{threads}",
        f"-c{connections}",
        f"-d{seconds:g}s",
        "--timeout",
        "30s",
        "-s",
        str(script),
        side.url,
        "--",
        str(path),
        mode,
        str(threads),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)} exits with {done.returncode}")
    # What the database does afterwards, such as removing deleted rows, belongs to these requests, and not to the next side's.
    settle([database], 5)
    used = [cpu(pids) - start for pids, start in zip(groups, before)]
    result = json.loads(done.stdout.splitlines()[-1])
    count = result["requests"]
    refused = count - result["statuses"] if workload.status >= 400 else result["statuses"]
    if (
        refused > threads
        or result["failed"]
        or any(result[kind] for kind in ("connects", "reads", "writes", "timeouts"))
        or not count
    ):
        raise SystemExit(f"error: {workload.name} on {side.name}: not every answer is {workload.status}: {result}")
    return Round(
        count / result["duration"],
        result["p50"] / 1e3,
        result["p99"] / 1e3,
        result["p999"] / 1e3,
        *(seconds * 1000 / count for seconds in used),
        sum(map(resident, responders)),
    )


def middle(rounds: list[Round]) -> Round:
    return Round(**{name: statistics.median(asdict(each)[name] for each in rounds) for name in asdict(rounds[0])})
