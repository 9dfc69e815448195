"""The parts that the scenarios of the fault drill share: the load around a fault, and ways to break the guarantees."""

import contextlib
import signal
import time
from collections.abc import Iterator, Mapping

from database import DatabaseServer
from instance import Instance, server, wait_until
from ledger import Finding
from load import MIX, Load, Record

BREAKS = {
    "no-retry": "clients send each request once",
    "no-unique-key": "the database cannot tell a repeated event from a new one",
    "no-idempotency-key": "repeated requests have new Idempotency-Keys",
    "no-shedding": "every request is queued and served, however late",
    "not-durable": "MariaDB acknowledges commits before they are on disk",
    "no-kept-keys": "servers keep no key sets across a restart",
    "one-clock": "nginx's clock is not set with the server's",
    "no-second-attempt": "an event whose delivery fails is not sent again",
    "one-queue": "events wait for each one that has been under way for a second",
}

# What a break does to the database, and what repairs it.
_TRIGGERS = {
    "no-second-attempt": """
        CREATE TRIGGER drill BEFORE UPDATE ON webhook_outbox FOR EACH ROW
        SET NEW.next_attempt_at = IF(NEW.failure_reason IS NULL, NEW.next_attempt_at, NULL)
        """,
    # A lease of 60 s begins when the event is sent.
    "one-queue": """
        CREATE TRIGGER drill BEFORE INSERT ON webhook_outbox FOR EACH ROW
        SET NEW.next_attempt_at = COALESCE(
            (SELECT MAX(next_attempt_at) FROM webhook_outbox
             WHERE lease IS NOT NULL AND next_attempt_at < NOW(3) + INTERVAL 59 SECOND), NEW.next_attempt_at)
        """,
}


class Drill:
    """One scenario's run."""

    def __init__(self, instance: Instance, is_short: bool, broken: str | None) -> None:
        self.instance = instance
        self.database = DatabaseServer(instance)
        self.is_short = is_short
        self.broken = broken
        self.findings: list[Finding] = []
        self.record = Record()
        self.notes: list[str] = []
        self.problems: list[str] = []
        # When the fault was repaired.
        self.mended = 0.0

    def choose(self, short, long):
        return short if self.is_short else long

    def wrong(self, problem: str) -> None:
        self.problems.append(problem)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def pass_time(self, seconds: int) -> None:
        """Waits; in the short form, what waits to be delivered is due that much sooner instead."""
        if not self.is_short:
            return time.sleep(seconds)
        for table, column, waiting in (
            # What is being sent stays with whoever sends it.
            ("webhook_outbox", "next_attempt_at", "lease IS NULL"),
            ("webhook_failures", "probe_at", "TRUE"),
        ):
            self.instance.sql(f"UPDATE {table} SET {column} = {column} - INTERVAL {seconds} SECOND WHERE {waiting}")

    def signal_server(self, number: signal.Signals) -> None:
        self.instance.kill(server(self.instance.serving()), number)

    @contextlib.contextmanager
    def setting(self, variables: Mapping[str, str]) -> Iterator[None]:
        """Servers that run meanwhile have these settings."""
        usual = dict(self.instance.settings)
        self.instance.settings.update(variables)
        self.instance.replace()
        yield
        self.instance.settings = usual
        self.instance.replace()

    @contextlib.contextmanager
    def load(self, clients: int = 8, mix: Mapping[str, int] = MIX, repeats: float = 0.05) -> Iterator[Load]:
        """From full traffic before the fault until some seconds after it."""
        load = Load(self.instance, clients, mix, patience=0 if self.broken == "no-retry" else 120, repeats=repeats,
                    keeps_keys=self.broken != "no-idempotency-key")
        self.record = load.record
        with load:
            load.wait_for_traffic(20)
            yield load
            time.sleep(self.choose(3, 10))
        self.findings = load.ledger.verify(self.instance)

    @contextlib.contextmanager
    def fault(self) -> Iterator[None]:
        yield
        self.mended = time.monotonic()

    @property
    def recovery(self) -> float:
        """The time from the repair to the end of the last failure. An answer must have come, too."""
        successes = [exchange.ended for exchange in self.record.exchanges
                     if exchange.failure is None and exchange.ended > self.mended]
        failures = [exchange.ended for exchange in self.record.failures]
        return max([self.mended, min(successes, default=float("inf")), *failures]) - self.mended


@contextlib.contextmanager
def breaking(instance: Instance, what: str | None) -> Iterator[None]:
    """Breaks the parts of the guarantees that lie outside of a scenario."""
    if what == "no-unique-key":
        instance.sql("ALTER TABLE events DROP KEY IF EXISTS events_client_event")
    if what == "not-durable":
        instance.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
    if what in _TRIGGERS:
        instance.sql(_TRIGGERS[what])
        yield
        instance.sql("DROP TRIGGER drill")
        return
    if what != "no-shedding":
        yield
        return
    instance.configure_front(" max_conns=1024;", ";")
    instance.settings["MERGANSER_QUEUE_LIMIT_MILLISECONDS"] = "0"
    instance.replace()
    yield
    instance.configure_front("merganser.sock max_fails=0;", "merganser.sock max_fails=0 max_conns=1024;")
    del instance.settings["MERGANSER_QUEUE_LIMIT_MILLISECONDS"]
    instance.replace()
