"""Accounts that merge, made in the database in one go, and the clients that merge them.

Each account is identified and has a device, an identity, and a grant at the applications that are told of merges. Their
names hold its id, so that they tell whose they were; and what proves it, a PAK and a merge token, follows from the id.
"""

import collections
import hashlib
import secrets
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from instance import Instance
from load import Load, Sender, post

# Of accounts made together, who absorbs whom, all at about the same moment. Each is absorbed once at most.
PAIRS = (2, ((0, 1),))
# A chain, and a merge in both directions.
RACES = (4, ((0, 1), (1, 2), (0, 3), (3, 0)))


class Link(NamedTuple):
    """A row of identity_links."""

    id: int
    primary: int
    key: str


class Crowd:
    """Merges that have not begun yet; used by all clients at once.

    applications: by number. Each group of accounts has grants at two of them, or at the only one. halves: every second group
    has none, so that nothing but the accounts themselves keeps two of its merges apart: no counter of an application's events.
    """

    def __init__(self, instance: Instance, applications: Sequence[int], shape: tuple[int, tuple] = PAIRS,
                 halves: bool = False) -> None:
        self.instance = instance
        self.applications = applications
        self.size, self.merges = shape
        self.halves = halves
        self.secret = secrets.token_hex(8)
        # How many accounts there are.
        self.count = 0
        self._lock = threading.Lock()
        self._waiting: collections.deque[tuple[int, int]] = collections.deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self) -> tuple[int, int] | None:
        """Who is to absorb whom."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def pak(self, account: int) -> str:
        return "lpk_live_" + self._digest(f"pak {account}")

    def token(self, account: int) -> str:
        return "ltgt_" + self._digest(f"token {account}")

    def _digest(self, text: str) -> str:
        return hashlib.sha256(f"{self.secret} {text}".encode()).hexdigest()

    def grow(self, groups: int) -> None:
        """Makes more accounts."""
        # Beyond what other clients get meanwhile.
        first = int(self.instance.sql("SELECT COALESCE(MAX(id), 0) + 100000 FROM users")[0][0])
        count = groups * self.size
        accounts = f"seq_{first}_to_{first + count - 1}"
        digest = f"UNHEX(SHA2(CONCAT('{{}}_', SHA2(CONCAT('{self.secret} {{}} ', seq), 256)), 256))"
        grants = "".join(
            f"""
            INSERT INTO grants (user_id, application_id, sub, scopes)
            SELECT seq, {application}, seq, 'openid' FROM {accounts}
            WHERE (seq - {first}) DIV {self.size} % {len(self.applications)} IN
                  ({number}, {(number + 1) % len(self.applications)})
            {f"AND (seq - {first}) DIV {self.size} % 2 = 0" if self.halves else ""};
            """ for number, application in enumerate(self.applications))
        self.instance.sql(f"""
            START TRANSACTION;
            INSERT INTO users (id) SELECT seq FROM {accounts};
            INSERT INTO identities (user_id, provider, sub) SELECT seq, 'apple', CONCAT('crowd.', seq) FROM {accounts};
            INSERT INTO devices (user_id, device_uuid, platform)
            SELECT seq, CONCAT('c40fd000-0000-0000-0000-', LPAD(seq, 12, '0')), 'ios' FROM {accounts};
            INSERT INTO paks (user_id, digest, scopes)
            SELECT seq, {digest.format('lpk_live', 'pak')}, 'profile:read profile:write' FROM {accounts};
            INSERT INTO merge_tokens (digest, user_id, expires_at)
            SELECT {digest.format('ltgt', 'token')}, seq, NOW(3) + INTERVAL 1 DAY FROM {accounts};
            {grants}
            COMMIT
            """)
        with self._lock:
            self.count += count
            for group in range(first, first + count, self.size):
                self._waiting += [(group + survivor, group + absorbed) for survivor, absorbed in self.merges]

    # --- Judgement

    def links(self) -> dict[int, Link]:
        """Where each absorbed account leads."""
        return {int(linked): Link(int(id), int(primary), key) for id, linked, primary, key in self.instance.sql(
            "SELECT id, linked_user_id, primary_user_id, idempotency_key FROM identity_links")}

    def judge(self, refused: set[int]) -> list[str]:
        """What is wrong, once no merge is under way. refused: the accounts whose merge was refused."""
        links = self.links()
        return [*self._judge_accounts(links), *self._judge_proofs(links, refused)]

    def _judge_accounts(self, links: dict[int, Link]) -> Iterator[str]:
        """Nobody is lost: whatever an account had is where the account leads, at a live one."""
        if chained := [linked for linked, link in links.items() if link.primary in links]:
            yield f"{len(chained)} accounts lead to absorbed ones, as {chained[0]}"
        applications = ", ".join(map(str, self.applications))
        # What each account had, as often as given: whose it was, and whose it is.
        for what, (each, query) in {
            "accounts": (1, "SELECT SUBSTR(sub, 7), users.id FROM identities JOIN users"
                            " ON users.id = CAST(SUBSTR(sub, 7) AS UNSIGNED) WHERE sub LIKE 'crowd.%'"),
            "identities": (1, "SELECT SUBSTR(sub, 7), user_id FROM identities WHERE sub LIKE 'crowd.%'"),
            "devices": (1, "SELECT SUBSTR(device_uuid, 25), user_id FROM devices WHERE device_uuid LIKE 'c40fd000-%'"),
            "grants": (1 if self.halves else 2, f"SELECT sub, user_id FROM grants WHERE application_id IN ({applications})"),
        }.items():
            rows = [(int(whose), int(user)) for whose, user in self.instance.sql(query)]
            if len(rows) != each * self.count:
                yield f"of {each * self.count} {what} there are {len(rows)}"
            astray = [whose for whose, user in rows
                      if what != "accounts" and user != (links[whose].primary if whose in links else whose)]
            if astray:
                yield f"{len(astray)} {what} are not where their account leads, as that of {astray[0]}"
        for (pak,) in self.instance.sql("SELECT p.id FROM paks p JOIN identity_links l ON l.linked_user_id = p.user_id"
                                        " WHERE p.revoked_at IS NULL LIMIT 1"):
            yield f"PAK {pak} of an absorbed account is live"

    def _judge_proofs(self, links: dict[int, Link], refused: set[int]) -> Iterator[str]:
        """Each proof that was used made one link, of its own account; what was refused was not done."""
        used = {f"st:{token}": int(user) for token, user in self.instance.sql(
            "SELECT id, user_id FROM merge_tokens WHERE used_at IS NOT NULL")}
        made = {link.key: linked for linked, link in links.items()}
        if used != made:
            yield f"{len(used.items() ^ made.items())} proofs were used without a link, or the reverse"
        if done := refused & links.keys():
            yield f"{len(done)} merges were refused and done, as that of {min(done)}"


class Merger(Sender):
    """Merges accounts of a crowd until there are no more or the load stops.

    pause: seconds between two merges. refused: those whose merge was refused are added to it.
    """

    def __init__(self, load: Load, number: int, crowd: Crowd, pause: float = 0,
                 refused: set[int] | None = None) -> None:
        super().__init__(load, number)
        self.crowd = crowd
        self.pause = pause
        self.refused = refused

    def work(self) -> None:
        while not self.load.stopping.wait(self.pause) and (pair := self.crowd.take()):
            survivor, absorbed = pair
            token = {"target_session_token": self.crowd.token(absorbed)}
            answer = self.repeatable("merge", [str(absorbed)],
                                     post("merge", "/api/v1/me/merge", token, self.crowd.pak(survivor)))
            if answer is None and self.refused is not None:
                self.refused.add(absorbed)
