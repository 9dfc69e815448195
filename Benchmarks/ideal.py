"""The least that any correct design must do, whatever its own statements are: plans of the floor that are not learned.

    ideal-read    one row by its primary key, which is the answer
    ideal-write   one row inserted, and on disk
    ideal-sign    two RS256 signatures, and an ideal write
    ideal-bulk    a workload's events inserted at once, into a table with only the keys that exactly-once and the documented
                  reads need
    least         with the workload's own requests and answers: the rows that it inserts, in one statement, or one row read by
                  its primary key. It has no rule: it locks nothing, and updates nothing
    rule          the least that may decide anything: first one row is read under its lock, by its primary key, and this row is
                  updated with what is inserted
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import workloads
from plans import Plan, Recording, Statement, parts
from scene import Request, sql
from sides import Side, fetch
from workloads import Workload

ROWS = 10_000
# Characters: about what an answer and a row of an account have.
ANSWER, ROW = 400, 256
HEAD = "head " + b"Status: 200 OK\r\nContent-Type: application/json\r\n".hex()
DONE = [HEAD, "body " + json.dumps({"status": "ok"}).encode().hex()]
INSERT = b"INSERT INTO events "
LEAST, RULE = "least", "rule"


def make_tables() -> None:
    """The events' table has the columns of the real one. It is not partitioned, and a list's order is that of its keys."""
    sql(f"""
        CREATE OR REPLACE TABLE ideal_rows (id BIGINT UNSIGNED PRIMARY KEY, body VARCHAR({ANSWER}) NOT NULL);
        INSERT INTO ideal_rows SELECT seq, REPEAT('x', {ANSWER}) FROM seq_1_to_{ROWS};
        CREATE OR REPLACE TABLE ideal_writes (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, created_at DATETIME(3) NOT NULL,
                                              body VARCHAR({ROW}) NOT NULL);
        CREATE OR REPLACE TABLE ideal_locks (id BIGINT UNSIGNED PRIMARY KEY, version INT UNSIGNED NOT NULL,
                                             body VARCHAR({ROW}) NOT NULL);
        INSERT INTO ideal_locks SELECT seq, 0, REPEAT('x', {ROW}) FROM seq_1_to_{ROWS};
        CREATE OR REPLACE TABLE ideal_events LIKE events;
        ALTER TABLE ideal_events REMOVE PARTITIONING;
        ALTER TABLE ideal_events DROP PRIMARY KEY, DROP KEY events_client_event, DROP KEY events_user, DROP KEY events_app,
            DROP KEY events_session, ADD PRIMARY KEY (id), ADD UNIQUE KEY (app_id, client_event_id),
            ADD KEY (app_user_id, timestamp), ADD KEY (app_id, timestamp), ADD KEY (session_id, timestamp);""")


def execute(statement: str, *parameters: str, keep: int = 0) -> list[str]:
    head = f"execute {statement.encode().hex()} 0 {len(parameters)} {keep}"
    return [head, *(" " + parameter for parameter in parameters)]


def query(statement: str) -> str:
    return "query " + statement.encode().hex()


def plan(name: str, recordings: Sequence[Recording]) -> list[str]:
    """The lines of a plan.

    recordings: of the workload whose ideal this is.
    """
    match name:
        case workloads.READ:
            read = execute("SELECT body FROM ideal_rows WHERE id = ?", "i f0", keep=1)
            return [f"plan {name}", *read, "row", HEAD, "body"]
        case workloads.WRITE | workloads.SIGN:
            write = execute("INSERT INTO ideal_writes (created_at, body) VALUES (?, ?)", "t t0", f"s X{ROW}.0")
            sign = ["sign 2"] if name == workloads.SIGN else []
            return [f"plan {name}", query("START TRANSACTION"), *write, query("COMMIT"), *sign, *DONE]
        case workloads.BULK:
            inserts = [replace(each, statements=bulk(each), fields=(), headers=[], body=b"{}") for each in recordings]
            head, *insert = [line for line in Plan(name, inserts).lines if line.split()[0] not in ("head", "body")]
            return [head, query("START TRANSACTION"), *insert, query("COMMIT"), *DONE]
    raise ValueError(name)


def least(of: Workload, recordings: Sequence[Recording], requests: Sequence[Request]) -> tuple[list[str], list[Request]]:
    """The lines of the plan, and the requests; none if such a workload inserts no rows."""
    if of.ideal == workloads.READ:
        read = execute("SELECT body FROM ideal_rows WHERE id = ?", "i f0")
        ids = [str(1 + number * (ROWS // len(requests))) for number in range(len(requests))]
        return own(of, recordings, LEAST, read), [replace(each, fields=(id,)) for each, id in zip(requests, ids)]
    texts, parameters = inserts(of, recordings)
    if not texts:
        return [], []
    return own(of, recordings, LEAST, block("START TRANSACTION", *texts, "COMMIT", parameters=parameters)), [
        replace(each, fields=()) for each in requests
    ]


def rule(of: Workload, recordings: Sequence[Recording], requests: Sequence[Request]) -> tuple[list[str], list[Request]]:
    """As `least`, for workloads that write."""
    if not writes(of):
        return [], []
    texts, parameters = inserts(of, recordings)
    lock = [query("START TRANSACTION"), *execute("SELECT version, body FROM ideal_locks WHERE id = ? FOR UPDATE", "i f0")]
    update = "UPDATE ideal_locks SET version = version + 1 WHERE id = ?"
    write = block(*texts, update, "COMMIT", parameters=[*parameters, "i f0"])
    # So many that two hardly ever lock the same row.
    ids = [str(1 + number) for number in range(0, ROWS, 10)]
    sent = [replace(requests[number % len(requests)], fields=(id,)) for number, id in enumerate(ids)]
    return own(of, recordings, RULE, [*lock, *write]), sent


def own(of: Workload, recordings: Sequence[Recording], name: str, statements: Sequence[str]) -> list[str]:
    """The lines of a plan with the workload's own answer, and its signatures."""
    head, body = Plan(name, [replace(each, statements=[]) for each in recordings]).lines[-2:]
    sign = [f"sign {of.signatures}"] if of.signatures else []
    return [f"plan {name}", *statements, *sign, head, body]


