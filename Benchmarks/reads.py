"""Measures every read that takes filters or pages, in small and in large tables: its first page, its hundredth, its last, and
a filter that nothing matches.
"""

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote

from scene import Phone, Refused, Request, anonymous_phone, make_room, send, setting, sql
from workloads import administrator, applications, batch, get

AGENT_KEY, PROJECT = setting("MERGANSER_AGENT_KEY"), setting("MERGANSER_PROJECT_ID")
TRIES = 5
# Rows: of events, and of all other tables.
SIZES = ((200_000, 20_000), (10_000_000, 1_000_000))
CHUNK = 500_000
# Beyond all ids that there are.
BASE = 2_000_000_000
NOBODY = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Read:
    path: str
    # Query parameters by name: values that some rows have. Each is measured by itself.
    filters: tuple[str, ...] = ()
    # The same with values that no row has.
    nothing: tuple[str, ...] = ()
    # A SELECT of the cursor of the last page; empty if there is only one page.
    last: str = ""
    # The parameter that takes a cursor, and the member of an answer that has the next.
    cursor: tuple[str, str] = ("cursor", "cursor")
    token: Callable[[], str] = lambda: AGENT_KEY


def position(column: str, identifier: str, rows: str) -> str:
    """The position 20 rows before the end of a list of /v1, as its cursor."""
    return f"SELECT CONCAT(FLOOR(UNIX_TIMESTAMP({column}) * 1000), ' ', {identifier}) FROM {rows} ORDER BY {column} LIMIT 1 OFFSET 20"


UUID = "INSERT(INSERT(INSERT(INSERT(LOWER(HEX(id)), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-')"
ADMIN = lambda: administrator().token
BEFORE = ("before", "next_cursor")


def reads() -> list[Read]:
    app = sql("SELECT LOWER(HEX(id)) FROM apps ORDER BY created_at LIMIT 1")[0][0]
    app = "-".join((app[:8], app[8:12], app[12:16], app[16:20], app[20:]))
    session = sql("SELECT MD5(1)")[0][0]
    event_filters = (
        f"project_id={PROJECT}", f"app_id={app}", "level=error", "environment=ios", "screen_name=Rare", "user_id=crowd-7",
        f"session_id={session}", "since=7d", "until=7d", "data_mode=all", "order=asc", "user_id=crowd-7&level=error",
    )
    no_event = (
        f"app_id={NOBODY}", "level=debug", "environment=macos", "screen_name=None", "user_id=nobody",
        f"session_id={NOBODY}", "since=2030-01-01", "data_mode=development", "user_id=crowd-7&screen_name=None",
    )
    user_filters = (
        f"project_id={PROJECT}", "search=crowd-77", "is_anonymous=true", "billing_status=paid", "since=1h", "until=7d",
        "sort=first_seen", "data_mode=all",
    )
    no_user = ("search=nobody", "billing_status=trial", "since=2030-01-01", "sort=first_seen&since=2030-01-01")
    feedback_filters = (f"app_id={app}", "status=addressed", "is_dev=false", "data_mode=all")
    users_last = position("last_seen_at", "id", "app_users WHERE user_id LIKE 'crowd-%'")
    return [
        Read("/v1/events", event_filters, no_event, position("timestamp", UUID, "events")),
        Read("/v1/events/count", ("since=1h", "user_id=crowd-7", "level=error"), ("user_id=nobody", "since=2030-01-01")),
        Read("/v1/app-users", (f"app_id={app}", *user_filters), no_user, users_last),
        Read(f"/v1/apps/{app}/users", user_filters, no_user, users_last),
        Read("/v1/feedback", feedback_filters, ("status=none", "is_dev=true"), position("created_at", UUID, "feedback")),
        Read(f"/v1/projects/{PROJECT}/feedback", ("status=addressed",), ("status=none",),
             position("created_at", UUID, "feedback")),
        Read("/v1/attachments", (f"project_id={PROJECT}", f"event_id={session_id(5)}", f"event_client_id={session_id(5)}"),
             (f"issue_id={NOBODY}", f"event_id={NOBODY}"), position("created_at", UUID, "event_attachments")),
        Read("/v1/apps"), Read("/v1/projects"),
        Read("/api/v1/me/login_history", last="SELECT MIN(id) + 20 FROM login_events WHERE user_id = %d" % reader().user,
             cursor=BEFORE, token=lambda: reader().token),
        Read("/api/v1/admin/users", ("query=crowd000000007@example.com",), ("query=nobody@example.com", "query=1"),
             f"SELECT MIN(id) + 20 FROM users", BEFORE, ADMIN),
        Read("/api/v1/admin/merges", (f"user_id={BASE + 1}",), ("user_id=1",), "", BEFORE, ADMIN),
        Read("/api/v1/admin/audit_log",
             (f"user_id={reader().user}", "action=bench.usual", "action=bench.rare",
              f"user_id={reader().user}&action=bench.rare"),
             ("user_id=1", "action=none", f"user_id={reader().user}&action=none"),
             "SELECT MIN(id) + 20 FROM audit_log WHERE action = 'bench.usual'", BEFORE, ADMIN),
        Read("/api/v1/admin/webhook_outbox", ("state=pending", "state=dead", "state=delivered"), (), "", BEFORE, ADMIN),
        Read("/api/v1/admin/applications", (), (), "", BEFORE, ADMIN),
        Read("/api/v1/admin/overview", token=ADMIN),
    ]


