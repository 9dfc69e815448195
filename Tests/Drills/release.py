"""Replaces the server again and again while clients read and write, and shows that nothing is lost.

The load is the same for each way of replacing. Some requests take longer than an instance waits for idle connections,
and one instance is killed. Only requests under way at the killed instance may fail. Meanwhile accounts merge, and
receivers are sent the events: each event at least once, and none twice unless it was under way at the killed instance.
"""

import argparse
import dataclasses
import shutil
import signal
import sys
import time

import report
from crowd import Crowd, Merger
from instance import DrillError, Instance, other, server, wait_until
from load import Exchange, Load, LockedProfile, SlowUpload
from receivers import Arrival, Receiver, receiving, wait_for_deliveries

WAYS = {
    "takeover": "each instance takes over nginx's socket from the previous one",
    "migration": "the same, with a migration that is applied while the old and the new instance run",
    "listener": "a supervisor holds the socket, and every instance inherits it",
}
# Each with the way of replacing in which it is tried.
BREAKS = {
    "no-drain": ("takeover", "old instances are killed"),
    "no-overlap": ("takeover", "old instances exit before their successors start"),
    "no-unique-key": ("takeover", "the database cannot tell a repeated event from a new one"),
    "no-idempotency-key": ("takeover", "repeated requests have new Idempotency-Keys"),
    "lost-write": ("takeover", "an acknowledged write is deleted"),
    "lost-event": ("takeover", "one event in fifty is never sent"),
    "doubled-event": ("takeover", "one event in fifty is sent again although it was delivered"),
    "contraction": ("migration", "the migration removes a column that the old instance reads"),
    "no-queue": ("listener", "nobody holds the socket while no instance serves"),
}

EXPANSION = """
ALTER TABLE users ADD COLUMN drill INT NULL, ALGORITHM = INSTANT, LOCK = NONE;
ALTER TABLE devices ADD COLUMN drill INT NOT NULL DEFAULT 7, ALGORITHM = INSTANT, LOCK = NONE;
ALTER TABLE refresh_families ADD KEY drill (created_at), ALGORITHM = NOCOPY, LOCK = NONE;
ALTER TABLE events ADD KEY drill (app_id, received_at), ALGORITHM = NOCOPY, LOCK = NONE;
"""
TRIGGERS = {
    "lost-event": """
        CREATE TRIGGER drill BEFORE INSERT ON webhook_outbox FOR EACH ROW
        SET NEW.next_attempt_at = IF(NEW.seq % 50 = 0, NULL, NEW.next_attempt_at)
        """,
    "doubled-event": """
        CREATE TRIGGER drill BEFORE UPDATE ON webhook_outbox FOR EACH ROW
        SET NEW.next_attempt_at = IF(NEW.seq % 50 = 0 AND NEW.attempts = 1, NOW(3), NEW.next_attempt_at),
            NEW.delivered_at = IF(NEW.seq % 50 = 0 AND NEW.attempts = 1, NULL, NEW.delivered_at)
        """,
}
CONTRACTION = """
ALTER TABLE users CHANGE COLUMN contact_email drill VARCHAR(320) NULL, ALGORITHM = INSTANT, LOCK = NONE;
"""

# Seconds from when an event arrives until it is answered and recorded as delivered.
RECORDING = 3


@dataclasses.dataclass
class Kill:
    """When a process was sent SIGKILL, and when it was gone."""

    began: float
    ended: float

    def met(self, exchange: Exchange) -> bool:
        return exchange.began <= self.ended and exchange.ended >= self.began

    def may_repeat(self, arrivals: list[Arrival]) -> bool:
        """Whether an event had come, and was perhaps not recorded as delivered. Others send it again, once."""
        return len(arrivals) == 2 and self.began - RECORDING <= arrivals[0].at <= self.ended


