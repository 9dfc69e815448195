"""Measures Merganser against the floor, a C program that runs the same SQL, and against the least that any design must do."""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

import chart
import functions
import growth
import ideal
import instructions
import latency
import page
import reads
import sides
import startup
import statements
import webhooks
from load import Round, load, middle
from peer import Peer
from peer_django import DjangoPeer
from plans import Plan
from scene import RUN, Request, tell_ids_apart
from sides import Recorder, Side, fetch
from workloads import WORKLOADS, Workload

RESULTS = pathlib.Path(__file__).parent / "results/latest.json"
RECORDINGS = 5


def learn(recorder: Recorder, workload: Workload, requests: list[Request]) -> Plan:
    """Learns a plan from recordings of the requests, and leaves out one that contains a refresh of a cache."""
    recordings = [recorder.record(request) for request in requests]
    for recording in recordings:
        if int(recording.status.split()[0]) != workload.status:
            raise SystemExit(
                f"error: {workload.name}: {recording.status} instead of {workload.status}: {recording.body[:300]!r}"
            )
    shapes = [recording.shape for recording in recordings]
    usual = max(shapes, key=shapes.count)
    alike = [recording for recording in recordings if recording.shape == usual]
    if len(alike) < len(recordings) - 1:
        raise SystemExit(
            f"error: {workload.name}: the same request leads to different statements:\n"
            + "\n".join(" | ".join(sql.decode()[:60] for sql, _ in shape) for shape in set(shapes))
        )
    return Plan(workload.name, alike, workload.signatures, workload.chain)


def check(floor: Side, plan: Plan, request: Request) -> None:
    """Checks that the floor touches as many rows as Merganser did."""
    fields = ",".join((plan.name, *request.fields))
    response, body = fetch(floor, request, {"X-Floor": fields, "X-Floor-Check": "1"})
    touched = [int(line) for line in body.split()] if response.status == 200 else []
    if touched != plan.touched:
        lines = [
            f"  {each.sql.decode()[:90]}: {theirs} rows, {ours} by the floor"
            for each, theirs, ours in zip(plan.last.statements, plan.touched, touched)
            if theirs != ours
        ]
        raise SystemExit(
            "\n".join(
                [
                    f"error: {plan.name}: the floor does not do what Merganser does ({response.status} {body[:200]!r})",
                    *lines,
                    "Not explained:",
                    *plan.guesses,
                ]
            )
        )


