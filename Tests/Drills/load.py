"""Clients that read and write through nginx, and the result of each of their requests.

A client is a thread with a kept HTTP/1.1 connection and accounts of its own. Each request is in the record, each write
in the ledger besides. What an answer is worth is judged here: any other status than the expected one is a failure, and
so is a repetition that is answered otherwise than the first copy.
"""

import base64
import collections
import dataclasses
import datetime
import hashlib
import http.client
import itertools
import json
import os
import random
import secrets
import threading
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterable, Mapping

from instance import Instance, wait_until
from ledger import Ledger

# How often a client does what, in relation to the rest.
MIX = {"profile": 30, "userinfo": 20, "ingest": 30, "device": 8, "refresh": 8, "swap": 3}


@dataclasses.dataclass(frozen=True)
class Exchange:
    """A request and what became of it. Times are time.monotonic()."""

    kind: str
    began: float
    ended: float
    # None: the connection failed.
    status: int | None
    # Why it counts as failed.
    failure: str | None


class Record:
    """All clients' exchanges."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._exchanges: list[Exchange] = []

    def add(self, exchange: Exchange) -> None:
        with self._lock:
            self._exchanges.append(exchange)

    @property
    def exchanges(self) -> list[Exchange]:
        with self._lock:
            return list(self._exchanges)

    @property
    def failures(self) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.failure is not None]

    def per_second(self) -> list[tuple[int, int]]:
        """How many went well and how many failed, for each second since the first began, by when they ended."""
        exchanges = self.exchanges
        first = min((exchange.began for exchange in exchanges), default=0.0)
        good: collections.Counter[int] = collections.Counter()
        failed: collections.Counter[int] = collections.Counter()
        for exchange in exchanges:
            (failed if exchange.failure else good)[int(exchange.ended - first)] += 1
        return [(good[second], failed[second]) for second in range(max(good | failed, default=-1) + 1)]


@dataclasses.dataclass
class Answer:
    status: int
    body: bytes

    def json(self) -> dict:
        return json.loads(self.body)


@dataclasses.dataclass
class Request:
    """One that may be sent several times."""

    kind: str
    method: str
    path: str
    body: bytes | Iterable[bytes] = b""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    expected: int = 200
    # What is wrong with an answer of the expected status.
    check: Callable[[Answer], str | None] = lambda _: None


def post(kind: str, path: str, body: dict, token: str | None = None, **options) -> Request:
    return Request(kind, "POST", path, json.dumps(body).encode(), bearer(token), **options)


def bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


class Connection:
    """A client's, made again when it has failed: to the next address, if the instance has several.

    first: the number of the address that it begins with.
    """

    # Seconds for a connection, and for an answer, longer than nginx waits for the server.
    CONNECT, ANSWER = 3, 70
    # What makes a load balancer send the next request elsewhere.
    ELSEWHERE = (502, 503, 504)

    def __init__(self, instance: Instance, record: Record, first: int = 0) -> None:
        addresses = instance.addresses
        self._connections = itertools.cycle(
            http.client.HTTPConnection(*addresses[(first + number) % len(addresses)], timeout=self.CONNECT)
            for number in range(len(addresses)))
        self._http = next(self._connections)
        # Under whatever address it is reached.
        self._host = {"Host": instance.url.removeprefix("http://")}
        self._record = record

    def send(self, request: Request) -> tuple[Answer | None, bool]:
        """The answer, if there is one, and whether it is as expected."""
        began = time.monotonic()
        answer = None
        try:
            if self._http.sock is None:
                self._http.connect()
                self._http.sock.settimeout(self.ANSWER)
            self._http.request(request.method, request.path, request.body, self._host | dict(request.headers))
            response = self._http.getresponse()
            answer = Answer(response.status, response.read())
            if answer.status != request.expected:
                failure = f"{answer.status} {answer.body[:120].decode(errors='replace')}"
            else:
                failure = request.check(answer)
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            failure = f"{type(error).__name__}: {error}"
        self._record.add(Exchange(request.kind, began, time.monotonic(), answer.status if answer else None, failure))
        if answer is None or answer.status in self.ELSEWHERE:
            failed, self._http = self._http, next(self._connections)
            if self._http is not failed:
                failed.close()
        return answer, failure is None

    def close(self) -> None:
        self._http.close()


class Load:
    """All clients together; a context that they run in.

    patience: for how many seconds a write that got no answer, or 429 or 5xx, is repeated under its id, as SDKs do.
    repeats: the share of acknowledged writes that are sent again under their id, as if the answer had been lost.
    keeps_keys: False has such a repetition come under an id of its own, which a server cannot know for a repetition.
    """

    def __init__(self, instance: Instance, clients: int = 8, mix: Mapping[str, int] = MIX, patience: float = 30,
                 repeats: float = 0.05, keeps_keys: bool = True) -> None:
        self.instance = instance
        self.mix = mix
        self.patience = patience
        self.repeats = repeats
        self.keeps_keys = keeps_keys
        self.ledger = Ledger()
        self.record = Record()
        self.stopping = threading.Event()
        self._clients = [Client(self, number) for number in range(clients)]
        self._threads: list[threading.Thread] = [*self._clients]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        """Waits until every write has got its answer, or the patience is over."""
        self.stopping.set()
        for thread in self._threads:
            thread.join()

    def wait_for_traffic(self, requests: int) -> None:
        """Until every client is signed in, and they have sent so many requests each."""
        everybody = len(self._clients)
        wait_until(lambda: all(client.is_signed_in.is_set() for client in self._clients)
                   and len(self.record.exchanges) > requests * everybody, 60, "traffic")

    def beside(self, thread: threading.Thread) -> threading.Thread:
        """Something more that goes on until it has ended by itself."""
        self._threads.append(thread)
        thread.start()
        return thread


class Sender(threading.Thread):
    """Sends writes that are in the ledger."""

    def __init__(self, load: Load, seed: int) -> None:
        super().__init__(daemon=True)
        self.load = load
        self.random = random.Random(seed)
        self.connection = Connection(load.instance, load.record, first=seed)

    def run(self) -> None:
        try:
            self.work()
        except Exception as error:
            # A client that gives up is no proof of anything.
            now = time.monotonic()
            self.load.record.add(Exchange("client", now, now, None, f"gave up: {type(error).__name__}: {error}"))
        finally:
            self.connection.close()

    def work(self) -> None:
        raise NotImplementedError

    def write(self, kind: str, ids: list[str], request: Request, repetition: Request | None = None) -> Answer | None:
        """None when the write was refused, or nobody knows what became of it.

        repetition: what is sent now and then after the answer, as if that had been lost.
        """
        self.load.ledger.sent(kind, *ids)
        answer = self.persist(request)
        if answer is not None:
            self.load.ledger.acknowledged(kind, *ids)
            if repetition is not None and self.random.random() < self.load.repeats:
                self.persist(repetition)
        return answer

    def persist(self, request: Request) -> Answer | None:
        deadline = time.monotonic() + self.load.patience
        while True:
            answer, is_good = self.connection.send(request)
            if is_good:
                return answer
            is_final = answer is not None and answer.status < 500 and answer.status != 429
            if is_final or time.monotonic() > deadline:
                return None
            time.sleep(self.random.uniform(0.05, 0.3))

    def new_device(self) -> dict:
        """What a phone is told at its first start."""
        device = str(uuid.uuid4())
        request = post("device", "/api/v1/devices", {"device_uuid": device, "platform": "ios"})
        answer = self.repeatable("device", [device], request)
        if answer is None:
            raise Setback
        return answer.json()

    def repeatable(self, kind: str, ids: list[str], request: Request) -> Answer | None:
        """A write under an Idempotency-Key: its repetition gets the same bytes."""
        request.headers = {**request.headers, "Idempotency-Key": str(uuid.uuid4())}
        first: list[bytes] = []

        def remember(answer: Answer) -> None:
            first.append(answer.body)

        request.check = remember
        repetition = dataclasses.replace(request, check=lambda answer: differs(answer, first[-1]))
        if not self.load.keeps_keys:
            repetition.headers = {**request.headers, "Idempotency-Key": str(uuid.uuid4())}
        return self.write(kind, ids, request, repetition)


class Setback(Exception):
    """Without this answer the client cannot do what it wanted next; the record has the failure."""


class Client(Sender):
    """Does what the mix says until the load stops."""

    def __init__(self, load: Load, number: int) -> None:
        super().__init__(load, number)
        # Somebody signed in with Apple, into whose account this client's anonymous accounts are swapped.
        subject = f"drill.{uuid.uuid4()}"
        self.nonce = secrets.token_hex(8)
        self.is_signed_in = threading.Event()
        dev = load.instance.merganserctl
        dev("dev", "user", "--provider", "apple", "--subject", subject)
        self.identity_token = dev("dev", "token", "--provider", "apple", "--subject", subject, "--nonce", self.nonce,
                                  "--expires-in", "86400").strip()

    def work(self) -> None:
        self.begin()
        actions = {"profile": self.read_profile, "userinfo": self.read_userinfo, "ingest": self.ingest,
                   "device": self.new_device, "refresh": self.refresh, "swap": self.swap, "claim": self.claim}
        kinds, weights = zip(*self.load.mix.items())
        while not self.load.stopping.is_set():
            try:
                actions[self.random.choices(kinds, weights)[0]]()
            except Setback:
                pass

    def begin(self) -> None:
        while not self.load.stopping.is_set():
            try:
                self.pak = self.new_device()["access_token"]
                self.sign_in()
                return self.is_signed_in.set()
            except Setback:
                pass

    def read_profile(self) -> None:
        self.connection.send(Request("profile", "GET", "/api/v1/me", headers=bearer(self.pak)))

    def read_userinfo(self) -> None:
        self.connection.send(Request("userinfo", "GET", "/oauth/userinfo", headers=bearer(self.access_token)))

    def ingest(self) -> str:
        """Returns whose events they are."""
        user = f"owl_anon_{uuid.uuid4()}"
        ids, request = batch(user, self.random.randint(1, 5))
        if self.write("event", ids, request, request) is None:
            raise Setback
        return user

    def claim(self) -> None:
        """Somebody signs in, after events that an app has reported of nobody."""
        anonymous = self.ingest()
        request = claim(anonymous, f"drill_{uuid.uuid4()}")
        self.write("claim", [anonymous], request, request)

    def sign_in(self) -> None:
        """Into the demo application, as the server's own app does it; the first tokens of a family."""
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        callback = f"{self.load.instance.url}/dev/callback"
        code = self.persist(post("authorize", "/api/v1/oauth/authorize", {
            "response_type": "code", "client_id": os.environ["MERGANSER_CLIENT_ID"], "redirect_uri": callback,
            "scope": "openid profile:basic", "state": secrets.token_hex(8), "code_challenge": challenge,
            "code_challenge_method": "S256"}, self.pak))
        if code is None:
            raise Setback
        answer = self.persist(form(
            "authorize", "/oauth/token", grant_type="authorization_code", code=code.json()["code"],
            redirect_uri=callback, code_verifier=verifier))
        if answer is None:
            raise Setback
        self.use(answer)
        self.load.ledger.sent("token", self.family)
        self.load.ledger.acknowledged("token", self.family)

    def refresh(self) -> None:
        before = self.refresh_token
        request = form("refresh", "/oauth/token", grant_type="refresh_token", refresh_token=before)
        first: list[bytes] = []
        request.check = lambda answer: first.append(answer.body)
        repetition = dataclasses.replace(request, check=lambda answer: differs(answer, first[-1]))
        answer = self.write("token", [self.family], request, repetition)
        # A token whose rotation nobody answered for half a minute is a stolen one, should it have been rotated.
        self.use(answer) if answer else self.sign_in()

    def use(self, tokens: Answer) -> None:
        self.access_token, self.refresh_token = tokens.json()["access_token"], tokens.json()["refresh_token"]
        payload = self.access_token.split(".")[1]
        jti = json.loads(base64.urlsafe_b64decode(payload + "=="))["jti"]
        # A jti begins with the 16 bytes by which the database knows the family.
        self.family = base64.urlsafe_b64decode(jti + "==")[:16].hex()

    def phone(self) -> tuple[str, Request]:
        """A new phone that is about to swap into the owner's account: its own account, and the request."""
        device = self.new_device()
        pak, account = device["access_token"], str(device["user"]["id"])
        proof = {"provider": "apple", "identity_token": self.identity_token, "raw_nonce": self.nonce}
        refusal = self.persist(post("link", "/api/v1/me/connected_identities", proof, pak, expected=409))
        if refusal is None:
            raise Setback
        ticket = {"provider": "apple", "swap_ticket": refusal.json()["swap_ticket"]}
        return account, post("swap", "/api/v1/me/anonymous_swap", ticket, pak)

    def swap(self) -> None:
        """Somebody who owns an account signs in on a new phone."""
        account, request = self.phone()
        self.repeatable("swap", [account], request)


