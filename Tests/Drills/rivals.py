"""The same accounts changed through two app machines at the same moment, which write to different databases."""

import collections
import concurrent.futures
import threading
import time
import uuid

from fleet import Fleet
from instance import Instance
from load import Answer, Client, Connection, Load, Request, Sender, Setback, batch, claim, form, post


class Rivals:
    """Pairs of clients that race, each pair with an account of its own, until the time is over."""

    PAIRS = 3

    def __init__(self, fleet: Fleet, load: Load) -> None:
        self.load = load
        self.pairs = [Pair(fleet, load, number) for number in range(self.PAIRS)]

    def run(self, seconds: float) -> None:
        for pair in self.pairs:
            self.load.beside(pair)
        time.sleep(seconds)
        for pair in self.pairs:
            pair.enough.set()
        for pair in self.pairs:
            pair.join()

    def summary(self) -> list[str]:
        races = sum((pair.races for pair in self.pairs), collections.Counter())
        return ["races: " + ", ".join(f"{count} {kind}" for kind, count in sorted(races.items()))]

    def problems(self) -> list[str]:
        return [problem for pair in self.pairs for problem in pair.wrong]


class Pair(Client):
    """An owner, whose phones and apps come through both machines at once."""

    def __init__(self, fleet: Fleet, load: Load, number: int) -> None:
        super().__init__(load, number)
        self.fleet = fleet
        self.enough = threading.Event()
        self.races: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.threads = concurrent.futures.ThreadPoolExecutor(2)
        self.sides = [Side(load, number * 2 + side, machine) for side, machine in enumerate(fleet.machines)]

    def work(self) -> None:
        self.begin()
        turns = [self.race_swaps, self.repeat_swap, self.race_refresh, self.race_ingest, self.race_claims]
        while not self.enough.is_set() and not self.load.stopping.is_set():
            for turn in turns:
                try:
                    turn()
                except Setback:
                    self.races["without a beginning"] += 1

    def begin(self) -> None:
        while not self.enough.is_set():
            try:
                self.pak = self.new_device()["access_token"]
                self.fleet.cluster.settle()
                return self.sign_in()
            except Setback:
                pass

    def both(self, kind: str, ids: list[str], requests: list[Request], writes: int = 1) -> list[Answer | None]:
        """Sends a request through each machine at once.

        writes: 1 if both are the same write, 2 if each has its own of the ids.
        """
        self.races[kind] += 1
        self.load.ledger.sent(kind, *ids)
        answers = list(self.threads.map(lambda side, request: side.persist(request), self.sides, requests))
        if writes == 2:
            for id, answer in zip(ids, answers):
                if answer is not None:
                    self.load.ledger.acknowledged(kind, id)
        elif any(answer is not None for answer in answers):
            self.load.ledger.acknowledged(kind, *ids)
        if None in answers:
            self.wrong.append(f"{kind}: of two at once {answers.count(None)} got no good answer")
        return answers

    # --- Races

    def keyed_phone(self) -> tuple[str, Request]:
        account, request = self.phone()
        request.headers = {**request.headers, "Idempotency-Key": str(uuid.uuid4())}
        return account, request

    def race_swaps(self) -> None:
        """Two phones of one owner."""
        phones = [self.keyed_phone(), self.keyed_phone()]
        self.fleet.cluster.settle()
        self.both("swap", [account for account, _ in phones], [request for _, request in phones], writes=2)

    def repeat_swap(self) -> None:
        """A phone that repeats its request at once, through the other machine: both get the same answer."""
        account, request = self.keyed_phone()
        self.fleet.cluster.settle()
        self.same("swap", self.both("swap", [account], [request, request]))

    def race_refresh(self) -> None:
        before = self.refresh_token
        request = form("refresh", "/oauth/token", grant_type="refresh_token", refresh_token=before)
        self.fleet.cluster.settle()
        answers = self.both("token", [self.family], [request, request])
        self.same("refresh", answers)
        good = [answer for answer in answers if answer is not None]
        if good:
            self.use(good[0])
        else:
            self.fleet.cluster.settle()
            self.sign_in()

    def race_ingest(self) -> None:
        ids, request = batch(f"owl_anon_{uuid.uuid4()}", 5)
        self.both("event", ids, [request, request])

    def race_claims(self) -> None:
        """Two anonymous ids become the same user, while one more event comes late under each."""
        anonymous = [f"owl_anon_{uuid.uuid4()}" for _ in range(2)]
        for name in anonymous:
            ids, request = batch(name, 2)
            if self.write("event", ids, request) is None:
                raise Setback
        self.fleet.cluster.settle()
        user = f"drill_{uuid.uuid4()}"
        self.both("claim", anonymous, [claim(name, user) for name in anonymous], writes=2)

    def same(self, kind: str, answers: list[Answer | None]) -> None:
        if None not in answers and answers[0].body != answers[1].body:
            self.wrong.append(f"{kind}: the same request, sent twice at once, got two answers")


class Side:
    """A pair's way through one machine."""

    def __init__(self, load: Load, seed: int, machine: Instance) -> None:
        self.sender = Sender(load, seed)
        self.sender.connection = Connection(machine, load.record)

    def persist(self, request: Request) -> Answer | None:
        return self.sender.persist(request)
