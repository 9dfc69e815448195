"""Kills the server or MariaDB again and again while accounts merge, and polls the events meanwhile.

Afterwards nobody is lost, absorbed accounts lead to live ones, each proof made one merge, and each merge has its
events: numbered without gaps, none missing, none that was read and is not there.
"""

import argparse
import base64
import collections
import http.client
import json
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator

import report
from crowd import RACES, Crowd, Merger
from database import DatabaseServer
from instance import DrillError, Instance, server, wait_until
from load import Load

BREAKS = {
    "not-durable": "MariaDB acknowledges commits before they are on disk",
    "lost-event": "an event is deleted",
    "lost-identity": "an identity stays at its absorbed account",
}
# What clients may see: the refusals of merges that race, and what becomes of requests while something is down.
MAY = {401, 502, 503, 504, None}
# As docs/deployment.md has it: without it, InnoDB shows a commit a moment before it is on disk.
BINARY_LOG = ["--log-bin=binlog", "--sync-binlog=1", "--log-bin-trust-function-creators=1"]
NOT_DURABLE = ["--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0"]
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
        self.load = Load(self.instance, clients=0, patience=120, repeats=0)
        self.refused: set[int] = set()
        # Merges per second before each kill.
        self.rates: list[float] = []

    def run(self) -> list[str]:
        self.database.options = BINARY_LOG + (NOT_DURABLE if self.options.broken == "not-durable" else [])
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
        links = self.crowd.links()
        problems = [*self.poller.problems, *self.judge_answers(), *self.crowd.judge(self.refused),
                    *self.judge_events({link.id for link in links.values()})]
        for finding in findings:
            if not finding.holds:
                problems.append("merges were lost or done twice")
            if unknown := finding.sent - finding.acknowledged - len(self.refused):
                problems.append(f"{unknown} merges were neither done nor refused")
        rates = sorted(self.rates)
        print(f"  {len(links)} merges, {len(self.refused)} refused, {self.options.kills} kills")
        print(f"  merges/s between kills: {report.percentile(rates, 0.5):.0f} (median), {rates[-1]:.0f} (most); events"
              f" read meanwhile: {sum(len(application.read) for application in self.applications)}")
        return problems

    def judge_answers(self) -> Iterator[str]:
        """While something is down clients get no answer, or 5xx; of merges that race, all but one are refused."""
        for exchange in self.load.record.failures:
            if exchange.kind == "client" or exchange.status not in MAY:
                yield f"{exchange.kind}: {exchange.failure}"

    def judge_events(self, links: set[int]) -> Iterator[str]:
        """Each merge made an event at each of two applications, numbered without gaps; what was read is still there."""
        merges: collections.Counter[int] = collections.Counter()
        last = dict(self.instance.sql("SELECT application_id, last_seq FROM application_event_counters"))
        for application in self.applications:
            rows = self.instance.sql(
                "SELECT seq, event_id, JSON_VALUE(raw_payload, '$.data.identity_link_id') FROM webhook_outbox"
                f" WHERE application_id = {application.id} ORDER BY seq")
            merges.update(int(link) for _, _, link in rows)
            if [int(seq) for seq, _, _ in rows] != list(range(1, int(last[str(application.id)]) + 1)):
                yield f"the numbers of application {application.id} have gaps"
            stored = {int(seq): event for seq, event, _ in rows}
            if gone := [seq for seq, event in application.read.items() if stored.get(seq) != event]:
                yield (f"{len(gone)} events of application {application.id} were read, and are not there or are others"
                       f" now, as number {gone[0]}")
        if wrong := [link for link in links | merges.keys() if link not in links or merges[link] != 2]:
            yield f"{len(wrong)} merges have not made two events, as link {wrong[0]}"


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