class ReleaseDrill:
    """One way of replacing, from the first request to the verdict."""

    def __init__(self, way: str, instance: Instance, options: argparse.Namespace) -> None:
        self.way = way
        self.instance = instance
        self.options = options
        self.load = Load(instance, options.clients, keeps_keys=options.broken != "no-idempotency-key")
        # An event takes as long as a request that the server waits for when it drains.
        self.receivers = [Receiver(instance, f"{way} {number}", work=0.1) for number in range(1, 4)]
        self.crowd = Crowd(instance, [receiver.application for receiver in self.receivers])
        self.kill: Kill | None = None
        # By the database's clock.
        self.killed = ""
        self.drains: list[float] = []

    def run(self) -> list[str]:
        print(f"\n{self.way}: {WAYS[self.way]}")
        if self.way == "listener":
            self.instance.share_socket()
        else:
            self.instance.release_socket()
        # The first instance has the settings of this drill.
        self.instance.replace(self.instance.new_release())
        if self.options.broken == "no-unique-key":
            self.instance.sql("ALTER TABLE events DROP KEY events_client_event")
        if trigger := TRIGGERS.get(self.options.broken):
            self.instance.sql(trigger)
        self.crowd.grow(800 * self.options.replacements)
        with receiving(self.receivers):
            began = time.monotonic()
            with self.load:
                self.load.beside(Merger(self.load, 0, self.crowd, pause=0.05))
                self.load.wait_for_traffic(50)
                for number in range(1, self.options.replacements + 1):
                    self.replace(number)
            seconds = time.monotonic() - began
            self.end_leases()
            wait_for_deliveries(self.receivers, 70)
        if self.options.broken == "lost-write":
            self.instance.sql("DELETE FROM events WHERE id = (SELECT id FROM events ORDER BY received_at DESC LIMIT 1)")
        return self.judge(seconds)

    # --- Replacements

    def replace(self, number: int) -> None:
        """Kills the instance in the middle. Every fifth one exits with requests that outlast its drain limit."""
        old = self.instance.serving()
        broken = self.options.broken
        middle = self.options.replacements // 2
        if number % 5 == 1:
            self.begin_long_requests()
        if number == middle and self.way == "listener":
            # Until the next one serves, new connections wait in the socket's queue.
            if broken == "no-queue":
                self.instance.release_socket()
            self.kill = self.end_by_force(old)
            # RestartSec of merganser@.service.
            time.sleep(1)
            if broken == "no-queue":
                self.instance.share_socket()
            self.start(other(old))
        elif broken == "no-overlap":
            self.drain(old)
            self.start(other(old))
        else:
            self.start(other(old))
            if number == middle + 1 and self.way == "migration":
                self.migrate()
            if number == middle:
                self.kill = self.end_by_force(old)
            elif broken == "no-drain":
                self.end_by_force(old)
            else:
                self.drain(old)

    def start(self, color: str) -> None:
        self.instance.start(color, self.instance.new_release())

    def begin_long_requests(self) -> None:
        """Sends long requests to the instance that is about to exit. It must stay for them beyond its drain limit."""
        upload = SlowUpload(self.load, self.options.drain_limit + 6)
        self.load.beside(LockedProfile(self.load, 6))
        self.load.beside(upload)
        wait_until(upload.is_under_way.is_set, 30, "an upload under way")

    def drain(self, color: str) -> None:
        began = time.monotonic()
        self.instance.kill(server(color), signal.SIGTERM)
        self.instance.wait_for_end(server(color), 120)
        self.drains.append(time.monotonic() - began)

    def end_by_force(self, color: str) -> Kill:
        began = time.monotonic()
        self.instance.kill(server(color), signal.SIGKILL)
        self.instance.wait_for_end(server(color), 10)
        ended = time.monotonic()
        [(self.killed,)] = self.instance.sql("SELECT NOW(3)")
        return Kill(began, ended)

    def migrate(self) -> None:
        """Applies one more migration than this release has, with its own tool, while a long transaction runs."""
        folder = self.instance.run / "sql"
        shutil.copytree(self.instance.settings["MERGANSER_SQL_DIRECTORY"], folder)
        number = len(list(folder.glob("[0-9]*.sql"))) + 1
        migration = CONTRACTION if self.options.broken == "contraction" else EXPANSION
        (folder / f"{number:04}_drill.sql").write_text(migration)
        # Until the transaction ends, every ALTER of the table waits, and every later statement waits for the ALTER.
        holder = self.instance.hold("SELECT id FROM users ORDER BY id LIMIT 1", 4)
        self.instance.migrate(folder)
        holder.wait()

    # --- Judgement

    def end_leases(self) -> None:
        """What the killed instance was sending is sent again when its lease ends: in the short form, at once."""
        if self.options.short:
            wait_for_deliveries(self.receivers, 5)
            # A lease is for a minute; those that began later are of instances that still send.
            self.instance.sql(f"""UPDATE webhook_outbox SET next_attempt_at = NOW(3)
                WHERE lease IS NOT NULL AND next_attempt_at <= '{self.killed}' + INTERVAL 60 SECOND""")

    def judge_deliveries(self) -> list[str]:
        problems = [problem for receiver in self.receivers for problem in receiver.problems()]
        repeated = [arrivals for receiver in self.receivers for arrivals in receiver.repeated().values()]
        doubled = [arrivals for arrivals in repeated if not (self.kill and self.kill.may_repeat(arrivals))]
        print(f"  {sum(len(receiver.arrivals) for receiver in self.receivers)} deliveries; events that came twice: "
              f"{len(repeated) - len(doubled)} under way at the killed instance, {len(doubled)} others")
        if doubled:
            problems.append(f"{len(doubled)} events came twice, as {doubled[0][0].event}")
        return [f"{self.way}: {problem}" for problem in problems]

    def judge(self, seconds: float) -> list[str]:
        record = self.load.record
        report.requests(record)
        findings = self.load.ledger.verify(self.instance)
        report.writes(findings)
        met, failed = [], []
        for exchange in record.failures:
            (met if self.kill and self.kill.met(exchange) else failed).append(exchange)
        print(f"  {len(record.exchanges)} requests in {seconds:.0f} s, {self.options.replacements} replacements, one by"
              f" kill -9; drained in {min(self.drains, default=0):.1f} to {max(self.drains, default=0):.1f} s")
        print(f"  failed while under way at the killed instance: {len(met)}")
        report.failures(met)
        print(f"  other failures: {len(failed)}")
        report.failures(failed)
        broken = [f"{self.way}: {finding.kind}: {len(finding.missing)} missing, {len(finding.twice)} stored too often"
                  for finding in findings if not finding.holds]
        broken += self.judge_deliveries()
        if failed:
            broken.append(f"{self.way}: {len(failed)} requests failed that were not under way at the killed instance")
        return broken


