"""The scenarios, one function each: what it breaks, for how long, how it is repaired, what else must hold meanwhile.

A scenario's docstring is its line in the list. fault.py has what all of them share: load, ledger and verdict.
"""

import contextlib
import dataclasses
import email.utils
import json
import os
import pathlib
import resource
import secrets
import shutil
import signal
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import report
from catalog import Entry
from crowd import Crowd, Merger
from database import SCRIPTS, Proxy
from drill import Drill
from instance import DrillError, Instance, run, server, wait_until
from issuer import LIES, KeyEndpoint
from load import MIX, Client, Load, Request, Sender, bearer, post
from overload import Overload
from receivers import Receiver, receiving, wait_for_deliveries

# What clients may see of a fault: nginx gets no answer in time, or there is no server, or no free one.
UNAVAILABLE = {502, 503, 504, None}
# If a refresh token is used again after more than half a minute, it counts as stolen. So in longer outages SDKs make
# people sign in again. That is not a loss, and these drills do not test it.
MIX_OF_LONG_OUTAGES = {kind: weight for kind, weight in MIX.items() if kind != "refresh"}


@dataclasses.dataclass(frozen=True)
class Scenario(Entry):
    # Within how many seconds after the repair the last failure must be over.
    recovery: float
    # Whether clients repeat failed requests until they are acknowledged.
    is_repeated: bool


SCENARIOS: dict[str, Scenario] = {}


def scenario(may: set[int | None], broken_by: str, recovery: float = 10, is_short: bool = False,
             is_repeated: bool = True) -> Callable:
    def register(function: Callable[[Drill], None]) -> Callable[[Drill], None]:
        SCENARIOS[function.__name__] = Scenario(function, (broken_by,), is_short, may, recovery, is_repeated)
        return function

    return register


# --- The database


@scenario(UNAVAILABLE, "not-durable", is_short=True)
def database_killed(drill: Drill) -> None:
    """MariaDB is killed and started again two seconds later."""
    with drill.load(), drill.fault():
        drill.database.kill()
        time.sleep(2)
        drill.database.start()


@scenario(UNAVAILABLE, "no-retry")
def database_unreachable(drill: Drill) -> None:
    """MariaDB does not answer for 60 s (short: 10 s), as if the network dropped its packets; 32 clients."""
    with drill.load(clients=32, mix=MIX_OF_LONG_OUTAGES), drill.fault(), drill.database.frozen():
        time.sleep(drill.choose(10, 60))


@scenario(UNAVAILABLE, "no-retry")
def database_disk_full(drill: Drill) -> None:
    """The file system of MariaDB's data, a tmpfs, is full for 10 s."""
    with drill.database.on_small_disk() as disk, drill.load():
        with drill.fault():
            disk.fill()
            time.sleep(10)
            disk.clear()
            # It ends by itself when it finds no room for a rollback, either.
            if not drill.instance.pid("mariadb"):
                drill.note("MariaDB ended, and was started again")
                drill.database.start()


@scenario(UNAVAILABLE, "no-retry")
def database_slow(drill: Drill) -> None:
    """A proxy in front of MariaDB delays each statement by 200 ms, for 20 s (short: 8 s); 32 clients."""
    with Proxy(drill.instance, drill.database.socket, 0.2) as proxy:
        with drill.setting({"MERGANSER_DATABASE_SOCKET": str(proxy.socket)}), drill.load(clients=32):
            with drill.fault(), proxy.delaying():
                time.sleep(drill.choose(8, 20))


@scenario({503}, "no-idempotency-key")
def lock_storm(drill: Drill) -> None:
    """32 phones swap into one account at once, five times (short: twice), while others sign out and clean-up runs."""
    with drill.load(clients=4) as load, drill.fault():
        for _ in range(drill.choose(2, 5)):
            storm = Storm(drill, load)
            storm.rage()
            if storm.approvals() != storm.expected:
                drill.wrong(f"of {storm.expected} agent approvals of 32 phones {storm.approvals()} reached the account")


