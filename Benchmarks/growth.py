"""Measures how cost grows: with the rows that a claim, a swap or a merge moves, with threads and clients, and with the events,
histories and users that are stored.
"""

import pathlib
import secrets
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import sides
from agents import add_approvals, agents, pending
from load import load
from scene import RUN, Refused, Request, anonymous_phone, make_room, post, send, sql
from workloads import (
    WORKLOADS,
    add_events,
    add_history,
    administrator,
    anonymous_users,
    applications,
    batch,
    claim,
    get,
    give,
    identified_phones,
    identities,
    link,
    merge,
    parallel,
    search,
)

TRIES = 3
# Of sign-ins that claim, whose cost hardly differs.
SAMPLES, CLAIMS, WARMING = 3, 5, 64
# Of requests that change nothing.
READS = 100
NAMES = ("claims", "sign-ins", "swaps", "merges", "threads", "clients", "table", "histories", "users")


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


def sign_ins(histories: list[int]) -> list[Curve]:
    """What signing in costs where it claims so many events, and where the project takes no part (accounts Stage 5): the processor
    time of the server and of MariaDB, which says more about three requests than their duration does."""
    curves = []
    make_room(max(histories))
    for setting in ("on", "off"):
        sql(f"UPDATE projects SET accounts = {setting == 'on'}")
        made = [
            Curve(f"{kind}, accounts {setting}", "events", "ms of processor time") for kind in ("session", "swap", "merge")
        ]
        curves += made
        for events in histories:
            # Only what claims uses up its events: merges, whose events were claimed before, are the last, and come once.
            shared = next(histories_of(events)) if setting == "off" else None
            for curve, requests in zip(made, (claiming_sessions, claiming_swaps, claiming_merges)):
                warming = iter([anonymous_users(WARMING, 1) for _ in range(SAMPLES)])
                times = []
                times_shared = 1 if requests is claiming_merges else SAMPLES
                for names in [shared] * times_shared if shared else histories_of(events):
                    sql("FLUSH TABLES events FOR EXPORT; UNLOCK TABLES")
                    # So that no thread has still to prepare a statement of the few requests that are measured.
                    parallel(send, list(requests(next(warming))))
                    times += map(processor_time, requests(names))
                curve.add(events, statistics.median(times))
    return curves


def histories_of(events: int) -> Iterator[list[str]]:
    """Some anonymous users with this many events, several times: fewer at a time if there are very many."""
    for _ in range(SAMPLES):
        yield anonymous_users(CLAIMS if events < 1_000_000 else 1, events)
        if events > 1_000_000:
            sql("TRUNCATE events")


def processor_time(request: Request) -> float:
    """Milliseconds that the server and MariaDB use for a request, when they have nothing else to do."""
    names = ("merganserd-blue", "mariadb")
    pids = [int(pathlib.Path(RUN, "pids", name).read_text().split()[0]) for name in names]
    sides.settle(pids, 600)
    before = sides.nanoseconds(pids)
    send(request)
    return (sides.nanoseconds(pids) - before) / 1e6


def claiming_sessions(names: list[str]) -> Iterator[Request]:
    for name, identity in zip(names, identities()):
        proof = {"identity_token": identity.token, "raw_nonce": identity.nonce}
        yield post("/api/v1/auth/apple/session", proof | {"anonymous_id": name})


def claiming_swaps(names: list[str]) -> Iterator[Request]:
    for name, identity in zip(names, identities()):
        phone = anonymous_phone()
        ticket = send(link(phone, identity), expected=409)["swap_ticket"]
        body = {"swap_ticket": ticket, "anonymous_id": name}
        yield post("/api/v1/me/anonymous_swap", body, phone.token)


def claiming_merges(names: list[str]) -> Iterator[Request]:
    """The events are the absorbed account's."""
    for name, survivor, absorbed in zip(names, identified_phones(len(names)), identified_phones(len(names))):
        send(claim(name, str(absorbed.user)))
        yield merge(survivor, absorbed)


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


def sizes(largest: int) -> list[int]:
    return [size for size in (10, 1_000, 100_000, 10_000_000) if size <= largest]


def fill(table: str, start: int, end: int, add: Callable[[str], object]) -> None:
    """Adds rows for the numbers from start + 1 to end, in transactions that fit into memory."""
    began, chunk = time.monotonic(), 500_000
    for first in range(start + 1, end + 1, chunk):
        last = min(first + chunk - 1, end)
        add(f"seq_{first}_to_{last}")
        if end - start > chunk:
            seconds = time.monotonic() - began
            print(f"  {last:,} of {end:,} rows of {table} made in {seconds:.0f} s", flush=True)


