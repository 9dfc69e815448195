"""Breaks a fleet of five machines, one part after the other, while clients read and write as SDKs do.

Three machines have MariaDB with Galera, two have nginx, merganserd and HAProxy. Each is a network namespace of its own,
and runs with the configuration that packaging/cluster has for operators. The drill shows what the clients saw, how long
nothing was written, that no acknowledged write was lost or done twice, and that all databases have the same rows. It
needs root. With --short it succeeds where machines cannot be made.
"""

import collections
import contextlib
import dataclasses
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import latency
import report
from catalog import Entry, make_parser, parse
from crowd import Merger
from fault import Outcome
from fleet import AppMachine, Fleet
from galera import Node
from hosts import make_switch
from instance import DrillError, other, server, wait_until
from ledger import Finding
from load import MIX, Connection, Load, Record, Request, Sender, bearer
from release import CONTRACTION, EXPANSION
from rivals import Rivals

# What single attempts may meet: there is no server, or no free one, or no database. Clients repeat them.
UNAVAILABLE = {502, 503, 504, None}
READS = {"profile", "userinfo"}
MIX = MIX | {"claim": 4}
# How long clients repeat a request under its key, and how long nothing may be written when a machine dies, in seconds.
PATIENCE, STALL = 30, 7

BREAKS = {
    "no-retry": "clients send each request once",
    "no-idempotency-key": "repeated requests have new Idempotency-Keys",
    "no-unique-key": "the database cannot tell a repeated event from a new one",
    "no-versions": "what locks a row does not write it",
    "slow-group": "the databases wait 12 s for one that is silent",
    "no-quorum": "a database that sees no majority goes on",
    "drift": "a row is changed in one database only",
    "no-overlap": "old servers end before their successors start",
    "contraction": "the migration removes a column that the release before reads",
}


@dataclasses.dataclass(frozen=True)
class Scenario(Entry):
    # For how many seconds nothing may be written.
    stall: float


SCENARIOS: dict[str, Scenario] = {}


def scenario(*broken_by: str, stall: float = STALL, may: set[int | None] = UNAVAILABLE,
             is_short: bool = False) -> Callable:
    def register(function: Callable[["ClusterDrill"], None]) -> Callable[["ClusterDrill"], None]:
        SCENARIOS[function.__name__] = Scenario(function, broken_by, is_short, may, stall)
        return function

    return register


class ClusterDrill:
    """One scenario's run."""

    def __init__(self, fleet: Fleet, is_short: bool, broken: str | None) -> None:
        self.fleet = fleet
        self.cluster = fleet.cluster
        self.is_short = is_short
        self.broken = broken
        self.findings: list[Finding] = []
        self.record = Record()
        # How many writes of each kind were acknowledged.
        self.counts: collections.Counter[str] = collections.Counter()
        # How many merges lost a race.
        self.refused = 0
        # Of each fault, when it began and when its consequences must be over.
        self.faults: list[tuple[float, float]] = []
        self.notes: list[str] = []
        self.problems: list[str] = []

    def choose(self, short, long):
        return short if self.is_short else long

    @contextlib.contextmanager
    def load(self, clients: int = 8, mix: Mapping[str, int] = MIX, mergers: int = 1) -> Iterator[Load]:
        """From full traffic before the fault until some seconds after it."""
        load = Load(self.fleet, clients, mix, patience=0 if self.broken == "no-retry" else PATIENCE,
                    keeps_keys=self.broken != "no-idempotency-key")
        self.record, self.counts = load.record, load.ledger.counts
        self.fleet.crowd.grow(self.choose(300, 1000))
        before = set(self.fleet.refused)
        counters = self.cluster.counters()
        with load:
            for number in range(mergers):
                load.beside(Merger(load, number, self.fleet.crowd, pause=0.1, refused=self.fleet.refused))
            load.wait_for_traffic(20)
            yield load
            time.sleep(self.choose(3, 8))
        self.fleet.wait_until_whole()
        self.note_conflicts(counters)
        self.findings = load.ledger.verify(self.fleet)
        self.refused = len(self.fleet.refused - before)
        self.judge()

    @contextlib.contextmanager
    def fault(self, seconds: float = 0) -> Iterator[None]:
        """seconds: for how long its consequences are watched after its repair."""
        began = time.monotonic()
        yield
        time.sleep(seconds)
        self.faults.append((began, time.monotonic()))

    def judge(self) -> None:
        """What must hold whatever the scenario is, besides what clients saw."""
        self.problems += self.fleet.crowd.judge(self.fleet.refused)
        if self.broken == "drift":
            self.cluster.nodes[2].sql("SET wsrep_on = OFF; UPDATE merganser.users SET nickname = 'drift' LIMIT 1")
        if tables := self.cluster.differences():
            self.wrong(f"the databases have different rows in {', '.join(tables)}")
        try:
            verdict = self.fleet.merganserctl("verify").strip()
            self.note("merganserctl verify: " + verdict.splitlines()[-1])
        except DrillError as error:
            self.wrong(str(error))

    def note_conflicts(self, before: dict[str, tuple[int, int]]) -> None:
        """Of the transactions that were repeated, those because of another machine's."""
        after = self.cluster.counters()
        changes = []
        for name, (failures, aborts) in after.items():
            # A database that was started anew counts from 0.
            since = before.get(name, (0, 0))
            more = (failures, aborts) if (failures, aborts) < since else (failures - since[0], aborts - since[1])
            changes.append(f"{name} {more[0]} and {more[1]}")
        self.note("transactions that lost to another machine's, at certification and before: " + ", ".join(changes))

    def wrong(self, problem: str) -> None:
        self.problems.append(problem)

    def note(self, text: str) -> None:
        self.notes.append(text)

    # --- What clients saw

    def writes(self) -> list[float]:
        """When each write was acknowledged."""
        return sorted(exchange.ended for exchange in self.record.exchanges
                      if exchange.failure is None and exchange.kind not in READS)

    @property
    def stalls(self) -> list[float]:
        """For each fault, the longest time without an acknowledged write."""
        ends = self.writes()
        longest = []
        for began, ended in self.faults:
            times = [began, *(time for time in ends if began <= time <= ended), ended]
            longest.append(max(after - before for before, after in zip(times, times[1:])))
        return longest

    def wait_for_writes(self, count: int = 20, seconds: float = 60) -> None:
        """Until so many more are acknowledged."""
        before = self.counts.total()
        wait_until(lambda: self.counts.total() >= before + count, seconds, "writes")

    @property
    def writer(self) -> Node:
        return self.cluster.nodes[0]