class Storm:
    """Phones whose owner already has an account, all at the same moment."""

    PHONES = 32
    APPROVALS = 3

    def __init__(self, drill: Drill, load: Load) -> None:
        self.drill = drill
        self.instance = drill.instance
        subject, nonce = f"storm.{uuid.uuid4()}", secrets.token_hex(8)
        person = ("--provider", "apple", "--subject", subject)
        self.owner = json.loads(self.instance.merganserctl("dev", "user", *person))["id"]
        token = self.instance.merganserctl("dev", "token", *person, "--nonce", nonce).strip()
        self.barrier = threading.Barrier(self.PHONES)
        self.is_over = threading.Event()
        proof = {"provider": "apple", "identity_token": token, "raw_nonce": nonce}
        self.phones = [Phone(load, number, proof, self.barrier) for number in range(self.PHONES)]
        self.load = load
        self.expected = self.PHONES * self.APPROVALS

    def rage(self) -> None:
        for phone in self.phones:
            phone.prepare()
            self.instance.merganserctl("dev", "seed", "--user", phone.account, "--agent-approvals", str(self.APPROVALS))
        cleaner = threading.Thread(target=self.clean_up)
        cleaner.start()
        for phone in self.phones:
            self.load.beside(phone)
        for phone in self.phones:
            phone.join()
        self.is_over.set()
        cleaner.join()

    def clean_up(self) -> None:
        while not self.is_over.is_set():
            self.instance.merganserctl("gc")

    def approvals(self) -> int:
        return int(self.instance.sql(f"SELECT COUNT(*) FROM agent_approvals WHERE user_id = {self.owner}")[0][0])


class Phone(Sender):
    def __init__(self, load: Load, number: int, proof: dict, barrier: threading.Barrier) -> None:
        super().__init__(load, number)
        self.proof = proof
        self.barrier = barrier

    def prepare(self) -> None:
        device = self.new_device()
        self.account = str(device["user"]["id"])
        self.pak = device["access_token"]
        refusal = self.persist(post("link", "/api/v1/me/connected_identities", self.proof, self.pak, expected=409))
        if refusal is None:
            raise DrillError("no ticket for the swap")
        self.ticket = refusal.json()["swap_ticket"]

    def work(self) -> None:
        self.barrier.wait()
        answer = self.repeatable("swap", [self.account], post(
            "swap", "/api/v1/me/anonymous_swap",
            {"provider": "apple", "swap_ticket": self.ticket, "device_uuid": str(uuid.uuid4()), "platform": "ios"},
            self.pak))
        # At once it signs out again, which takes the same account's rows.
        if answer is not None:
            token = answer.json()["access_token"]
            self.persist(Request("sign-out", "DELETE", "/api/v1/auth/session", headers=bearer(token), expected=204))


# --- What the server depends on besides


@scenario(set(), "no-kept-keys")
def issuer_keys(drill: Drill) -> None:
    """The address of Apple's keys is down, slow or wrong in five ways, while servers start cold; no client notices."""
    keys = KeyEndpoint(drill.instance.run / "keys" / "apple.json")
    with keys.serving(), drill.setting({"MERGANSER_APPLE_JWKS_URL": keys.url}):
        with drill.load() as load, drill.fault():
            stranger = Stranger(drill, load)
            for mode in drill.choose(["page"], ["slow", *LIES, "down"]):
                keys.go_down() if mode == "down" else setattr(keys, "mode", mode)
                if drill.broken == "no-kept-keys":
                    shutil.rmtree(drill.instance.settings["MERGANSER_STATE_DIRECTORY"])
                # The new one asks for the keys at its start.
                try:
                    drill.instance.replace()
                except DrillError as error:
                    drill.wrong(str(error))
                    drill.signal_server(signal.SIGKILL)
                    break
                stranger.knock(mode)


class Stranger(Sender):
    """Has tokens that name a key nobody has published."""

    def __init__(self, drill: Drill, load: Load) -> None:
        super().__init__(load, 0)
        self.drill = drill
        self.pak = self.new_device()["access_token"]
        self.token = drill.instance.merganserctl(
            "dev", "token", "--provider", "apple", "--subject", "stranger", "--nonce", "n", "--kid", "unknown").strip()

    def knock(self, mode: str) -> None:
        began = time.monotonic()
        proof = {"provider": "apple", "identity_token": self.token, "raw_nonce": "n"}
        request = post("stranger", "/api/v1/me/connected_identities", proof, self.pak, expected=422)
        answer, _ = self.connection.send(request)
        seconds = time.monotonic() - began
        if answer is None or answer.status != 422 or seconds > 5:
            status = answer.status if answer else None
            self.drill.wrong(f"keys {mode}: a token of an unknown key was answered {status} after {seconds:.1f} s")