def block(*texts: str, parameters: Sequence[str]) -> list[str]:
    """Statements that are sent together."""
    return execute(f"BEGIN NOT ATOMIC {'; '.join(texts)}; END", *parameters)


def writes(of: Workload) -> bool:
    """Whether its rows can be inserted again and again. Those of a swap or a merge can be inserted once."""
    return of.ideal in (workloads.WRITE, workloads.SIGN) and of.name not in ("swap", "merge")


def inserts(of: Workload, recordings: Sequence[Recording]) -> tuple[list[str], list[str]]:
    """The statements that insert what a request inserts, and the lines of their parameters."""
    if not writes(of):
        return [], []
    # As one statement, so that no parameter is explained by what another one did.
    joined = [
        Statement(b"", prepared=True, parameters=[each for part in inserted(recording) for each in part.parameters])
        for recording in recordings
    ]
    found = [replace(each, statements=[one], fields=(), headers=[], body=b"{}") for each, one in zip(recordings, joined)]
    lines = [line.strip() for line in Plan(LEAST, found).lines if line.startswith(" ")]
    return [re.sub(r"\s+RETURNING .*", "", part.sql.decode(), flags=re.DOTALL) for part in inserted(recordings[0])], lines


def inserted(recording: Recording) -> list[Statement]:
    """The statements that insert rows. What they learned from a read is a constant.

    Counters are left out: all would wait for one row.
    """
    return [
        part
        for statement in recording.statements
        for part in parts(statement)
        if part.sql.startswith(b"INSERT") and re.search(rb"ON DUPLICATE KEY UPDATE (?!id = id)", part.sql) is None
    ]


def bulk(recording: Recording) -> list:
    found = [each for each in recording.statements if each.sql.lstrip().startswith(INSERT)]
    return [replace(each, sql=each.sql.replace(INSERT, b"INSERT INTO ideal_events ")) for each in found]


def check(floor: Side, name: str, rows: int) -> None:
    """Checks that it touches as many rows as it should, again and again."""
    for request in requests(name)[:1] * 2:
        response, body = fetch(floor, request, {"X-Floor": ",".join((name, *request.fields)), "X-Floor-Check": "1"})
        if response.status != 200 or sum(map(int, body.split())) != rows:
            raise SystemExit(f"error: {name} does not touch {rows} rows: {response.status} {body[:200]!r}")


def workload(of: Workload, name: str) -> Workload:
    """How the requests are sent: over as many connections as those of the workload."""
    status = of.status if name in (LEAST, RULE) else 200
    return Workload(name, "", lambda count: [], status, connections=of.connections)


def requests(name: str) -> list[Request]:
    count = 1_000 if name == workloads.READ else 1
    return [Request("GET", "/ideal", fields=(str(1 + number * (ROWS // count)),)) for number in range(count)]


def rows(name: str, recording: Recording) -> int:
    """How many it touches."""
    return sum(each.touched for each in bulk(recording)) if name == workloads.BULK else 1