def explanation() -> str:
    lines = ["ways:", *(f"  {way:20}{text}" for way, text in WAYS.items()),
             "breaks of the guarantee, each with the way in which it is tried:",
             *(f"  {name:20}{way}: {text}" for name, (way, text) in BREAKS.items())]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=explanation())
    parser.add_argument("--way", choices=WAYS, action="append", help="try only this way; may be given several times")
    parser.add_argument("--replacements", type=int, help="replacements in each way (default: 20; with --short, 4)")
    parser.add_argument("--clients", type=int, default=8, help="clients that send requests (default: 8)")
    parser.add_argument("--short", action="store_true", help="make four replacements in each way, with shorter times")
    parser.add_argument("--break", dest="broken", choices=BREAKS, help="break the guarantee; the drill must notice")
    options = parser.parse_args()
    options.replacements = options.replacements or (4 if options.short else 20)
    # The short form waits for the same events, but not as long.
    options.drain_limit = 4 if options.short else 30
    broken: list[str] = []
    try:
        instance = Instance({"MERGANSER_DRAIN_LIMIT_SECONDS": str(options.drain_limit)})
        if options.short:
            instance.keep_connections("keepalive 64; keepalive_timeout 1s; keepalive_time 2s;")
        for way in [BREAKS[options.broken][0]] if options.broken else options.way or WAYS:
            broken += ReleaseDrill(way, instance, options).run()
        if not options.broken:
            print("merganserctl verify: " + instance.merganserctl("verify"))
    except DrillError as error:
        broken.append(str(error))
    return report.verdict(broken)


if __name__ == "__main__":
    sys.exit(main())