@scenario({503}, "one-clock")
def clock_stepped(drill: Drill) -> None:
    """The clock of nginx and the server is set five minutes ahead, and back five seconds later (libfaketime)."""
    # The repetition of a refresh that the step moves beyond the grace of 30 s is a replay, and ends its family.
    with fake_clock(drill) as step, drill.load(repeats=0), drill.fault():
        for seconds in (300, 0):
            step(seconds)
            time.sleep(5)
            ahead = [clock - time.time() for clock in clocks(drill.instance)]
            if any(abs(difference - seconds) > 3 for difference in ahead):
                drill.wrong(f"nginx and the server were to be {seconds} s ahead, and were {ahead}")
    # Of each client, at either step, one request may just be under way and look as if it had waited.
    refused = sum(exchange.status == 503 for exchange in drill.record.exchanges)
    if refused > 2 * 8:
        drill.wrong(f"{refused} requests were refused for their age")


def clocks(instance: Instance) -> tuple[float, float]:
    """What nginx and the server take the time to be."""
    with urllib.request.urlopen(f"{instance.url}/metrics") as response:
        lines = response.read().decode().splitlines()
        samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        front = email.utils.parsedate_to_datetime(response.headers["Date"]).timestamp()
    return front, float(samples["process_start_time_seconds"]) + float(samples["merganser_uptime_seconds"])


