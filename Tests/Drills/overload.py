"""Sends more requests than can be served, and measures what is still served and how soon the server recovers."""

import collections
import json
import os
import secrets
import uuid
from datetime import UTC, datetime

import report
from drill import Drill
from ledger import Finding, uuid_text
from load import Exchange, Record
from openloop import OpenLoop, Sample

EVENTS = 100
# Where a request's own id stands in the text that all have in common.
MARK = "00112233-4455-4677-8899"
# Of the peak's goodput, what is left at the heaviest load.
SHARE = 0.7


class Overload:
    """Stretches of one rate each; what is offered does not depend on what is answered."""

    def __init__(self, drill: Drill) -> None:
        self.drill = drill
        self.record = drill.record = Record()
        self.template = self.request()
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()
        # How many events of each batch.
        self.stored: collections.Counter[str] = collections.Counter()
        self.loop = OpenLoop(drill.instance.address, self.render, self.answered, patience=3)

    def run(self) -> None:
        seconds = self.drill.choose(4, 15)
        capacity = self.loop.saturate(32, seconds).goodput
        self.clear()
        rows: list[tuple[object, ...]] = []
        samples = {times: self.stretch(times, capacity, seconds, rows)
                   for times in self.drill.choose((1, 10), (0.5, 1, 2, 3, 5, 10))}
        with self.drill.fault():
            pass
        after = self.stretch(0.5, capacity, seconds, rows)
        print(f"  {capacity:.0f} requests/s of {EVENTS} events can be served")
        report.table(("offered", "requests/s", "200/s", "503/s", "other/s", "no answer/s", "p50 ms", "p99 ms"), rows)
        peak = max(sample.goodput for sample in samples.values())
        share = samples[10].goodput / peak
        print(f"  at ten times the load that can be served, {share:.0%} of the peak is still served")
        if share < SHARE:
            self.drill.wrong(f"at ten times what can be served, {share:.0%} of the peak is left, not {SHARE:.0%}")
        if after.goodput < 0.9 * after.offered:
            self.drill.wrong(f"afterwards {after.goodput:.0f} of {after.offered:.0f} requests/s were served")
        self.drill.findings = [self.verify()]

    def stretch(self, times: float, capacity: float, seconds: float, rows: list[tuple[object, ...]]) -> Sample:
        sample = self.loop.run(times * capacity, seconds)
        self.clear()
        others = sum(count for status, count in sample.statuses.items() if status not in (200, 503, None))
        rows.append((f"{times:g} ×", *(f"{count / sample.seconds:.0f}" for count in (
            sample.statuses.total(), sample.statuses[200], sample.statuses[503], others, sample.statuses[None])),
            *(f"{1000 * report.percentile(sample.latencies, part):.0f}" for part in (0.5, 0.99))))
        return sample

    def request(self) -> bytes:
        event = {"session_id": f"{MARK}-000000000000", "user_id": f"overload_{MARK}", "level": "info",
                 "message": "overload", "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds")}
        events = [{"client_event_id": f"{MARK}-{number:012}", **event} for number in range(EVENTS)]
        body = json.dumps({"bundle_id": os.environ["MERGANSER_BUNDLE_ID"], "events": events}).encode()
        key = os.environ["MERGANSER_CLIENT_KEY"]
        head = (f"POST /v1/ingest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        return head.encode() + body

    def render(self) -> tuple[bytes, str]:
        batch = str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))[:23]
        self.sent.add(batch)
        return self.template.replace(MARK.encode(), batch.encode()), batch

    def answered(self, batch: str, began: float, ended: float, status: int | None) -> None:
        if status == 200:
            self.acknowledged.add(batch)
        self.record.add(Exchange("overload", began, ended, status, None if status == 200 else str(status)))

    def clear(self) -> None:
        """Counts what is stored, and has the next stretch find a table that is as small: what an event costs grows once
        the indexes no longer fit into MariaDB's memory.
        """
        rows = self.drill.instance.sql(
            "LOCK TABLES events WRITE, app_user_event_counts WRITE;"
            f" SELECT LEFT({uuid_text('session_id')}, 23), COUNT(*)"
            " FROM events WHERE message = 'overload' GROUP BY session_id;"
            " TRUNCATE events; UPDATE app_user_event_counts SET n = 0")
        self.stored.update({batch: int(count) for batch, count in rows})

    def verify(self) -> Finding:
        """A batch is stored whole, or not at all."""
        stored = self.stored.keys() & self.sent
        return Finding("batch", len(self.sent), len(self.acknowledged), len(stored),
                       missing=[batch for batch in self.acknowledged | stored if self.stored[batch] < EVENTS],
                       twice=[batch for batch in stored if self.stored[batch] > EVENTS])
