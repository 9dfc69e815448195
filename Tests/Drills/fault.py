"""Breaks what the server depends on, one thing after the other, while clients read and write as SDKs do.

It shows what the clients saw, that no acknowledged write was lost or done twice, and how soon the faults were over.
"""

import collections
import dataclasses
import signal
import sys

import report
from catalog import make_parser, parse
from drill import BREAKS, Drill, breaking
from instance import DrillError, Instance
from ledger import Finding
from scenarios import SCENARIOS, Scenario


@dataclasses.dataclass
class Outcome:
    """A line of the table."""

    name: str
    answered: int
    # The statuses of unexpected answers; None is a connection that ended without an answer.
    statuses: collections.Counter[int | None]
    findings: list[Finding]
    recovery: float
    problems: list[str]

    NAMED = (500, 502, 503, 504)
    HEAD = ("scenario", "answered", *map(str, NAMED), "other", "none", "acknowledged", "given up", "lost", "twice",
            "recovery s")

    def cells(self) -> tuple[object, ...]:
        others = self.statuses.total() - sum(self.statuses[status] for status in (*self.NAMED, None))
        return (self.name, self.answered, *(self.statuses[status] for status in self.NAMED), others,
                self.statuses[None], self.acknowledged, self.given_up, self.missing, self.twice, f"{self.recovery:.1f}")

    @property
    def acknowledged(self) -> int:
        return sum(finding.acknowledged for finding in self.findings)

    @property
    def given_up(self) -> int:
        return sum(finding.sent - finding.acknowledged for finding in self.findings)

    @property
    def missing(self) -> int:
        return sum(len(finding.missing) for finding in self.findings)

    @property
    def twice(self) -> int:
        return sum(len(finding.twice) for finding in self.findings)


def play(scenario: Scenario, instance: Instance, is_short: bool, broken: str | None) -> Outcome:
    drill = Drill(instance, is_short, broken)
    with breaking(instance, broken):
        scenario.run(drill)
    failures = drill.record.failures
    outcome = Outcome(
        scenario.name, answered=len(drill.record.exchanges) - len(failures),
        statuses=collections.Counter(exchange.status for exchange in failures), findings=drill.findings,
        recovery=drill.recovery, problems=drill.problems)
    outcome.problems += [f"a client {exchange.failure}" for exchange in failures if exchange.kind == "client"]
    for status in outcome.statuses.keys() - scenario.may:
        reasons = {f"{exchange.kind}: {exchange.failure}" for exchange in failures if exchange.status == status}
        outcome.problems.append(f"{outcome.statuses[status]} times {status}: {', '.join(sorted(reasons)[:3])}")
    if outcome.missing or outcome.twice:
        outcome.problems.append("writes were lost or done twice")
        report.writes(drill.findings)
    if outcome.given_up and scenario.is_repeated:
        outcome.problems.append(f"{outcome.given_up} writes were never acknowledged")
    if outcome.recovery > scenario.recovery:
        outcome.problems.append(f"recovered after {outcome.recovery:.1f} s instead of {scenario.recovery:g} s")
    report.table(Outcome.HEAD, [outcome.cells()])
    for line in drill.notes + outcome.problems:
        print(f"  {line}")
    return outcome


def main() -> int:
    options, runs = parse(make_parser(__doc__, SCENARIOS, BREAKS), SCENARIOS)
    # However the drill ends, stopped processes continue, and file systems are unmounted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    outcomes: list[Outcome] = []
    broken: list[str] = []
    try:
        instance = Instance()
        for one, how in runs:
            print(f"\n{one.name}: {one.summary}" + (f" Broken: {BREAKS[how]}." if how else ""))
            outcome = play(one, instance, options.short, how)
            outcomes.append(outcome)
            if not options.prove:
                broken += [f"{one.name}: {problem}" for problem in outcome.problems]
            elif not outcome.problems:
                broken.append(f"{one.name}: did not notice {how}")
        if not options.broken and not options.prove:
            print(instance.merganserctl("verify"))
    except DrillError as error:
        broken.append(str(error))
    print()
    report.table(Outcome.HEAD, [outcome.cells() for outcome in outcomes])
    if options.prove and not broken:
        print("Every scenario failed as it should.")
        return 0
    return report.verdict(broken)


if __name__ == "__main__":
    sys.exit(main())
