"""Breaks what the server stands on, one thing after the other, while clients read and write as SDKs do.

It shows what they saw of it, that nothing acknowledged was lost or done twice, and how soon all was well again.
"""

import argparse
import collections
import contextlib
import dataclasses
import signal
import sys
import time
from collections.abc import Iterator, Mapping

import report
from database import DatabaseServer
from instance import DrillError, Instance, server, wait_until
from ledger import Finding
from load import MIX, Load, Record

BREAKS = {
    "no-retry": "clients send each request once",
    "no-unique-key": "the database does not tell a repeated event from a new one",
    "no-idempotency-key": "repetitions come under keys of their own",
    "no-shedding": "every request is queued and served, however late",
    "not-durable": "MariaDB acknowledges commits before they are on disk",
    "no-kept-keys": "servers keep no keys over a restart",
    "one-clock": "nginx's clock is not set with the server's",
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
        # When what was broken is whole again.
        self.mended = 0.0

    def choose(self, short, long):
        return short if self.is_short else long

    def wrong(self, problem: str) -> None:
        self.problems.append(problem)

    def note(self, text: str) -> None:
        self.notes.append(text)

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
    def load(self, clients: int = 8, mix: Mapping[str, int] = MIX) -> Iterator[Load]:
        """From full traffic before the fault until some seconds after it."""
        load = Load(self.instance, clients, mix, patience=0 if self.broken == "no-retry" else 120,
                    keeps_keys=self.broken != "no-idempotency-key")
        self.record = load.record
        with load:
            wait_until(lambda: len(load.record.exchanges) > 20 * clients, 60, "traffic")
            yield load
            time.sleep(self.choose(3, 10))
        self.findings = load.ledger.verify(self.instance)

    @contextlib.contextmanager
    def fault(self) -> Iterator[None]:
        yield
        self.mended = time.monotonic()

    @property
    def recovery(self) -> float:
        """From the mending to the end of the last failure; an answer must have come, too."""
        successes = [exchange.ended for exchange in self.record.exchanges
                     if exchange.failure is None and exchange.ended > self.mended]
        failures = [exchange.ended for exchange in self.record.failures]
        return max([self.mended, min(successes, default=float("inf")), *failures]) - self.mended


@dataclasses.dataclass
class Outcome:
    """A line of the table."""

    name: str
    statuses: Mapping[int | None, int]
    acknowledged: int
    given_up: int
    missing: int
    twice: int
    recovery: float
    problems: list[str]

    HEAD = ("scenario", "answered", "500", "502", "503", "504", "other", "none", "acknowledged", "given up", "lost",
            "twice", "recovery s")

    def cells(self) -> tuple[object, ...]:
        named = {500, 502, 503, 504, None}
        good = sum(count for status, count in self.statuses.items() if status == "good")
        others = sum(count for status, count in self.statuses.items() if status not in named | {"good"})
        return (self.name, good, *(self.statuses.get(status, 0) for status in (500, 502, 503, 504)), others,
                self.statuses.get(None, 0), self.acknowledged, self.given_up, self.missing, self.twice,
                f"{self.recovery:.1f}")


@contextlib.contextmanager
def breaking(instance: Instance, what: str | None) -> Iterator[None]:
    """What of the guarantees' grounds lies outside of a scenario."""
    if what == "no-unique-key":
        instance.sql("ALTER TABLE events DROP KEY IF EXISTS events_client_event")
    if what == "not-durable":
        instance.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0")
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


def play(scenario, instance: Instance, is_short: bool, broken: str | None) -> Outcome:
    drill = Drill(instance, is_short, broken)
    with breaking(instance, broken):
        scenario.run(drill)
    statuses = collections.Counter(
        "good" if exchange.failure is None else exchange.status for exchange in drill.record.exchanges)
    outcome = Outcome(
        scenario.name, statuses,
        acknowledged=sum(finding.acknowledged for finding in drill.findings),
        given_up=sum(finding.sent - finding.acknowledged for finding in drill.findings),
        missing=sum(len(finding.missing) for finding in drill.findings),
        twice=sum(len(finding.twice) for finding in drill.findings),
        recovery=drill.recovery, problems=drill.problems)
    for status in statuses.keys() - scenario.may - {"good"}:
        reasons = {exchange.failure for exchange in drill.record.failures if exchange.status == status}
        outcome.problems.append(f"{statuses[status]} times {status}: {', '.join(sorted(map(str, reasons))[:3])}")
    if outcome.missing or outcome.twice:
        outcome.problems.append("writes were lost or done twice")
        report.writes(drill.findings)
    if outcome.given_up and scenario.is_repeated:
        outcome.problems.append(f"{outcome.given_up} writes were never acknowledged")
    if outcome.recovery > scenario.recovery:
        outcome.problems.append(f"well again after {outcome.recovery:.1f} s instead of {scenario.recovery:g} s")
    for note in drill.notes:
        print(f"  {note}")
    report.table(Outcome.HEAD, [outcome.cells()])
    return outcome


def main() -> int:
    # Only here: scenarios are written against this module.
    from scenarios import SCENARIOS

    width = max(map(len, SCENARIOS)) + 2
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="scenarios, and what breaks them:\n"
        + "".join(f"  {name:{width}}{one.summary} ({one.broken_by})\n" for name, one in SCENARIOS.items())
        + "\nwhat can be broken:\n" + "".join(f"  {name:{width}}{text}\n" for name, text in BREAKS.items()))
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="only these (all; in the short form some)")
    parser.add_argument("--short", action="store_true", help="shorter times")
    parser.add_argument("--break", dest="broken", choices=BREAKS, help="break the guarantee: the drill must notice")
    parser.add_argument("--prove", action="store_true", help="break each scenario in its own way; fails if one holds")
    options = parser.parse_args()
    if unknown := set(options.scenarios) - SCENARIOS.keys():
        parser.error(f"no scenario is called {', '.join(sorted(unknown))}")
    # However it is ended, what is stopped goes on, and what is mounted is not.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    names = options.scenarios or [name for name, one in SCENARIOS.items() if one.is_short or not options.short]

    outcomes: list[Outcome] = []
    broken: list[str] = []
    try:
        instance = Instance()
        for name in names:
            how = SCENARIOS[name].broken_by if options.prove else options.broken
            print(f"\n{name}: {SCENARIOS[name].summary}" + (f" Broken: {BREAKS[how]}." if how else ""))
            outcome = play(SCENARIOS[name], instance, options.short, how)
            outcomes.append(outcome)
            for problem in outcome.problems:
                print(f"  {problem}")
            if not options.prove:
                broken += [f"{name}: {problem}" for problem in outcome.problems]
            elif not outcome.problems:
                broken.append(f"{name}: nothing was noticed of {how}")
        if not options.broken and not options.prove:
            print(instance.merganserctl("verify"))
    except DrillError as error:
        broken.append(str(error))
    print()
    report.table(Outcome.HEAD, [outcome.cells() for outcome in outcomes])
    return report.verdict(broken)


if __name__ == "__main__":
    sys.exit(main())