def typical(requests: Iterable[Request]) -> float | None:
    """Milliseconds of a request, one after the other, through nginx."""
    return median(milliseconds(lambda: send(request)) for request in requests)


def histories(largest: int) -> list[Curve]:
    """Reads of a page of ten, and a poll, of somebody who has this many sign-ins and decided approvals."""
    unit = "rows of the user"
    logins, approvals, polls = (
        Curve(title, unit, "ms") for title in ("login history", "list of approvals", "poll")
    )
    phone = anonymous_phone()
    asking = agents([phone], 1)
    made = 0
    for size in sizes(largest):
        fill("login_events", made, size, lambda numbers: add_history([phone.user], numbers))
        fill("agent_approvals", made, size, lambda numbers: add_approvals(asking, numbers, "approved"))
        made = size
        logins.add(size, typical([get("/api/v1/me/login_history?limit=10", phone.token)] * READS))
        approvals.add(size, typical([get("/api/v1/me/agent_approvals?limit=10", phone.token)] * READS))
        polls.add(size, typical(agent.poll(each) for agent, each in pending(asking, 1_000_000_000 + size, READS)))
    return [logins, approvals, polls]


def users(largest: int) -> list[Curve]:
    """Searches of the console in an installation of this many users, each with an identity and a device. The first point is at
    what there is already.
    """
    curves = [Curve(f"{name} search", "users", "ms") for name in ("e-mail", "subject", "device")]
    # Beyond all ids that there are.
    base, made = 1_000_000_000, 0

    def add_users(numbers: str) -> None:
        sql(f"""
            SET unique_checks = 0, foreign_key_checks = 0;
            INSERT INTO users (id, name, login_email, contact_email)
            SELECT {base} + seq, 'Somebody', CONCAT('crowd', LPAD(seq, 9, '0'), '@example.com'),
                   CONCAT('crowd', LPAD(seq, 9, '0'), '@example.com') FROM {numbers}""")

    def add_identities(numbers: str) -> None:
        sql(f"""
            SET unique_checks = 0, foreign_key_checks = 0;
            INSERT INTO identities (user_id, provider, sub, email, email_verified)
            SELECT {base} + seq, 'apple', CONCAT('crowd.', LPAD(seq, 9, '0')),
                   CONCAT('crowd', LPAD(seq, 9, '0'), '@example.com'), TRUE FROM {numbers}""")

    def add_devices(numbers: str) -> None:
        sql(f"""
            SET unique_checks = 0, foreign_key_checks = 0;
            INSERT INTO devices (user_id, device_uuid, platform)
            SELECT {base} + seq, CONCAT(LPAD(LOWER(HEX(seq)), 8, '0'), '-0000-4000-8000-000000000000'), 'ios'
            FROM {numbers}""")

    administrator()
    [[existing]] = sql("SELECT COUNT(*) FROM users")
    for size in sorted({max(int(existing) + 1, size) for size in sizes(largest)}):
        wanted = size - int(existing)
        for name, add in (("users", add_users), ("identities", add_identities), ("devices", add_devices)):
            fill(name, made, wanted, add)
        made = wanted
        chosen = [1 + number * made // READS for number in range(READS)]
        queries = (
            [f"crowd{number:09}@example.com" for number in chosen],
            [f"crowd.{number:09}" for number in chosen],
            [f"{number:08x}-0000-4000-8000-000000000000" for number in chosen],
        )
        for curve, given in zip(curves, queries):
            curve.add(size, typical(map(search, given)))
    return curves


def measure(bench, names: Iterable[str], seconds: float, rows: int, stored: int) -> Iterator[Curve]:
    """Curves by name: claims, swaps and merges up to that many rows, sign-ins and the last three up to that many stored rows."""

    def powers_up_to(largest: int) -> list[int]:
        return [10**power for power in range(1, 8) if 10**power <= largest]

    powers = powers_up_to(min(rows, 1_000_000))
    makers: dict[str, Callable[[], list[Curve]]] = {
        "claims": lambda: [claims(powers)],
        "sign-ins": lambda: sign_ins(sizes(stored)),
        "swaps": lambda: [swaps(powers)],
        "merges": lambda: [merges(power for power in powers if power <= 100_000)],
        "threads": lambda: threads(bench, seconds),
        "clients": lambda: clients(bench, seconds),
        "table": lambda: [table(bench, seconds, stored)],
        "histories": lambda: histories(stored),
        "users": lambda: users(stored),
    }
    for name in names:
        yield from makers[name]()
