"""Measures how long webhooks take from commit to delivery while half of the receivers hang.

A user disconnects applications at a steady rate; each disconnection is one commit with three events for one application.
"""

import http.client
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import sides
from growth import Curve
from scene import merganserctl, parallel, sql
from workloads import phones

ENDPOINTS = 200
EVENTS_A_COMMIT = 3
# Longer than the time an attempt may take, so that the attempts at hanging receivers end, too.
SECONDS = 20
RATES = (50, 100, 200, 400)
WRITERS = 8
# The digits of a ULID (https://github.com/ulid/spec); the first ten are milliseconds.
DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Deliveries:
    """What arrived at receiver.py."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-B", pathlib.Path(__file__).with_name("receiver.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = int(self.process.stdout.readline())

    def take(self) -> dict[str, float]:
        """The first arrival of each event since the last call, in milliseconds since 1970."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        arrivals: dict[str, float] = {}
        while (line := self.process.stdout.readline().split()) != ["-"]:
            arrivals.setdefault(line[0], float(line[1]))
        return arrivals

    def stop(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def milliseconds(event: str) -> int:
    """When an event's id was made, which is just before its commit."""
    value = 0
    for digit in event.removeprefix("evt_")[:10]:
        value = value * 32 + DIGITS.index(digit)
    return value


class Scene:
    """Applications whose receivers are healthy and hang in turn, and grants of users who disconnect them."""

    def __init__(self, port: int) -> None:
        def application(number: int) -> str:
            health = "hanging" if number % 2 else "healthy"
            arguments = ["--name", f"Receiver {number}", "--client-type", "confidential", "--json"]
            arguments += ["--redirect-uri", "https://rp.example/callback"]
            arguments += ["--webhook-url", f"http://127.0.0.1:{port}/{health}/{number}"]
            return json.loads(merganserctl("application", "create", *arguments))["client_id"]

        self.clients = parallel(application, range(ENDPOINTS))
        self.chosen = ", ".join(f"'{client}'" for client in self.clients)
        users = ", ".join(str(phone.user) for phone in phones())
        sql(f"""
            INSERT INTO grants (user_id, application_id, sub, scopes, created_at)
            SELECT u.id, a.id, u.id, a.allowed_scopes, NOW(3) FROM users u JOIN applications a
            WHERE u.id IN ({users}) AND a.client_id IN ({self.chosen})""")
        pairs = [(phone.token, client) for phone in phones() for client in self.clients]
        # One user after another, so that consecutive commits are for different applications.
        self.grants: Iterator[tuple[str, str]] = iter(pairs)

    def reset(self) -> None:
        """Forgets earlier events and failures."""
        sql(f"""
            DELETE FROM webhook_outbox; DELETE FROM webhook_failures;
            UPDATE applications SET webhook_disabled_at = NULL WHERE client_id IN ({self.chosen})""")

    def disconnect(self, address: str, rate: float, seconds: float) -> None:
        """Sends requests at this rate, whatever their answers take."""
        work = list(itertools.islice(self.grants, int(rate * seconds)))
        start = time.monotonic() + 0.2
        failures: list[str] = []

        def write(first: int) -> None:
            try:
                write_all(first)
            except (OSError, http.client.HTTPException) as failure:
                failures.append(repr(failure))

        def write_all(first: int) -> None:
            connection = http.client.HTTPConnection(address, timeout=60)
            for number in range(first, len(work), WRITERS):
                token, client = work[number]
                time.sleep(max(0, start + number / rate - time.monotonic()))
                path = f"/api/v1/me/connected_apps/{client}"
                connection.request("DELETE", path, headers={"Authorization": "Bearer " + token})
                answer = connection.getresponse()
                text = answer.read()
                if answer.status not in (200, 204):
                    failures.append(f"{answer.status} {text[:200]!r}")

        threads = [threading.Thread(target=write, args=[each]) for each in range(WRITERS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        if failures:
            raise SystemExit(f"error: webhooks: {len(failures)} disconnections failed: {failures[0]}")

    def events(self) -> list[str]:
        """The events for healthy receivers."""
        rows = sql("""
            SELECT o.event_id FROM webhook_outbox o JOIN applications a ON a.id = o.application_id
            WHERE a.webhook_url LIKE '%/healthy/%'""")
        return [row[0] for row in rows]


@contextmanager
def processes(sockets: pathlib.Path, threads: int, own: bool) -> Iterator[str]:
    """Starts the process that commits and, unless it is its own, the one that sends; gives the address to write to."""
    writer = sides.merganser("writer", sockets, threads, MERGANSER_DISPATCHERS="1" if own else "0")
    started = [writer] if own else [writer, sides.merganser("sender", sockets, 1, MERGANSER_DISPATCHERS="1")]
    try:
        yield writer.address
    finally:
        for each in started:
            each.stop()


def measure(sockets: pathlib.Path, threads: int) -> list[Curve]:
    """Curves of the 99th percentile by events a second."""
    deliveries = Deliveries()
    curves = []
    try:
        scene = Scene(deliveries.port)
        print(f"{'webhooks':<26}{'events/s':>9}{'delivered':>11}{'p50 ms':>9}{'p99 ms':>9}{'most ms':>9}", flush=True)
        for title, own in (("sent by the writer", True), ("sent by another process", False)):
            curve = Curve(title, "events/s, half of 200 receivers hanging", "p99 ms to delivery")
            for rate in RATES:
                scene.reset()
                deliveries.take()
                with processes(sockets, threads, own) as address:
                    scene.disconnect(address, rate / EVENTS_A_COMMIT, SECONDS)
                    expected, arrivals = scene.events(), deliveries.take()
                    end = time.monotonic() + 30
                    while not arrivals.keys() >= set(expected) and time.monotonic() < end:
                        time.sleep(0.2)
                        arrivals = deliveries.take() | arrivals
                missing = set(expected) - arrivals.keys()
                if missing or not expected:
                    raise SystemExit(f"error: webhooks: {len(missing)} of {len(expected)} events did not arrive")
                waits = sorted(arrivals[event] - milliseconds(event) for event in expected)
                p99 = waits[int(len(waits) * 0.99)]
                print(
                    f"  {title:<24}{rate:>9}{len(waits):>11}{statistics.median(waits):>9.0f}{p99:>9.0f}{waits[-1]:>9.0f}",
                    flush=True,
                )
                curve.points.append((rate, p99))
            curves.append(curve)
    finally:
        deliveries.stop()
    return curves