# --- The databases


@scenario("slow-group", is_short=True)
def writer_killed(drill: ClusterDrill) -> None:
    """The database that is written to is killed (kill -9), and joins again; ten times (short: once)."""
    with drill.load():
        for _ in range(drill.choose(1, 10)):
            with drill.fault(1):
                drill.writer.kill()
                drill.wait_for_writes()
            with drill.fault(1):
                drill.writer.join()
                drill.fleet.wait_until_whole()
            drill.wait_for_writes()
    drill.note("seconds without a write, of each death: " + ", ".join(f"{stall:.1f}" for stall in drill.stalls[::2])
               + "; of each return: " + ", ".join(f"{stall:.1f}" for stall in drill.stalls[1::2]))


@scenario("no-quorum")
def writer_cut_off(drill: ClusterDrill) -> None:
    """The link of the database that is written to is down for 15 s. It acknowledges nothing meanwhile."""
    with drill.load():
        with drill.fault(3):
            with drill.writer.host.cut_off():
                drill.wait_for_writes()
                time.sleep(15)
                drill.cluster.settle(drill.cluster.nodes[1:])
                if drill.writer.is_written():
                    drill.wrong("the database that is cut off acknowledges a write")


@scenario("no-quorum", stall=30)
def minority(drill: ClusterDrill) -> None:
    """Two of three databases are cut off for 8 s. The third one, though reachable, refuses writes, and reads say so."""
    with drill.load() as load:
        device = Sender(load, 0).new_device()
        with drill.fault(3):
            with drill.cluster.nodes[1].host.cut_off(), drill.cluster.nodes[2].host.cut_off():
                # What was under way is answered, and the group has noticed.
                time.sleep(8)
                written = drill.counts.total()
                if drill.writer.is_written():
                    drill.wrong("the database acknowledges a write that no other one has")
                statuses = []
                for machine in drill.fleet.machines:
                    began = time.monotonic()
                    statuses.append(read(machine, device["access_token"]))
                    drill.note(f"{machine.host.name} answered a read with {statuses[-1]}"
                               f" after {time.monotonic() - began:.1f} s")
                if set(statuses) != {503}:
                    drill.wrong(f"without a database, reads are answered {statuses}")
                if any(machine.ready(machine.serving()) for machine in drill.fleet.machines):
                    drill.wrong("an app machine without a database says that it is ready")
                if more := drill.counts.total() - written:
                    drill.wrong(f"{more} writes were acknowledged without a majority")
            drill.wait_for_writes()