class Bench:
    def __init__(self, rounds: int, seconds: float) -> None:
        self.rounds, self.seconds = rounds, seconds
        own = sides.settings()
        self.sockets = pathlib.Path(own["MERGANSER_SOCKET"]).parent
        self.threads = int(own.get("MERGANSER_THREADS", max(8, 4 * (os.cpu_count() or 1))))
        self.floor_program, library = sides.compile_floor()
        self.recorder = Recorder(library, self.sockets)
        self.merganser = sides.merganser("merganser-bench", self.sockets, self.threads)
        # By the names that they have in the results.
        self.peers: dict[str, Peer | DjangoPeer] = {}

    def run(self, workload: Workload) -> dict[str, list[Round]]:
        """Rounds of the floor, of Merganser, of Merganser with other settings if the workload has them, and of the peers that
        can be compared, in turn."""
        share = workload.once or (workload.connections if workload.chain else 0)
        count = 3 if workload.otherwise else 2
        requests = workload.prepare(share * count * self.rounds + RECORDINGS + 1 if share else 64)
        while len(requests) < RECORDINGS:
            requests += requests
        with self.floor(workload, requests) as (floor, bars):
            return self.rounds_of(workload, floor, requests, bars, share, count)

    @contextmanager
    def floor(self, workload: Workload, requests: list[Request]) -> Iterator[tuple[Side, dict[str, list[Request]]]]:
        """The floor with the plans of the workload and of what it is compared with, checked; and the requests of the latter."""
        plan = learn(self.recorder, workload, requests[:RECORDINGS])
        path = sides.WORK / "plans"
        best = ideal.plan(workload.ideal, plan.recordings) if workload.ideal else []
        lines, bars = [], {}
        for name, make in ((ideal.LEAST, ideal.least), (ideal.RULE, ideal.rule)):
            own, sent = make(workload, plan.recordings, requests[:64])
            lines += own
            if sent:
                bars[name] = sent
        path.write_text("\n".join([f"session {self.recorder.session}", *plan.lines, *best, *lines, ""]))
        floor = sides.floor(self.floor_program, path, self.sockets, self.threads)
        try:
            if workload.name != "static":
                check(floor, plan, requests[min(RECORDINGS, len(requests) - 1)])
            if workload.ideal:
                ideal.check(floor, workload.ideal, ideal.rows(workload.ideal, plan.last))
            for name, sent in bars.items():
                for request in sent[:1] * 2:
                    response, body = fetch(floor, request, {"X-Floor": ",".join((name, *request.fields))})
                    if response.status != workload.status:
                        raise SystemExit(f"error: {name} of {workload.name}: {response.status} {body[:200]!r}")
            yield floor, bars
        finally:
            floor.stop()

    def rounds_of(
        self,
        workload: Workload,
        floor: Side,
        requests: list[Request],
        bars: dict[str, list[Request]],
        share: int,
        count: int,
    ) -> dict[str, list[Round]]:
        measured = {"floor": floor, "merganser": self.merganser}
        started = []
        try:
            # What each of them is sent.
            others: dict[str, tuple[Workload, list[Request]]] = {}
            if workload.ideal:
                measured["ideal"] = floor
                others["ideal"] = ideal.workload(workload, workload.ideal), ideal.requests(workload.ideal)
            for name, sent in bars.items():
                measured[name] = floor
                others[name] = ideal.workload(workload, name), sent
            if workload.otherwise:
                name, settings = workload.otherwise
                measured[name] = sides.merganser("merganser-otherwise", self.sockets, self.threads, **settings)
                started.append(measured[name])
            # What the least inserts belongs to whoever was recorded, who would have more to do each time.
            rest = requests[RECORDINGS + 1 :] if share or len(requests) > 2 * RECORDINGS else requests
            own = [name for name in measured if name not in others]
            given = {name: rest[which::count] if share else rest for which, name in enumerate(own)}
            for name, peer in self.peers.items():
                if workload.name in peer.WORKLOADS:
                    measured[name] = peer.side
                    given[name] = peer.requests(workload.name, share * self.rounds)
            rounds: dict[str, list[Round]] = {name: [] for name in measured}
            for start in range(0, share * self.rounds, share) if share else [0] * self.rounds:
                for name, side in measured.items():
                    if name in others:
                        rounds[name].append(load(side, *others[name], self.seconds))
                        continue
                    requests = given[name][start : start + share] if share else given[name]
                    rounds[name].append(load(side, workload, requests, self.seconds))
            return rounds
        finally:
            for side in started:
                side.stop()

    def stop(self) -> None:
        for side in (self.merganser, self.recorder.side, *(peer.side for peer in self.peers.values())):
            side.stop()


def ratio(side: list[Round], floor: list[Round]) -> float:
    return statistics.median(ours.rate / theirs.rate for ours, theirs in zip(side, floor))


HEAD = (
    f"{'workload':<18}{'side':<11}{'requests/s':>11}{'p50 ms':>9}{'p99 ms':>9}{'p99.9 ms':>10}"
    f"{'nginx':>8}{'worker':>8}{'db':>8}{'memory':>9}{'ratio':>7}{'ideal':>7}"
)


def lines(workload: Workload, rounds: dict[str, list[Round]]) -> list[str]:
    text = []
    for name, side in rounds.items():
        each = middle(side)
        text.append(
            f"{workload.name if name == 'floor' else '':<18}{name:<11}{each.rate:>11,.0f}"
            f"{each.p50:>9.2f}{each.p99:>9.2f}"
            f"{each.p999:>10.2f}{each.nginx_cpu:>8.3f}{each.worker_cpu:>8.3f}{each.database_cpu:>8.3f}"
            f"{each.memory / 1e6:>6.0f} MB"
            + "".join(f"{ratio(side, rounds[bar]):>7.2f}" for bar in ("floor", "ideal") if bar in rounds and name != bar)
        )
    return text


def machine() -> dict:
    """The machine and versions that the figures depend on."""

    def first_line(*command: str) -> str:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout.strip().splitlines()[0]

    model = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    return {
        "cpus": os.cpu_count(),
        "model": model,
        "mariadb": first_line("mariadbd", "--version"),
        "nginx": first_line("nginx", "-v"),
        "kernel": os.uname().release,
    }


