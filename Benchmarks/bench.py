"""Measures Merganser against the floor: make bench [WORKLOAD=name] [ROUNDS=5] [SECONDS=3]."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass

import sides
from plans import Plan
from scene import RUN, Request
from sides import Recorder, Side, cpu, family, fetch, resident
from workloads import WORKLOADS, Workload

HERE = pathlib.Path(__file__).parent
RECORDINGS = 5


@dataclass(slots=True)
class Round:
    """What one side did in one round."""

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
            text = Request(request.method, request.path, request.headers, request.body, (plan, *request.fields)).wire(address)
            file.write(b"%08d" % len(text) + text)


def load(side: Side, workload: Workload, requests: list[Request], seconds: float, connections: int | None = None) -> Round:
    """One measurement with wrk."""
    path = sides.WORK / "requests"
    write_requests(path, requests, workload.name, side.address)
    connections = connections or workload.connections
    threads = workload.threads if workload.chain else min(2, connections)
    mode = "refresh" if workload.chain else "once" if workload.once else "loop"
    database = int(pathlib.Path(RUN, "pids/mariadb").read_text().split()[0])
    groups = [family(side.nginx.pid), [side.responder.pid], [database]]
    before = [cpu(pids) for pids in groups]
    command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{seconds:g}s", "--timeout", "30s", "-s", str(HERE / "requests.lua"),
               side.url, "--", str(path), mode, str(threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(command)} exits with {done.returncode}")
    used = [cpu(pids) - start for pids, start in zip(groups, before)]
    result = json.loads(done.stdout.splitlines()[-1])
    count = result["requests"]
    refused = count - result["statuses"] if workload.status >= 400 else result["statuses"]
    if refused > threads or result["failed"] or any(result[kind] for kind in ("connects", "reads", "writes", "timeouts")) or not count:
        raise SystemExit(f"error: {workload.name} on {side.name}: not every answer is {workload.status}: {result}")
    return Round(
        count / result["duration"], result["p50"] / 1e3, result["p99"] / 1e3, result["p999"] / 1e3,
        *(seconds * 1000 / count for seconds in used), resident(side.responder.pid))


def learn(recorder: Recorder, workload: Workload, requests: list[Request]) -> Plan:
    """From recordings of the requests; one that met a refresh of something cached is left out."""
    recordings = [recorder.record(request) for request in requests]
    for recording in recordings:
        if int(recording.status.split()[0]) != workload.status:
            raise SystemExit(f"error: {workload.name}: {recording.status} instead of {workload.status}: {recording.body[:300]!r}")
    shapes = [recording.shape for recording in recordings]
    usual = max(shapes, key=shapes.count)
    alike = [recording for recording in recordings if recording.shape == usual]
    if len(alike) < len(recordings) - 1:
        raise SystemExit(f"error: {workload.name}: the same request leads to different statements:\n" + "\n".join(
            " | ".join(sql.decode()[:60] for sql, _ in shape) for shape in set(shapes)))
    return Plan(workload.name, alike, workload.signatures, workload.chain)


def check(floor: Side, plan: Plan, request: Request) -> None:
    """That the floor touches the rows that Merganser touched."""
    fields = ",".join((plan.name, *request.fields))
    response, body = fetch(floor, request, {"X-Floor": fields, "X-Floor-Check": "1"})
    touched = [int(line) for line in body.split()] if response.status == 200 else []
    if touched != plan.touched:
        lines = [f"  {each.sql.decode()[:90]}: {theirs} rows, by the floor {ours}"
                 for each, theirs, ours in zip(plan.last.statements, plan.touched, touched) if theirs != ours]
        raise SystemExit("\n".join([
            f"error: {plan.name}: the floor does not do what Merganser does ({response.status} {body[:200]!r})", *lines,
            "Not explained:", *plan.guesses]))


class Bench:
    def __init__(self, rounds: int, seconds: float) -> None:
        self.rounds, self.seconds = rounds, seconds
        own = sides.settings()
        self.sockets = pathlib.Path(own["MERGANSER_SOCKET"]).parent
        self.threads = int(own.get("MERGANSER_THREADS", max(8, 4 * (os.cpu_count() or 1))))
        self.floor_program, library = sides.compile_floor()
        self.recorder = Recorder(library, self.sockets)
        self.merganser = sides.merganser("merganser-bench", self.sockets, self.threads)

    def run(self, workload: Workload) -> tuple[list[Round], list[Round]]:
        """Rounds of the floor and of Merganser, in turn."""
        share = workload.once or (workload.connections if workload.chain else 0)
        requests = workload.prepare(share * 2 * self.rounds + RECORDINGS + 1 if share else 64)
        while len(requests) < RECORDINGS:
            requests += requests
        plan = learn(self.recorder, workload, requests[:RECORDINGS])
        path = sides.WORK / "plans"
        path.write_text("\n".join([f"session {self.recorder.session}", *plan.lines, ""]))
        floor = sides.floor(self.floor_program, path, self.sockets, self.threads)
        try:
            if workload.name not in ("static", "health"):
                check(floor, plan, requests[min(RECORDINGS, len(requests) - 1)])
            rest = requests[RECORDINGS + 1:] if share else requests
            rounds: tuple[list[Round], list[Round]] = ([], [])
            for number in range(self.rounds):
                for which, side in enumerate((floor, self.merganser)):
                    start = (2 * number + which) * share
                    rounds[which].append(load(side, workload, rest[start:start + share] if share else rest, self.seconds))
            return rounds
        finally:
            floor.stop()

    def stop(self) -> None:
        for side in (self.merganser, self.recorder.side):
            side.stop()


def ratio(rounds: tuple[list[Round], list[Round]]) -> float:
    floor, merganser = rounds
    return statistics.median(ours.rate / theirs.rate for theirs, ours in zip(floor, merganser))


def middle(rounds: list[Round]) -> Round:
    return Round(**{name: statistics.median(asdict(each)[name] for each in rounds) for name in asdict(rounds[0])})


HEAD = (f"{'workload':<18}{'side':<11}{'requests/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'p99.9 ms':>10}"
        f"{'nginx':>8}{'worker':>8}{'db':>8}{'memory':>9}{'ratio':>7}")


def lines(workload: Workload, rounds: tuple[list[Round], list[Round]]) -> list[str]:
    text = []
    for name, side in zip(("floor", "merganser"), rounds):
        each = middle(side)
        text.append(
            f"{workload.name if name == 'floor' else '':<18}{name:<11}{each.rate:>11,.0f}{each.p50:>9.2f}{each.p99:>9.2f}"
            f"{each.p999:>10.2f}{each.nginx_cpu:>8.3f}{each.worker_cpu:>8.3f}{each.database_cpu:>8.3f}"
            f"{each.memory / 1e6:>6.0f} MB" + (f"{ratio(rounds):>7.2f}" if name == "merganser" else ""))
    return text


def main() -> None:
    names = [workload.name for workload in WORKLOADS]
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--workload", choices=names, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    bench = Bench(options.rounds, options.seconds)
    try:
        print("CPU is in seconds for 1 000 requests.", HEAD, sep="\n", flush=True)
        for workload in WORKLOADS:
            if not options.workload or workload.name in options.workload:
                print("\n".join(lines(workload, bench.run(workload))), flush=True)
    finally:
        bench.stop()


if __name__ == "__main__":
    sys.exit(main())