@cache
def reader() -> Phone:
    """Somebody whose own lists are long."""
    return anonymous_phone()


def session_id(number: int) -> str:
    text = sql(f"SELECT MD5({number})")[0][0]
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def fill(first: int, last: int, add: str) -> None:
    """Runs the statement for the numbers from first + 1 to last, in transactions that fit into memory."""
    for start in range(first + 1, last + 1, CHUNK):
        sql(f"SET unique_checks = 0, foreign_key_checks = 0; "
            + add.format(numbers=f"seq_{start}_to_{min(start + CHUNK - 1, last)}"))


def fill_all(events: tuple[int, int], others: tuple[int, int]) -> None:
    began = time.monotonic()
    user, application = reader().user, applications()[0]
    fill(*others, f"""
        INSERT INTO app_users (id, public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at, properties)
        SELECT {BASE} + seq, RANDOM_BYTES(16), (SELECT project_id FROM apps ORDER BY created_at LIMIT 1),
               CONCAT('crowd-', seq), FALSE, NOW(3) - INTERVAL 40 DAY, NOW(3) - INTERVAL seq SECOND,
               IF(seq % 1000 = 0, '{{{{"rc_subscriber":"true"}}}}', NULL) FROM {{numbers}};
        INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at)
        SELECT {BASE} + seq, (SELECT id FROM apps ORDER BY created_at LIMIT 1), NOW(3), NOW(3) FROM {{numbers}};""")
    fill(*events, f"""
        INSERT INTO events (id, app_id, client_event_id, session_id, app_user_id, level, message, screen_name, environment,
                            is_dev, timestamp, received_at)
        SELECT CONCAT(UNHEX(LPAD(HEX(FLOOR(UNIX_TIMESTAMP(t) * 1000)), 12, '0')), RANDOM_BYTES(10)),
               (SELECT id FROM apps ORDER BY created_at LIMIT 1), RANDOM_BYTES(16), UNHEX(MD5(seq DIV 20)),
               {BASE} + 1 + seq % 1000, IF(seq % 100 = 0, 'error', 'info'), 'screen opened',
               IF(seq % 1000 = 0, 'Rare', 'Home'), 'ios', FALSE, t, t
        FROM (SELECT seq, NOW(3) - INTERVAL seq * 180000 MICROSECOND AS t FROM {{numbers}}) made""")
    fill(*others, f"""
        INSERT INTO feedback (id, app_id, project_id, app_user_id, message, status, is_dev, created_at, updated_at)
        SELECT RANDOM_BYTES(16), a.id, a.project_id, {BASE} + 1 + seq % 1000, 'Nice', IF(seq % 1000 = 0, 'addressed', 'new'),
               FALSE, NOW(3) - INTERVAL seq SECOND, NOW(3)
        FROM {{numbers}} JOIN (SELECT id, project_id FROM apps ORDER BY created_at LIMIT 1) a;
        INSERT INTO event_attachments (id, project_id, app_id, event_client_id, event_id, original_filename, content_type,
                                       size_bytes, sha256, is_dev, uploaded_at, created_at)
        SELECT RANDOM_BYTES(16), a.project_id, a.id, UNHEX(MD5(seq)), UNHEX(MD5(seq)), 'log.txt', 'text/plain', 1,
               SHA2(seq % 1000, 256), FALSE, NOW(3), NOW(3) - INTERVAL seq SECOND
        FROM {{numbers}} JOIN (SELECT id, project_id FROM apps ORDER BY created_at LIMIT 1) a;""")
    fill(*others, f"""
        INSERT INTO users (id, name, login_email, contact_email)
        SELECT {BASE} + seq, 'Somebody', CONCAT('crowd', LPAD(seq, 9, '0'), '@example.com'),
               CONCAT('crowd', LPAD(seq, 9, '0'), '@example.com') FROM {{numbers}};
        INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key, created_at)
        SELECT {BASE} + IF(seq % 1000 = 0, 1, seq - 1), {BASE} + seq, 'session_token', CONCAT('bench-', seq),
               NOW(3) - INTERVAL seq SECOND FROM {{numbers}} WHERE seq % 2 = 0;
        INSERT INTO login_events (user_id, event, provider, ip, user_agent, platform, created_at)
        SELECT {user}, 'session', 'apple', '203.0.113.7', 'Mozilla/5.0', 'ios', NOW(3) - INTERVAL seq SECOND FROM {{numbers}};
        INSERT INTO audit_log (at, user_id, actor, action)
        SELECT NOW(3) - INTERVAL seq SECOND, {user}, 'user', IF(seq % 1000 = 0, 'bench.rare', 'bench.usual') FROM {{numbers}};
        INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, next_attempt_at, delivered_at, dlq_at, seq)
        SELECT {application}, CONCAT('evt_', LPAD(seq, 12, '0')), 'user.updated', '{{{{}}}}',
               IF(seq % 3 = 0, NOW(3) + INTERVAL 1 DAY, NULL), IF(seq % 3 = 1, NOW(3), NULL), IF(seq % 3 = 2, NOW(3), NULL),
               1000000000 + seq FROM {{numbers}};""")
    sql("ANALYZE TABLE events, app_users, app_user_apps, feedback, event_attachments, users, identity_links, login_events, "
        "audit_log, webhook_outbox")
    print(f"  {events[1]:,} events and {others[1]:,} other rows made in {time.monotonic() - began:.0f} s", flush=True)