def read(machine: AppMachine, token: str) -> int | None:
    """The status of an answer to a read."""
    answer, _ = Connection(machine, Record()).send(Request("profile", "GET", "/api/v1/me", headers=bearer(token)))
    return answer.status if answer else None


@scenario("no-idempotency-key", stall=3)
def slow_node(drill: ClusterDrill) -> None:
    """Frames to and from one of the databases that stand by are 100 ms late, for 20 s."""
    with drill.load():
        with drill.fault(), drill.cluster.nodes[2].host.delayed(0.1):
            time.sleep(20)


@scenario("drift")
def node_joins(drill: ClusterDrill) -> None:
    """A database that has lost its data comes back, and copies that of another one."""
    joiner = drill.cluster.nodes[1]
    with drill.load():
        with drill.fault(3):
            joiner.stop()
            joiner.forget()
            began = time.monotonic()
            joiner.join()
            drill.note(f"{joiner.name} was back after {time.monotonic() - began:.1f} s")


@scenario("drift")
def rolling_databases(drill: ClusterDrill) -> None:
    """Each database is stopped and started in turn, the one that is written to last."""
    with drill.load():
        for node in reversed(drill.cluster.nodes):
            with drill.fault(2):
                node.stop()
                drill.wait_for_writes()
                node.join()
                drill.fleet.wait_until_whole()
    drill.note("seconds without a write: " + ", ".join(
        f"{node.name} {stall:.1f}" for node, stall in zip(reversed(drill.cluster.nodes), drill.stalls)))


# --- The app machines


@scenario("no-overlap", stall=3, may=set(), is_short=True)
def rolling_release(drill: ClusterDrill) -> None:
    """The servers of both app machines are replaced, one after the other, with a migration between. Nothing fails."""
    with drill.load():
        for number, machine in enumerate(drill.fleet.machines):
            with drill.fault(1):
                replace(drill, machine)
            if number == 0:
                with drill.fault(1):
                    migrate(drill)


def replace(drill: ClusterDrill, machine: AppMachine) -> None:
    old = machine.serving()
    if drill.broken != "no-overlap":
        machine.replace(machine.new_release())
        return
    machine.kill(server(old), signal.SIGTERM)
    machine.wait_for_end(server(old), 60)
    machine.start(other(old), machine.new_release())


def migrate(drill: ClusterDrill) -> None:
    """Applies one more migration than this release has."""
    machine = drill.fleet.machines[0]
    folder = machine.run / "sql"
    if folder.exists():
        return
    shutil.copytree(machine.settings["MERGANSER_SQL_DIRECTORY"], folder)
    number = len(list(folder.glob("[0-9]*.sql"))) + 1
    (folder / f"{number:04}_drill.sql").write_text(CONTRACTION if drill.broken == "contraction" else EXPANSION)
    began = time.monotonic()
    machine.migrate(folder)
    drill.note(f"the migration took {time.monotonic() - began:.1f} s")


@scenario("no-retry", stall=3)
def app_machine_killed(drill: ClusterDrill) -> None:
    """All processes of an app machine are killed; it comes back after 5 s."""
    machine = drill.fleet.machines[1]
    with drill.load():
        with drill.fault(2):
            machine.host.kill_all()
            time.sleep(5)
            machine.start_proxy()
            machine.bring_up()


@scenario("no-retry", stall=3)
def haproxy_restarted(drill: ClusterDrill) -> None:
    """HAProxy is stopped and started, on one app machine after the other; then killed."""
    with drill.load():
        for number in (signal.SIGTERM, signal.SIGKILL):
            for machine in drill.fleet.machines:
                with drill.fault(1):
                    machine.restart_proxy(number)


# --- Two databases that are written to


@scenario("no-unique-key", "no-versions", is_short=True, may=UNAVAILABLE)
def two_writers(drill: ClusterDrill) -> None:
    """Each app machine writes to another database, and the same accounts are changed through both at once."""
    _, second = drill.fleet.machines
    usual, second.order = second.order, ("db2", "db1", "db3")
    try:
        second.restart_proxy()
        with drill.load(mergers=4) as load:
            rivals = Rivals(drill.fleet, load)
            with drill.fault():
                rivals.run(drill.choose(20, 90))
    finally:
        second.order = usual
        second.restart_proxy()
    for line in rivals.summary():
        drill.note(line)
    drill.problems += rivals.problems()


# --- One scenario after the other