@contextlib.contextmanager
def fake_clock(drill: Drill) -> Iterator[Callable[[int], None]]:
    """The programs that run meanwhile read a clock that can be set; timers go on as they do on a real machine."""
    run([str(SCRIPTS / "packages"), "libfaketime"])
    (library,) = pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
    file = drill.instance.run / "clock"
    environment = {"LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_NO_CACHE": "1",
                   "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def step(seconds: int) -> None:
        new = file.with_suffix(".new")
        new.write_text(f"{seconds:+}\n")
        new.rename(file)

    step(0)
    with drill.setting(environment):
        front = Front(drill)
        if drill.broken != "one-clock":
            # nginx hides its environment from its workers.
            front.restart(environment, "".join(f" env {name};" for name in environment))
        yield step
    front.restart({}, "")


class Front:
    """nginx, stopped and started as scripts/instance started it."""

    def __init__(self, drill: Drill) -> None:
        self.instance = drill.instance
        command = pathlib.Path(f"/proc/{self.instance.pid('nginx')}/cmdline").read_bytes()
        # nginx writes its title over its arguments: "nginx: master process nginx -c …".
        self.command = self.original(command.rstrip(b"\0").decode())

    def original(self, title: str) -> list[str]:
        program, _, rest = title.partition("master process ")[2].partition(" -c ")
        configuration, _, rest = rest.partition(" -p ")
        prefix, _, rest = rest.partition(" -e ")
        log, _, directives = rest.partition(" -g ")
        return [program, "-c", configuration, "-p", prefix, "-e", log, "-g", directives]

    def restart(self, environment: dict[str, str], directives: str) -> None:
        self.instance.kill("nginx", signal.SIGQUIT)
        self.instance.wait_for_end("nginx", 20)
        self.instance.launch("nginx", [*self.command[:-1], self.command[-1] + directives], os.environ | environment)
        wait_until(lambda: self.instance.ready(self.instance.serving()), 10, "nginx serves")


# --- Receivers of webhooks


@scenario(set(), "no-second-attempt", is_short=True)
def receiver_down(drill: Drill) -> None:
    """A receiver refuses connections for 20 s (short: 6 s), while merges make events for it and for another one."""
    away, present = Receiver(drill.instance, "Away"), Receiver(drill.instance, "Present")
    with receiving((away, present)):
        with merging(drill, away, present):
            wait_until(lambda: bool(away.arrivals and present.arrivals), 20, "the first events")
            with drill.fault():
                away.stop()
                time.sleep(drill.choose(6, 20))
                judge_failures(drill, away)
                away.start()
        # The probe, and then the second attempts of what failed.
        drill.pass_time(60)
        wait_for_deliveries((away, present), 60)
        for receiver in (away, present):
            drill.problems += receiver.problems()
        note_deliveries(drill, present)
        attempts = dict(drill.instance.sql(f"""
            SELECT attempts, COUNT(*) FROM webhook_outbox WHERE application_id = {away.application} GROUP BY attempts
            """))
        drill.note(f"of Away's events, by how many attempts they took: {attempts}")
        if set(attempts) - {"1", "2"}:
            drill.wrong("an event took more than the attempt that failed and the next one")


def judge_failures(drill: Drill, away: Receiver) -> None:
    """The schedule's first step: after a failure an event waits half a minute; five in a row open the breaker."""
    failed = drill.instance.sql(f"""
        SELECT o.attempts, a.failure_reason, TIMESTAMPDIFF(MICROSECOND, a.at, o.next_attempt_at) / 1e6
        FROM webhook_attempts a JOIN webhook_outbox o ON o.application_id = a.application_id AND o.event_id = a.event_id
        WHERE a.application_id = {away.application} AND a.failure_reason IS NOT NULL
        """)
    waits = [float(wait) for _, _, wait in failed if wait != "NULL"]
    drill.note(f"while Away was down: {len(failed)} attempts, waits of {min(waits, default=0):.0f} to"
               f" {max(waits, default=0):.0f} s, {away.waiting()} events wait")
    # Two may be under way when the fifth fails.
    if not 5 <= len(failed) <= 6:
        drill.wrong(f"the breaker opened after {len(failed)} attempts")
    if {(attempts, reason) for attempts, reason, _ in failed} != {("1", "connection_failed")}:
        drill.wrong(f"the attempts while it was down: {failed}")
    # 30 s, a fifth more or less, from the end of the attempt.
    if len(waits) < len(failed) or not all(24 <= wait <= 37 for wait in waits):
        drill.wrong(f"after the first failure, events wait {waits} s")


@scenario(set(), "one-queue", is_short=True)
def receiver_slow(drill: Drill) -> None:
    """A receiver accepts events and does not answer for 40 s (short: 20 s); three others answer at once."""
    slow = Receiver(drill.instance, "Slow")
    healthy = [Receiver(drill.instance, f"Healthy {number}") for number in range(1, 4)]
    with receiving((slow, *healthy)):
        with merging(drill, slow, *healthy):
            wait_until(lambda: all(receiver.arrivals for receiver in (slow, *healthy)), 20, "the first events")
            with drill.fault():
                slow.answers.clear()
                time.sleep(drill.choose(20, 40))
                slow.answers.set()
        drill.pass_time(60)
        wait_for_deliveries((slow, *healthy), 60)
        for receiver in (slow, *healthy):
            drill.problems += receiver.problems()
        note_deliveries(drill, *healthy)
        if repeated := [receiver.name for receiver in healthy if receiver.repeated()]:
            drill.wrong(f"events came twice: {', '.join(repeated)}")


# An attempt at a receiver that hangs takes 15 s. Who waits for it is later than this.
LATE = 5


def note_deliveries(drill: Drill, *healthy: Receiver) -> None:
    delays = sorted(arrival.delay for receiver in healthy for arrival in receiver.arrivals)
    p50, p99, longest = (1000 * report.percentile(delays, share) for share in (0.5, 0.99, 1))
    drill.note(f"{len(delays)} events arrived where nothing was wrong, after {p50:.0f} ms (p50), {p99:.0f} ms (p99),"
               f" {longest:.0f} ms at most")
    if longest > 1000 * LATE:
        drill.wrong(f"receivers waited for another one: {longest / 1000:.1f} s")


@contextlib.contextmanager
def merging(drill: Drill, *receivers: Receiver) -> Iterator[None]:
    """Clients read and write; besides, about 40 merges a second, of which each receiver is told some."""
    crowd = Crowd(drill.instance, [receiver.application for receiver in receivers])
    crowd.grow(40 * drill.choose(60, 120))
    with drill.load(clients=4) as load:
        for number in range(2):
            load.beside(Merger(load, number, crowd, pause=0.05))
        yield


# --- nginx and the server's process


@scenario({None}, "no-retry", is_short=True)
def nginx_reloaded(drill: Drill) -> None:
    """nginx reloads its configuration ten times, every half second. It may close connections that clients keep."""
    with drill.load(), drill.fault():
        for _ in range(10):
            drill.instance.kill("nginx", signal.SIGHUP)
            time.sleep(0.5)


@scenario(UNAVAILABLE, "no-retry", recovery=5, is_short=True)
def server_stopped(drill: Drill) -> None:
    """The server's process is stopped (SIGSTOP) for ten seconds, and then finds a queue of old requests; 64 clients."""
    with drill.load(clients=64), drill.fault():
        drill.signal_server(signal.SIGSTOP)
        time.sleep(10)
        drill.signal_server(signal.SIGCONT)


@scenario(UNAVAILABLE, "no-retry")
def descriptors_exhausted(drill: Drill) -> None:
    """The server cannot open descriptors for 10 s, while its database connections are cut and 24 clients come."""
    with drill.load() as load:
        pid = drill.instance.pid(server(drill.instance.serving()))
        usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        newcomers = [Client(load, 100 + number) for number in range(24)]
        with drill.fault():
            open_now = len(os.listdir(f"/proc/{pid}/fd"))
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_now, usual[1]))
            drill.database.cut_connections()
            for newcomer in newcomers:
                load.beside(newcomer)
            time.sleep(10)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)