def save(results: dict, everything: bool) -> None:
    """
    Writes the results. What was not measured this time stays. Rounds, threads, the date and the machine are those of the
    workloads. What is measured anew on another processor than the rest has its name.
    """
    if RESULTS.exists():
        before = json.loads(RESULTS.read_text())
        measured = results["workloads"]
        is_elsewhere = before["machine"]["model"] != results["machine"]["model"]
        if not everything and is_elsewhere:
            for part in ("workloads", "growth", "reads", "statements", "instructions"):
                for each in results[part] or ():
                    each["processor"] = results["machine"]["model"]
            for part in ("startup", "latency"):
                if results[part]:
                    results[part]["processor"] = results["machine"]["model"]
        for part in ("workloads", "growth", "reads", "statements", "instructions"):
            results[part] = merged(before.get(part, []), results[part])
        kept = () if measured else ("rounds", "seconds", "threads")
        if not everything and (is_elsewhere or not measured):
            kept += ("machine", "date")
        results = before | {name: part for name, part in results.items() if part is not None and name not in kept}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    chart.write(RESULTS)
    page.write(RESULTS)
    print(f"Written: {RESULTS}, {RESULTS.with_suffix('.svg')}, {page.PAGE}")


def merged(before: list[dict], measured: list[dict]) -> list[dict]:
    """The earlier entries with the new ones in their places, and after them those that were not there."""

    def name(entry: dict) -> tuple:
        return entry.get("title", entry.get("read")), entry.get("x", entry.get("events"))

    new = {name(each): each for each in measured}
    return [new.pop(name(each), each) for each in before] + list(new.values())


NAMES = [*(workload.name for workload in WORKLOADS), "webhooks"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "--workload", choices=NAMES, action="append", default=[], help="measure only this workload; may be repeated"
    )
    parser.add_argument(
        "--curve", choices=(*growth.NAMES, "reads"), action="append", default=[], help="measure only this growth; may be repeated"
    )
    parser.add_argument(
        "--save",
        action="store_true",
        help="replace what is measured in the results, and write the chart and the page anew, also if the run is stopped "
        "(if everything is measured: always)",
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="rounds of the floor and of Merganser, in turn (default: 5)"
    )
    parser.add_argument("--seconds", type=int, default=3, help="length of one round (default: 3)")
    parser.add_argument(
        "--rows", type=int, default=1_000_000, help="the most rows that a claim or a swap moves (default: 1000000)"
    )
    parser.add_argument(
        "--peer",
        action=argparse.BooleanOptionalAction,
        help="also measure other servers where they can be compared (default: if everything is measured)",
    )
    parser.add_argument(
        "--stored",
        type=int,
        default=10_000_000,
        help="the most rows in the tables of the curves table, histories, users and reads, and the most events that a sign-in claims "
        "(default: 10000000)",
    )
    parser.add_argument(
        "--latency",
        action="store_true",
        help="measure latencies at fixed rates through TLS and HTTP/2, and handshakes",
    )
    parser.add_argument(
        "--statements",
        action="store_true",
        help=f"measure the statements of {len(statements.WORKLOADS)} workloads, one by one",
    )
    parser.add_argument(
        "--instructions",
        action="store_true",
        help=f"count the instructions that {len(instructions.WORKLOADS)} workloads take in the worker",
    )
    parser.add_argument("--startup", action="store_true", help="measure the time until ready, and memory")
    parser.add_argument(
        "--program", type=pathlib.Path, help="with --workload: measure this merganserd instead of the release; saves nothing"
    )
    parser.add_argument(
        "--functions",
        type=pathlib.Path,
        help="with --workload: measure nothing, but write into this file which functions the workloads run, for the linker",
    )
    options = parser.parse_args()
    if options.functions:
        others = ("save", "program", "curve", "peer", "latency", "statements", "instructions", "startup")
        if not options.workload or "webhooks" in options.workload or any(getattr(options, name) for name in others):
            parser.error("--functions needs --workload, not that of webhooks, and nothing else")
        if not options.functions.parent.is_dir():
            parser.error(f"{options.functions.parent} is no folder")
    if options.program and (options.save or not options.workload):
        parser.error("--program needs --workload, and is never saved; leave out --save")
    if options.program and not (options.program.is_file() and os.access(options.program, os.X_OK)):
        parser.error(f"{options.program} is no program")
    return options


