"""What each statement of a request takes: the floor runs them one by one, also those that Merganser sends together. Then
it runs each read twice, one right after the other: the second one finds MariaDB's code and its rows in the caches.

The floor and MariaDB share one processor meanwhile. Otherwise what a statement takes depends on which processor wakes up.
"""

import http.client
import json
import os
import pathlib
import re
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle

import ideal
import sides
from plans import Plan, Recording, Statement, parts
from scene import RUN, Request
from sides import Side
from workloads import Workload

REQUESTS = 1_000
WORKLOADS = (
    "bootstrap-known",
    "link-conflict",
    "claim-10",
    "claim-known",
    "ingest-1",
    "properties",
    "refresh",
    "userinfo",
    "introspection",
)


def measure(bench, learn, workload: Workload) -> dict:
    """The statements in their order, each with the median of its microseconds beyond those of `DO 0`."""
    requests = workload.prepare(2 * REQUESTS + 10 if workload.once else 64)
    alone = learn(bench.recorder, workload, requests[:5])
    recordings = [
        replace(each, statements=[part for statement in each.statements for part in parts(statement)])
        for each in alone.recordings
    ]
    share = REQUESTS if workload.once else 0
    first, least = times(bench, workload, recordings, requests[5:])
    repeating = [replace(each, statements=repeated(each.statements)) for each in recordings]
    twice, _ = times(bench, workload, repeating, requests[5 + share :])
    statements = []
    for statement, us in zip(recordings[-1].statements, first):
        twice.pop(0)
        again = twice.pop(0) if is_read(statement) else None
        statements.append({"sql": label(statement.sql), "us": us, "again_us": again})
    return {"name": workload.name, "title": workload.title, "round_trip": least, "statements": statements}


def is_read(statement: Statement) -> bool:
    return statement.sql.lstrip().startswith(b"SELECT")


def repeated(statements: Sequence[Statement]) -> list[Statement]:
    return [each for statement in statements for each in [statement] * (2 if is_read(statement) else 1)]


def times(
    bench, workload: Workload, recordings: Sequence[Recording], requests: Sequence[Request]
) -> tuple[list[float], float]:
    """Medians of the statements' microseconds beyond those of `DO 0`, in their order; and those of `DO 0`."""
    plan = Plan(workload.name, recordings, 0, workload.chain)
    path = sides.WORK / "plans"
    head = next(index for index, line in enumerate(plan.lines) if line.split()[0] in ("sign", "token", "head"))
    lines = [*plan.lines[:head], *ideal.execute("DO 0"), *plan.lines[head:]]
    path.write_text("\n".join([f"session {bench.recorder.session}", *lines, ""]))
    database = int(pathlib.Path(RUN, "pids/mariadb").read_text().split()[0])
    floor = sides.floor(bench.floor_program, path, bench.sockets, 1)
    try:
        with on_one_processor(database, *(process.pid for process in floor.responders)):
            taken = list(zip(*send(floor, workload, requests)))
    finally:
        floor.stop()
    *own, least = [statistics.median(each) / 1e3 for each in taken]
    return [max(0, us - least) for us in own], least


@contextmanager
def on_one_processor(*pids: int) -> Iterator[None]:
    def place(processors: set[int]) -> None:
        for pid in pids:
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                try:
                    os.sched_setaffinity(int(task.name), processors)
                except ProcessLookupError:
                    # A thread that has ended meanwhile.
                    continue

    before = os.sched_getaffinity(0)
    place({min(before)})
    try:
        yield
    finally:
        place(before)


def send(floor: Side, workload: Workload, requests: Sequence[Request]) -> Iterator[list[int]]:
    """One after the other over one connection; the first ones prepare the statements."""
    connection = http.client.HTTPConnection(floor.address, timeout=60)
    chained: tuple[str, ...] = ()
    for number, request in zip(range(REQUESTS), requests if workload.once else cycle(requests)):
        # Whoever needs the answer before begins with one token.
        fields = chained or request.fields
        headers = {**request.headers, "X-Floor": ",".join((workload.name, *fields)), "X-Floor-Time": "1"}
        connection.request(request.method, request.path, request.body or None, headers)
        response = connection.getresponse()
        body = response.read()
        times = response.getheader("X-Floor-Times")
        if times is None:
            raise SystemExit(f"error: {workload.name}: {response.status} {body[:200]!r}")
        if workload.chain:
            chained = (json.loads(body)[workload.chain], *request.fields[1:])
        if number >= 20:
            yield [int(each) for each in times.split()]
    connection.close()


def label(sql: bytes) -> str:
    """What it does to which tables."""
    text = " ".join(sql.decode().split())
    if text in ("START TRANSACTION", "COMMIT"):
        return text
    tables = dict.fromkeys(re.findall(r"(?:FROM|JOIN|INTO|(?<!KEY )UPDATE(?: IGNORE)?) ([a-z_]{3,})", text))
    rows = len(re.findall(r"\), \(", text)) + 1
    lock = next((" " + each for each in ("FOR UPDATE", "LOCK IN SHARE MODE") if text.endswith(each)), "")
    return f"{text.split()[0]} {', '.join(tables)}{lock}" + (f", {rows} rows" if rows > 1 and text.startswith("INSERT") else "")