@scenario(UNAVAILABLE, "no-unique-key")
def memory_exhausted(drill: Drill) -> None:
    """The server can allocate no more memory and gets large batches; if it ends, it is started again, as by systemd."""
    # What an earlier scenario has made it map would do.
    drill.instance.replace()
    with drill.load() as load:
        color = drill.instance.serving()
        pid = drill.instance.pid(server(color))
        usual = resource.prlimit(pid, resource.RLIMIT_DATA)
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
        kilobytes = int(status["VmData"].split()[0])
        with drill.fault():
            resource.prlimit(pid, resource.RLIMIT_DATA, (kilobytes * 1024, usual[1]))
            senders = [load.beside(LargeBatches(load, number)) for number in range(16)]
            while any(sender.is_alive() for sender in senders):
                if drill.instance.pid(server(color)) is None:
                    drill.note("the server ended, and was started again")
                    drill.instance.wait_for_end(server(color), 1)
                    time.sleep(1)
                    drill.instance.start(color)
                time.sleep(0.1)
            if drill.instance.pid(server(color)) == pid:
                drill.note("the server went on with what it had")
                resource.prlimit(pid, resource.RLIMIT_DATA, usual)


class LargeBatches(Sender):
    """Ten ingests of almost 1 MiB."""

    def work(self) -> None:
        for _ in range(10):
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            events = [{"client_event_id": str(uuid.uuid4()), "session_id": str(uuid.uuid4()), "user_id": "drill_large",
                       "level": "info", "timestamp": now, "message": "x" * 10_000} for _ in range(90)]
            body = {"bundle_id": os.environ["MERGANSER_BUNDLE_ID"], "events": events}
            request = post("large ingest", "/v1/ingest", body, os.environ["MERGANSER_CLIENT_KEY"])
            request.headers = {**request.headers, "Content-Type": "application/json"}
            self.write("event", [event["client_event_id"] for event in events], request)


# --- Too many clients


@scenario(UNAVAILABLE, "no-shedding", recovery=5, is_short=True, is_repeated=False)
def overload(drill: Drill) -> None:
    """Batches of 100 events come at up to ten times the rate that can be served; clients hang up after 3 s."""
    # The clients are on the same machine. With the database 20 ms away, they do not take what the server lacks.
    with Proxy(drill.instance, drill.database.socket, 0.02) as proxy, proxy.delaying():
        with drill.setting({"MERGANSER_DATABASE_SOCKET": str(proxy.socket)}):
            Overload(drill).run()


@scenario(UNAVAILABLE, "no-shedding", recovery=5, is_repeated=False)
def processor_exhausted(drill: Drill) -> None:
    """As overload, but nginx, the server and MariaDB share one processor, and the clients have another."""
    with apart(drill.instance):
        Overload(drill).run()


@contextlib.contextmanager
def apart(instance: Instance) -> Iterator[None]:
    """The clients do not take what the server lacks."""
    every = os.sched_getaffinity(0)
    if len(every) < 2:
        raise DrillError("clients need a processor of their own; leave processor_exhausted out with ONLY=")
    ours, theirs = sorted(every)[:2]
    instance.pin({theirs})
    os.sched_setaffinity(0, {ours})
    yield
    os.sched_setaffinity(0, every)
    instance.pin(every)