@dataclass(slots=True)
class Cost:
    """The fewest milliseconds that one request took, at each place of a list; None where the list has no such place."""

    read: str
    events: int
    first: float | None = None
    hundredth: float | None = None
    last: float | None = None
    refused: list[str] = field(default_factory=list)


def timed(request: Request) -> tuple[float, dict]:
    start = time.perf_counter()
    answer = send(request)
    return (time.perf_counter() - start) * 1e3, answer


def fastest(request: Request, cost: Cost) -> float | None:
    try:
        timed(request)
        return min(timed(request)[0] for _ in range(TRIES))
    except Refused as refusal:
        cost.refused.append(str(refusal)[:120])
        return None


def measured(read: Read, query: str, events: int) -> Cost:
    path, token = read.path + ("?" + query if query else ""), read.token()
    cost = Cost(path, events)
    cost.first = fastest(get(path, token), cost)
    parameter, member = read.cursor
    joint = "&" if query else "?"
    after = None
    for _ in range(99 if cost.first is not None else 0):
        page = send(get(path + (f"{joint}{parameter}={quote(after)}" if after else ""), token))
        after = page.get(member)
        if not after:
            break
    if after:
        cost.hundredth = fastest(get(f"{path}{joint}{parameter}={quote(after)}", token), cost)
    if read.last and "order=" not in query and "sort=" not in query:
        [[last]] = sql(read.last)
        last = base64.urlsafe_b64encode(last.encode()).decode().rstrip("=") if parameter == "cursor" else last
        cost.last = fastest(get(f"{path}{joint}{parameter}={last}", token), cost)
    return cost


def measure(largest: int) -> Iterator[Cost]:
    """For sizes with at most this many events."""
    make_room(largest)
    # Before the rows below, whose ids are higher than all that are given later.
    send(batch("reader", 1))
    reader(), administrator(), applications()
    made = (0, 0)
    for events, others in SIZES:
        if events > largest:
            break
        fill_all((made[0], events), (made[1], others))
        made = events, others
        print(f"{'read, ms at ' + format(events, ','):<100}{'first':>9}{'100th':>9}{'last':>9}{'worst':>7}")
        for read in reads():
            usual: float | None = None
            for query in ("", *read.filters, *read.nothing):
                cost = measured(read, query, events)
                usual = usual or cost.first
                places = [cost.first, cost.hundredth, cost.last]
                worst = max((each / usual for each in places if each and usual), default=0)
                print(f"{cost.read:<100}" + "".join(f"{each:>9.1f}" if each else f"{'–':>9}" for each in places)
                      + f"{worst:>7.1f}" + "".join(f"  {each}" for each in cost.refused), flush=True)
                yield cost
