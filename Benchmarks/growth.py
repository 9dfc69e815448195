"""Measures how cost grows with the rows that a claim, a swap or a merge moves, with threads, clients and stored events."""

import secrets
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import sides
from load import load
from scene import Refused, anonymous_phone, post, send, sql
from workloads import (
    WORKLOADS,
    add_events,
    anonymous_users,
    applications,
    batch,
    claim,
    give,
    identified_phones,
    identities,
    link,
    merge,
    parallel,
)

TRIES = 3


@dataclass(slots=True)
class Curve:
    """One line of a diagram. A y of None means that the request was refused."""

    title: str
    x: str
    y: str
    points: list[tuple[float, float | None]] = field(default_factory=list)

    def add(self, x: float, y: float | None) -> None:
        self.points.append((x, y))
        print(
            f"  {self.title}: {x:,.0f} {self.x}: " + (f"{y:,.2f} {self.y}" if y is not None else "refused"), flush=True
        )


def milliseconds(action: Callable[[], object]) -> float | None:
    start = time.perf_counter()
    try:
        action()
    except Refused as refusal:
        print(f"  {refusal}", flush=True)
        return None
    return (time.perf_counter() - start) * 1e3


def median(values: Iterable[float | None]) -> float | None:
    taken = list(values)
    return None if None in taken else statistics.median(taken)


def claims(powers: Iterable[int]) -> Curve:
    curve = Curve("claim", "events", "ms")
    for events in powers:
        names = anonymous_users(TRIES, events)
        requests = [claim(name, "user-" + secrets.token_hex(8)) for name in names]
        curve.add(events, median(milliseconds(lambda: send(request)) for request in requests))
    return curve


def swaps(powers: Iterable[int]) -> Curve:
    """Pending approvals that one swap moves."""
    curve = Curve("swap", "approvals", "ms")
    for rows in powers:
        phones = [anonymous_phone() for _ in range(TRIES)]
        for phone in phones:
            give([phone.user], agent_approvals=rows - rows // 2, push_approvals=rows // 2, grants=False)
        times = []
        for phone, identity in zip(phones, identities()):
            ticket = send(link(phone, identity), expected=409)["swap_ticket"]
            body = {"provider": "apple", "swap_ticket": ticket, "device_uuid": phone.device_uuid, "platform": "ios"}
            times.append(milliseconds(lambda: send(post("/api/v1/me/anonymous_swap", body, phone.token))))
        curve.add(rows, median(times))
    return curve


def merges(powers: Iterable[int]) -> Curve:
    """Grants and approvals that one merge moves, half of each; the grants are at ten applications, which are told."""
    curve = Curve("merge", "grants and approvals", "ms")
    chosen = applications()
    for rows in powers:
        survivors, absorbed = identified_phones(TRIES), identified_phones(TRIES)
        for phone in absorbed:
            give([phone.user], agent_approvals=rows - rows // 2, push_approvals=1, grants=False)
            sql(f"""
                INSERT INTO grants (user_id, application_id, sub, scopes, created_at)
                SELECT {phone.user}, a.id, CONCAT('{phone.user}-', seq), a.allowed_scopes, NOW(3)
                FROM seq_1_to_{rows // 2} JOIN applications a
                    ON a.id = ELT(1 + seq % {len(chosen)}, {", ".join(map(str, chosen))})""")
        requests = [merge(*pair) for pair in zip(survivors, absorbed)]
        curve.add(rows, median(milliseconds(lambda: send(request)) for request in requests))
    return curve


def throughput(bench, name: str, seconds: float, threads: int | None = None, connections: int | None = None) -> float:
    """Merganser's requests a second, by default with its usual number of threads."""
    workload = next(each for each in WORKLOADS if each.name == name)
    requests = workload.prepare(64 if not workload.once else workload.once)
    side = bench.merganser if threads is None else sides.merganser("growth", bench.sockets, threads)
    try:
        return load(side, workload, requests, seconds, connections).rate
    finally:
        if threads is not None:
            side.stop()


def threads(bench, seconds: float) -> list[Curve]:
    curves = [Curve("GET /api/v1/me", "threads", "requests/s"), Curve("properties", "threads", "requests/s")]
    for curve, name in zip(curves, ("me", "properties")):
        for count in (1, 2, 4, 8, 16, 32, 64):
            curve.add(count, throughput(bench, name, seconds, threads=count))
    return curves


def clients(bench, seconds: float) -> list[Curve]:
    curves = [Curve("GET /api/v1/me", "clients", "requests/s"), Curve("properties", "clients", "requests/s")]
    for curve, name in zip(curves, ("me", "properties")):
        for count in (1, 4, 16, 64, 256, 1024):
            curve.add(count, throughput(bench, name, seconds, connections=count))
    return curves


def table(bench, seconds: float, events: int) -> Curve:
    """Ingest of 20 events into an empty table, and into a table of this many events."""
    sql("TRUNCATE events; UPDATE app_user_event_counts SET n = 0")
    curve = Curve("ingest of 20 events", "events in the table", "requests/s")
    curve.add(float(sql("SELECT COUNT(*) FROM events")[0][0]), throughput(bench, "ingest-20", seconds))
    owners = [f"crowd-{secrets.token_hex(6)}" for _ in range(100)]
    parallel(lambda name: send(batch(name, 1)), owners)
    chunk = 2_000
    for start in range(0, events // len(owners), chunk):
        # Spread over three weeks, like events of a running service.
        add_events(owners, f"seq_{start + 1}_to_{start + chunk}", apart="18 SECOND")
        if start % 10_000 == 0:
            print(f"  {(start + chunk) * len(owners):,} of {events:,} events made", flush=True)
    curve.add(float(sql("SELECT COUNT(*) FROM events")[0][0]), throughput(bench, "ingest-20", seconds))
    return curve


def measure(bench, seconds: float, rows: int, events: int) -> list[Curve]:
    """All curves: claims, swaps and merges up to that many rows, ingest up to that many events."""
    powers = [10**power for power in range(1, 7) if 10**power <= rows]
    return [
        claims(powers),
        swaps(powers),
        merges(power for power in powers if power <= 100_000),
        *threads(bench, seconds),
        *clients(bench, seconds),
        table(bench, seconds, events),
    ]