def main() -> None:
    options = arguments()
    # scripts/bench asks first if they are right.
    if not RUN:
        return
    everything = not (
        options.workload
        or options.curve
        or options.latency
        or options.startup
        or options.statements
        or options.instructions
    )
    workloads = NAMES if everything else options.workload
    sides.other_program = options.program and options.program.resolve()
    os.environ["PATH"] += ":/usr/sbin"
    tell_ids_apart()
    bench = Bench(options.rounds, options.seconds)
    results = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine(),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "threads": bench.threads,
        "workloads": [],
        "growth": [],
        "reads": [],
        "statements": [],
        "instructions": [],
        "latency": None,
        "startup": None,
    }
    failed: list[str] = []
    saves = everything or options.save
    is_whole = False
    # As if it were stopped by hand.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if options.peer if options.peer is not None else everything:
            bench.peers["peer"] = Peer(bench.sockets)
            bench.peers["peer-django"] = DjangoPeer(bench.sockets)
        ideal.make_tables()
        if options.functions:
            functions.write(bench, [each for each in WORKLOADS if each.name in workloads], options.functions)
            return
        if workloads:
            print("CPU is in seconds for 1 000 requests.", HEAD, sep="\n", flush=True)
        for workload in WORKLOADS:
            if workload.name in workloads:
                try:
                    rounds = bench.run(workload)
                except SystemExit as failure:
                    # The other workloads are still worth measuring.
                    print(failure, flush=True)
                    failed.append(workload.name)
                    continue
                print("\n".join(lines(workload, rounds)), flush=True)
                results["workloads"].append(
                    {
                        "name": workload.name,
                        "title": workload.title,
                        "ratio": ratio(rounds["merganser"], rounds["floor"]),
                        "ideal_ratio": ratio(rounds["merganser"], rounds["ideal"]) if workload.ideal else None,
                        **{
                            f"{bar}_ratio": ratio(rounds[bar], rounds["ideal"]) if bar in rounds else None
                            for bar in (ideal.LEAST, ideal.RULE)
                        },
                        **{name: asdict(middle(side)) for name, side in rounds.items()},
                        "rounds": [[asdict(each) for each in side] for side in rounds.values()],
                    }
                )
        if everything or options.statements:
            for each in WORKLOADS:
                if each.name in statements.WORKLOADS:
                    found = statements.measure(bench, learn, each)
                    results["statements"].append(found)
                    print(f"{found['title']}: µs beyond DO 0, {found['round_trip']:.0f}")
                    print("\n".join(f"{one['us']:>8.0f}  {one['sql']}" for one in found["statements"]), flush=True)
        if everything or options.instructions:
            for each in WORKLOADS:
                if each.name in instructions.WORKLOADS:
                    found = instructions.measure(bench, learn, each)
                    results["instructions"].append(found)
                    print(f"{each.title}: {found['merganser']:,} instructions, the floor {found['floor']:,}", flush=True)
        for name, part, wanted in (
            ("startup", startup, everything or options.startup),
            ("latency", latency, everything or options.latency),
        ):
            if wanted:
                try:
                    results[name] = part.measure(bench, options.rounds, options.seconds)
                except SystemExit as failure:
                    print(failure, flush=True)
                    failed.append(name)
        curves = [name for name in growth.NAMES if everything or name in options.curve]
        results["growth"] += map(
            asdict, growth.measure(bench, curves, options.seconds, options.rows, options.stored)
        )
        if everything or "reads" in options.curve:
            results["reads"] += map(asdict, reads.measure(options.stored))
        # Its processes alone send.
        bench.stop()
        if "webhooks" in workloads:
            results["growth"] += map(asdict, webhooks.measure(bench.sockets, bench.threads))
        is_whole = True
    finally:
        # Whoever stops an hour's run keeps what it has measured.
        try:
            if saves:
                save(results, everything and is_whole)
        finally:
            bench.stop()
    if failed:
        raise SystemExit("error: these could not be measured: " + ", ".join(failed))


if __name__ == "__main__":
    main()