@contextlib.contextmanager
def breaking(drill: ClusterDrill) -> Iterator[None]:
    """Breaks the parts of the guarantees that lie outside of a scenario."""
    nodes = drill.cluster.nodes
    if drill.broken == "no-unique-key":
        drill.fleet.sql("ALTER TABLE events DROP KEY IF EXISTS events_client_event")
    if drill.broken == "no-versions":
        # A statement that changes nothing is not replicated, and commits beside any other.
        for (table,) in drill.fleet.sql(
                "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'merganser'"
                " AND COLUMN_NAME = 'version' AND DATA_TYPE = 'int'"):
            drill.fleet.sql(f"CREATE TRIGGER no_version_{table} BEFORE UPDATE ON {table} FOR EACH ROW"
                            " SET NEW.version = OLD.version")
    options = {
        "slow-group": ("evs.inactive_timeout=PT13S;evs.suspect_timeout=PT12S",
                       "evs.suspect_timeout=PT3S;evs.inactive_timeout=PT6S"),
        "no-quorum": ("pc.ignore_quorum=true", "pc.ignore_quorum=false"),
    }.get(drill.broken)
    if options is None:
        yield
        return
    for node in nodes:
        node.set_provider(options[0])
    yield
    for node in nodes:
        node.set_provider(options[1])


def play(one: Scenario, fleet: Fleet, is_short: bool, broken: str | None) -> "ClusterOutcome":
    began = time.monotonic()
    drill = ClusterDrill(fleet, is_short, broken)
    try:
        with breaking(drill):
            one.run(drill)
    except DrillError as error:
        # What follows from a problem says nothing more.
        if not drill.problems:
            raise
        drill.wrong(str(error))
    failures = [exchange for exchange in drill.record.failures
                if not (exchange.kind == "merge" and exchange.status == 401)]
    outcome = ClusterOutcome(
        one.name, answered=len(drill.record.exchanges) - len(failures),
        statuses=collections.Counter(exchange.status for exchange in failures), findings=drill.findings,
        recovery=max(drill.stalls, default=0.0), problems=drill.problems, refused=drill.refused)
    outcome.problems += [f"a client {exchange.failure}" for exchange in failures if exchange.kind == "client"]
    for status in outcome.statuses.keys() - one.may:
        reasons = collections.Counter(f"{exchange.kind}: {exchange.failure}"[:200] for exchange in failures
                                      if exchange.status == status)
        outcome.problems += [f"{count} times {reason}" for reason, count in reasons.most_common(5)]
    if outcome.missing or outcome.twice:
        outcome.problems.append("writes were lost or done twice")
    if outcome.given_up:
        outcome.problems.append(f"{outcome.given_up} writes were never acknowledged, though repeated for {PATIENCE} s")
    if outcome.recovery > one.stall:
        outcome.problems.append(f"nothing was written for {outcome.recovery:.1f} s instead of {one.stall:g} s")
    report.requests(drill.record)
    report.writes(drill.findings)
    report.table(ClusterOutcome.HEAD, [outcome.cells()])
    for line in drill.notes + outcome.problems:
        print(f"  {line}")
    print(f"  took {time.monotonic() - began:.0f} s")
    return outcome


@dataclasses.dataclass
class ClusterOutcome(Outcome):
    """Its last column is the longest time without a write. refused: merges that lost a race, and are not repeated."""

    refused: int = 0
    HEAD = (*Outcome.HEAD[:-1], "stall s")

    @property
    def given_up(self) -> int:
        return super().given_up - self.refused


def main() -> int:
    parser = make_parser(__doc__, SCENARIOS, BREAKS)
    parser.add_argument("--latency", action="store_true",
                        help="measure instead what commits cost over distances between the databases")
    options, runs = parse(parser, SCENARIOS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    outcomes: list[ClusterOutcome] = []
    broken: list[str] = []
    try:
        began = time.monotonic()
        make_switch()
        fleet = Fleet()
        print(f"Five machines are up after {time.monotonic() - began:.0f} s.")
        if options.latency:
            latency.measure(fleet)
            return 0
        for one, how in runs:
            print(f"\n{one.name}: {one.summary}" + (f" Broken: {BREAKS[how]}." if how else ""))
            outcome = play(one, fleet, options.short, how)
            outcomes.append(outcome)
            if not options.prove:
                broken += [f"{one.name}: {problem}" for problem in outcome.problems]
            else:
                if not outcome.problems:
                    broken.append(f"{one.name}: did not notice {how}")
                # What is broken stays so.
                fleet.remove()
                fleet = Fleet()
    except DrillError as error:
        broken.append(str(error))
    print()
    report.table(ClusterOutcome.HEAD, [outcome.cells() for outcome in outcomes])
    if options.prove and not broken:
        print("Every scenario failed as it should.")
        return 0
    return report.verdict(broken)


if __name__ == "__main__":
    sys.exit(main())
