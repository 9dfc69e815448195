"""The measured instance: its address, its database, its merganserctl, and people and phones that exist before."""

import concurrent.futures
import http.client
import json
import os
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit


def setting(name: str) -> str:
    """A variable that the instance sets. Without an instance it is empty, which is enough to read the arguments."""
    return os.environ.get(name, "")


URL = setting("MERGANSER_URL")
RUN = setting("MERGANSER_RUN")
ADDRESS = urlsplit(URL).netloc


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a workload, and the fields that the floor needs because it does not look them up itself."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    fields: tuple[str, ...] = ()

    def wire(self, address: str) -> bytes:
        """The bytes that wrk sends. Both sides get the same bytes, including the floor's fields."""
        headers = {"Host": address, **self.headers}
        if self.fields:
            headers["X-Floor"] = ",".join(self.fields)
        if self.body:
            headers["Content-Length"] = str(len(self.body))
        lines = [
            f"{self.method} {self.path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in headers.items()),
            "",
            "",
        ]
        return "\r\n".join(lines).encode() + self.body


class Refused(Exception):
    """An answer whose status was not expected."""


_thread = threading.local()


def send(request: Request, expected: int = 200) -> dict:
    """Sends it over this thread's kept connection and returns the JSON of the answer."""
    connection = getattr(_thread, "connection", None)
    # nginx closes a connection that is not used for 65 s.
    if connection is None or time.monotonic() > _thread.used + 30:
        connection = _thread.connection = http.client.HTTPConnection(ADDRESS, timeout=60)
    _thread.used = time.monotonic()
    headers = dict(request.headers)
    if request.fields:
        headers["X-Floor"] = ",".join(request.fields)
    connection.request(request.method, request.path, request.body or None, headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != expected:
        raise Refused(f"{request.method} {request.path}: {answer.status} instead of {expected}: {text[:300]!r}")
    return json.loads(text) if text else {}


def post(path: str, body: Mapping, token: str | None = None, **headers: str) -> Request:
    """A POST of JSON."""
    given = {"Content-Type": "application/json"}
    if token:
        given["Authorization"] = "Bearer " + token
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("POST", path, given, json.dumps(body, separators=(",", ":")).encode())


def parallel(action: Callable, items: Iterable) -> list:
    """The results in order; eight at a time."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(action, items, chunksize=8))


def sql(script: str) -> list[list[str]]:
    """Runs statements as the database's administrator, and returns the rows of the results, unescaped."""
    done = subprocess.run(
        [os.environ["MERGANSER_DB"], "--batch", "--raw", "--skip-column-names"],
        input=script.encode(),
        check=True,
        stdout=subprocess.PIPE,
    )
    return [line.split("\t") for line in done.stdout.decode("utf-8", "surrogateescape").splitlines()]


def make_room(rows: int) -> None:
    """Gives MariaDB a buffer pool for so many events: with its default, filling them is bound by reads of pages."""
    if rows > 1_000_000:
        sql("SET GLOBAL innodb_log_file_size = 2147483648; SET GLOBAL innodb_buffer_pool_size = 8589934592")


def tell_ids_apart() -> None:
    """Makes the ids of each table start at another number. If two tables had the same ids, a plan could confuse them."""
    rows = sql(
        "SELECT table_name FROM information_schema.tables"
        " WHERE table_schema = DATABASE() AND auto_increment IS NOT NULL ORDER BY table_name"
    )
    sql("".join(f"ALTER TABLE {table} AUTO_INCREMENT = {n * 1_000_000};" for n, (table,) in enumerate(rows, 1)))


def merganserctl(*arguments: str) -> str:
    return subprocess.run(
        [os.environ["MERGANSERCTL"], *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


@dataclass(frozen=True, slots=True)
class Phone:
    """A device with its account."""

    device_uuid: str
    secret: str
    token: str
    user: int


def anonymous_phone(_: object = None) -> Phone:
    device = str(uuid.uuid4())
    answer = send(post("/api/v1/devices", {"device_uuid": device, "platform": "ios"}))
    return Phone(device, answer["device_secret"], answer["access_token"], answer["user"]["id"])
