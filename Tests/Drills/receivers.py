"""Applications whose webhooks go to receivers of the drill, on this machine, and what arrives there."""

import collections
import contextlib
import dataclasses
import http.server
import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator

from instance import DrillError, Instance, wait_until


@dataclasses.dataclass(frozen=True)
class Arrival:
    """An attempt that came. Times are time.monotonic()."""

    event: str
    seq: int
    at: float
    # Since the event was made, by the clock that all programs here share.
    delay: float


class Receiver:
    """An application, and its server. It keeps its port while the server is down.

    work: how many seconds it takes to answer.
    """

    def __init__(self, instance: Instance, name: str, work: float = 0) -> None:
        self.instance = instance
        self.name = name
        self.work = work
        # Cleared, it answers nobody.
        self.answers = threading.Event()
        self.answers.set()
        self.arrivals: list[Arrival] = []
        self._lock = threading.Lock()
        self._server: http.server.ThreadingHTTPServer | None = None
        # Two sockets share the port; only one that listens is connected to.
        self._port = socket.socket()
        self._port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._port.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{self._port.getsockname()[1]}/"
        made = json.loads(instance.merganserctl(
            "application", "create", "--name", name, "--client-type", "confidential", "--redirect-uri",
            "com.example.drill://callback", "--webhook-url", url, "--json"))
        self.application: int = made["id"]
        self.client_id: str = made["client_id"]

    @contextlib.contextmanager
    def receiving(self) -> Iterator[None]:
        self.start()
        try:
            yield
        finally:
            self.answers.set()
            self.stop()
            self._port.close()
            # Whatever the next scenario does, nobody is told.
            self.instance.merganserctl("application", "set", self.client_id, "--webhook-url", "none")

    def start(self) -> None:
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.take(self.headers["X-Logi-Event-Id"], int(self.headers["X-Logi-Event-Seq"]), body)
                # Whoever sent it may have left.
                with contextlib.suppress(OSError):
                    self.send_response(204)
                    self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_port = True
            request_queue_size = 1024

        self._server = Server(self._port.getsockname(), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """From now on connections are refused."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def take(self, event: str, seq: int, body: bytes) -> None:
        if json.loads(body)["event_id"] != event:
            raise DrillError(f"the head of {event} is of another event")
        arrival = Arrival(event, seq, time.monotonic(), time.time() - made_at(event))
        with self._lock:
            self.arrivals.append(arrival)
        self.answers.wait()
        time.sleep(self.work)

    # --- What the database has

    def seqs(self) -> dict[str, int]:
        """The application's events."""
        return {event: int(seq) for event, seq in self.instance.sql(
            f"SELECT event_id, seq FROM webhook_outbox WHERE application_id = {self.application}")}

    def waiting(self) -> int:
        """How many events were not delivered yet."""
        return int(self.instance.sql(f"""
            SELECT COUNT(*) FROM webhook_outbox WHERE application_id = {self.application} AND delivered_at IS NULL
            """)[0][0])

    def problems(self) -> list[str]:
        """What is wrong with what arrived: an event is missing, or is not the database's, or has another number."""
        seqs = self.seqs()
        arrived = {arrival.event: arrival.seq for arrival in self.arrivals}
        problems = []
        if lost := seqs.keys() - arrived.keys():
            problems.append(f"{self.name}: {len(lost)} of {len(seqs)} events never arrived, as {min(lost)}")
        if wrong := {event for event, seq in arrived.items() if seqs.get(event) != seq}:
            problems.append(f"{self.name}: {len(wrong)} events arrived that are not in the outbox, as {min(wrong)}")
        if sorted(seqs.values()) != list(range(1, len(seqs) + 1)):
            problems.append(f"{self.name}: the numbers of {len(seqs)} events are not 1 to {len(seqs)}")
        return problems

    def repeated(self) -> dict[str, list[Arrival]]:
        """The arrivals of each event that came more than once, in order."""
        arrivals: dict[str, list[Arrival]] = collections.defaultdict(list)
        for arrival in self.arrivals:
            arrivals[arrival.event].append(arrival)
        return {event: times for event, times in arrivals.items() if len(times) > 1}


@contextlib.contextmanager
def receiving(receivers: Iterable[Receiver]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for receiver in receivers:
            stack.enter_context(receiver.receiving())
        yield


def wait_for_deliveries(receivers: Iterable[Receiver], seconds: float) -> None:
    """Until everything is delivered, or the time is over; problems() tells what then is missing."""
    with contextlib.suppress(DrillError):
        wait_until(lambda: not any(receiver.waiting() for receiver in receivers), seconds, "all deliveries")


def made_at(event: str) -> float:
    """The time in an event's id, a ULID: its first ten digits are milliseconds since 1970, in base 32 (Crockford's)."""
    milliseconds = 0
    for digit in event.removeprefix("evt_")[:10]:
        milliseconds = milliseconds * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(digit)
    return milliseconds / 1000