class SlowUpload(Sender):
    """An attachment from a phone with a bad connection, whose bytes take so many seconds."""

    def __init__(self, load: Load, seconds: float) -> None:
        super().__init__(load, 0)
        self.seconds = seconds
        # Set once the server has it.
        self.is_under_way = threading.Event()

    def work(self) -> None:
        key, pause = os.environ["MERGANSER_CLIENT_KEY"], 0.25
        pieces = [secrets.token_bytes(1024) for _ in range(int(self.seconds / pause))]
        content = b"".join(pieces)
        reservation = post("reserve", "/v1/ingest/attachment", {
            "client_event_id": str(uuid.uuid4()), "original_filename": "drill.bin", "content_type": "application/zip",
            "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}, key, expected=201)
        reservation.headers = {**reservation.headers, "Content-Type": "application/json"}
        answer = self.persist(reservation)
        if answer is None:
            return
        id = answer.json()["attachment_id"]

        def slowly() -> Iterable[bytes]:
            for number, piece in enumerate(pieces):
                if number == 2:
                    self.is_under_way.set()
                time.sleep(pause)
                yield piece

        self.load.ledger.sent("upload", id)
        # Not repeated: it would take as long again.
        _, is_good = self.connection.send(Request(
            "slow upload", "PUT", f"/v1/ingest/attachment/{id}", slowly(),
            {**bearer(key), "Content-Type": "application/octet-stream", "Content-Length": str(len(content))}))
        if is_good:
            self.load.ledger.acknowledged("upload", id)


class LockedProfile(Sender):
    """A change of a profile whose row somebody else keeps locked for so many seconds."""

    def __init__(self, load: Load, seconds: float) -> None:
        super().__init__(load, 0)
        self.seconds = seconds

    def work(self) -> None:
        try:
            account = self.new_device()
        except Setback:
            return
        holder = self.load.instance.hold(f"SELECT id FROM users WHERE id = {account['user']['id']}", self.seconds)
        nickname = str(uuid.uuid4())
        request = post("locked row", "/api/v1/me", {"nickname": nickname}, account["access_token"])
        request.method = "PATCH"
        self.write("nickname", [nickname], request)
        holder.wait()


def batch(user: str, count: int) -> tuple[list[str], Request]:
    """A user's new events: their ids, and the request that reports them."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    session = str(uuid.uuid4())
    events = [{"client_event_id": str(uuid.uuid4()), "session_id": session, "user_id": user, "level": "info",
               "message": "drill", "timestamp": now} for _ in range(count)]

    def check(answer: Answer) -> str | None:
        counts = answer.json()
        known = counts["accepted"] + counts.get("duplicates", 0)
        return None if known == len(events) else f"of {len(events)} events: {counts}"

    body = {"bundle_id": os.environ["MERGANSER_BUNDLE_ID"], "events": events}
    return [event["client_event_id"] for event in events], by_app("ingest", "/v1/ingest", body, check=check)


def claim(anonymous: str, user: str) -> Request:
    return by_app("claim", "/v1/identity/claim", {"anonymous_id": anonymous, "user_id": user})


def by_app(kind: str, path: str, body: dict, **options) -> Request:
    request = post(kind, path, body, os.environ["MERGANSER_CLIENT_KEY"], **options)
    request.headers = {**request.headers, "Content-Type": "application/json"}
    return request


def form(kind: str, path: str, **fields: str) -> Request:
    """Of the demo application, a public client."""
    body = urllib.parse.urlencode({**fields, "client_id": os.environ["MERGANSER_CLIENT_ID"]})
    return Request(kind, "POST", path, body.encode(), {"Content-Type": "application/x-www-form-urlencoded"})


def differs(answer: Answer, first: bytes) -> str | None:
    return None if answer.body == first else "a repetition is answered otherwise"
