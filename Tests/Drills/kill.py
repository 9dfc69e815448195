"""Kills the server or MariaDB again and again while accounts merge, and polls the events meanwhile.

Afterwards nobody is lost, absorbed accounts lead to live ones, each proof made one merge, and each merge has its events:
numbered without gaps, none missing, none that was read and is not there.
"""

import argparse
import base64
import http.client
import json
import random
import signal
import sys
import threading
import time

import report
from crowd import RACES, Crowd, Merger
from database import DatabaseServer
from instance import DrillError, Instance, server, wait_until
from load import Load

BREAKS = {
    "not-durable": "MariaDB acknowledges commits before they are on disk",
    "no-idempotency-key": "repeated merges have new Idempotency-Keys",
    "lost-event": "an event is deleted",
    "lost-identity": "an identity stays at its absorbed account",
}
# The groups of accounts that wait to merge whenever something is killed.
STOCK = 4000


class Application:
    """A relying party that is told of merges and polls them."""

    def __init__(self, instance: Instance, number: int) -> None:
        made = json.loads(instance.merganserctl(
            "application", "create", "--name", f"Drill {number}", "--client-type", "confidential", "--redirect-uri",
            "com.example.drill://callback", "--json"))
        self.id: int = made["id"]
        credentials = f"{made['client_id']}:{made['client_secret']}".encode()
        self.headers = {"Authorization": "Basic " + base64.b64encode(credentials).decode()}
        self.cursor = "0"
        # The event's id by its number.
        self.read: dict[int, str] = {}


class Poller(threading.Thread):
    """Polls each application's events in turn, from where it has read up to."""

    def __init__(self, instance: Instance, applications: list[Application]) -> None:
        super().__init__(daemon=True)
        self.instance = instance
        self.applications = applications
        self.stopping = threading.Event()
        # Set when events are read.
        self.has_read = threading.Event()
        self.problems: list[str] = []

    def run(self) -> None:
        connection = http.client.HTTPConnection(*self.instance.address, timeout=70)
        while not self.stopping.wait(0.005):
            for application in self.applications:
                try:
                    connection.request("GET", f"/api/v1/events?limit=1000&since={application.cursor}",
                                       headers=application.headers)
                    answer = connection.getresponse()
                    body = answer.read()
                except (OSError, http.client.HTTPException):
                    connection.close()
                    self.stopping.wait(0.1)
                    continue
                if answer.status == 200:
                    self.take(application, json.loads(body))
                elif answer.status < 500:
                    # A cursor that was given and is not known any more, for example.
                    self.problems.append(f"a poll after {application.cursor} was answered {answer.status} {body[:80]}")
                    application.cursor = "0"
                    application.read.clear()

    def take(self, application: Application, page: dict) -> None:
        for event in page["events"]:
            if event["seq"] != len(application.read) + 1:
                self.problems.append(f"after event {len(application.read)} of an application came {event['seq']}")
            application.read[event["seq"]] = event["event_id"]
        application.cursor = page["next_cursor"]
        if page["events"]:
            self.has_read.set()


class KillDrill:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.instance = Instance()
        self.database = DatabaseServer(self.instance)
        self.applications = [Application(self.instance, number) for number in range(8)]
        self.crowd = Crowd(self.instance, [application.id for application in self.applications], RACES)
        self.poller = Poller(self.instance, self.applications)
        # Not repeated once more after its answer: that would halve how many merges come. A lost answer is repeated.
        self.load = Load(self.instance, clients=0, patience=120, repeats=0,
                         keeps_keys=options.broken != "no-idempotency-key")
        self.refused: set[int] = set()
        # Merges per second before each kill.
        self.rates: list[float] = []

    def run(self) -> list[str]:
        if self.options.broken == "not-durable":
            self.database.options = ["--innodb-flush-log-at-trx-commit=0"]
            self.database.stop()
            self.database.start()
        self.crowd.grow(STOCK)
        self.poller.start()
        with self.load:
            for number in range(self.options.clients):
                self.load.beside(Merger(self.load, number, self.crowd, refused=self.refused))
            victims = [self.kill_server, self.kill_database] * ((self.options.kills + 1) // 2)
            for kill in random.sample(victims, self.options.kills):
                if len(self.crowd) < STOCK:
                    self.crowd.grow(STOCK)
                self.run_for(random.uniform(0.5, 2))
                # An event that was read too early is most likely not on disk yet.
                self.poller.has_read.clear()
                self.poller.has_read.wait(1)
                kill()
            self.run_for(1)
        self.poller.stopping.set()
        self.poller.join()
        return self.judge()

    # --- Kills

    def kill_server(self) -> None:
        color = self.instance.serving()
        self.instance.kill(server(color), signal.SIGKILL)
        self.instance.wait_for_end(server(color), 10)
        self.instance.start(color)

    def kill_database(self) -> None:
        self.database.kill()
        self.database.start()

    def run_for(self, seconds: float) -> None:
        """Counted from when merges are answered again."""
        before = self.merged()
        wait_until(lambda: self.merged() > before + 10, 60, "merges")
        before, began = self.merged(), time.monotonic()
        time.sleep(seconds)
        self.rates.append((self.merged() - before) / (time.monotonic() - began))

    def merged(self) -> int:
        return self.load.ledger.counts["merge"]

    # --- Judgement

    def judge(self) -> list[str]:
        sql = self.instance.sql
        if self.options.broken == "lost-event":
            sql("DELETE FROM webhook_outbox ORDER BY id DESC LIMIT 1")
        if self.options.broken == "lost-identity":
            sql("UPDATE identities SET user_id = SUBSTR(sub, 7)"
                " WHERE sub = (SELECT CONCAT('crowd.', MAX(linked_user_id)) FROM identity_links)")
        findings = self.load.ledger.verify(self.instance)
        report.writes(findings)
        problems = list(self.poller.problems)
        for name, query in RULES.items():
            rows = sql(query)
            if rows:
                problems.append(f"{name}: {len(rows)} rows, as {rows[0]}")
        for table, rows in {"users": "users", "identities": "identities WHERE sub LIKE 'crowd.%'",
                            "devices": "devices WHERE device_uuid LIKE 'c40fd000-%'"}.items():
            count = int(sql(f"SELECT COUNT(*) FROM {rows}")[0][0])
            if count < self.crowd.count:
                problems.append(f"of {self.crowd.count} accounts {count} are left in {table}")
        merges = {int(linked) for (linked,) in sql("SELECT linked_user_id FROM identity_links")}
        if done := self.refused & merges:
            problems.append(f"{len(done)} merges were refused and done, as that of {min(done)}")
        read = 0
        for application in self.applications:
            stored = {int(seq): event for seq, event in sql(
                f"SELECT seq, event_id FROM webhook_outbox WHERE application_id = {application.id}")}
            read += len(application.read)
            gone = [seq for seq, event in application.read.items() if stored.get(seq) != event]
            if gone:
                problems.append(f"application {application.id}: {len(gone)} events were read, and are not there or are"
                                f" others now, as number {gone[0]}")
        if any(not finding.holds for finding in findings):
            problems.append("merges were lost or done twice")
        rates = sorted(self.rates)
        print(f"  {len(merges)} merges, {len(self.refused)} refused, {self.options.kills} kills")
        print(f"  merges/s between kills: {report.percentile(rates, 0.5):.0f} (median), {rates[-1]:.0f} (most);"
              f" events read meanwhile: {read}")
        return problems


# By rule: the rows that break it.
RULES = {
    "a linked account is another one's primary": """
        SELECT l.linked_user_id FROM identity_links l JOIN identity_links m ON m.primary_user_id = l.linked_user_id
        """,
    "an identity, a device or a grant is not where its account leads": """
        SELECT 'identity', i.id FROM identities i LEFT JOIN identity_links l ON l.linked_user_id = SUBSTR(i.sub, 7)
        WHERE i.sub LIKE 'crowd.%' AND i.user_id <> COALESCE(l.primary_user_id, SUBSTR(i.sub, 7))
        UNION ALL
        SELECT 'grant', g.id FROM grants g JOIN identities i ON i.sub = CONCAT('crowd.', g.sub)
        LEFT JOIN identity_links l ON l.linked_user_id = g.sub
        WHERE g.user_id <> COALESCE(l.primary_user_id, g.sub)
        UNION ALL
        SELECT 'device', d.id FROM devices d LEFT JOIN identity_links l ON l.linked_user_id = SUBSTR(d.device_uuid, 25)
        WHERE d.device_uuid LIKE 'c40fd000-%' AND d.user_id <> COALESCE(l.primary_user_id, SUBSTR(d.device_uuid, 25))
        """,
    "a PAK of an absorbed account is live": """
        SELECT p.id FROM paks p JOIN identity_links l ON l.linked_user_id = p.user_id WHERE p.revoked_at IS NULL
        """,
    "a proof that was used has not made one link": """
        SELECT t.id, COUNT(l.id) FROM merge_tokens t
        LEFT JOIN identity_links l ON l.idempotency_key = CONCAT('st:', t.id) AND l.linked_user_id = t.user_id
        GROUP BY t.id, t.used_at HAVING COUNT(l.id) <> (t.used_at IS NOT NULL)
        """,
    "numbers have a gap": """
        SELECT c.application_id, c.last_seq, COUNT(o.id), MIN(o.seq), MAX(o.seq) FROM application_event_counters c
        LEFT JOIN webhook_outbox o ON o.application_id = c.application_id
        GROUP BY c.application_id, c.last_seq
        HAVING c.last_seq <> COUNT(o.id) OR c.last_seq <> COALESCE(MAX(o.seq), 0) OR COALESCE(MIN(o.seq), 1) <> 1
        """,
    # Each account of a group has grants at the same two applications.
    "a merge has not made one event at each of two applications": """
        SELECT l.id, COUNT(o.id) FROM identity_links l
        LEFT JOIN (SELECT id, application_id, CAST(JSON_VALUE(raw_payload, '$.data.identity_link_id') AS INT) AS link
                   FROM webhook_outbox WHERE event_type = 'user.merged') o ON o.link = l.id
        GROUP BY l.id HAVING COUNT(o.id) <> 2 OR COUNT(DISTINCT o.application_id) <> 2
        """,
    "an event is of no merge": """
        SELECT o.application_id, o.event_id FROM webhook_outbox o
        LEFT JOIN identity_links l ON l.id = JSON_VALUE(o.raw_payload, '$.data.identity_link_id')
        WHERE l.id IS NULL
        """,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="breaks:\n" + "".join(f"  {name:20}{text}\n" for name, text in BREAKS.items()))
    parser.add_argument("--kills", type=int, help="kills (default: 100; with --short, 5)")
    parser.add_argument("--clients", type=int, default=16, help="clients that merge (default: 16)")
    parser.add_argument("--short", action="store_true", help="kill five times")
    parser.add_argument("--break", dest="broken", choices=BREAKS, help="break the guarantee; the drill must notice")
    options = parser.parse_args()
    options.kills = options.kills or (5 if options.short else 100)
    try:
        problems = KillDrill(options).run()
    except DrillError as error:
        problems = [str(error)]
    return report.verdict(problems)


if __name__ == "__main__":
    sys.exit(main())
