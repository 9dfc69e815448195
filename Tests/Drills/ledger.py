"""Compares the answer to every write with the database at the end.

A write has an id that occurs nowhere else. Acknowledged, it must be stored exactly once; unanswered, at most once. The
ledger knows the tables that the writes of load.py end in, and nothing of how they are sent.
"""

import collections
import dataclasses
import threading

from instance import Instance


def uuid_text(column: str) -> str:
    """The SQL of an id in its text form."""
    text = f"LOWER(HEX({column}))"
    for position in (9, 14, 19, 24):
        text = f"INSERT({text}, {position}, 0, '-')"
    return text


# By kind of write: the id of each one that is stored, as often as it is.
STORED = {
    "event": f"SELECT {uuid_text('client_event_id')} FROM events WHERE client_event_id IS NOT NULL",
    # By the anonymous id; each is claimed for one user.
    "claim": "SELECT anonymous_id FROM identity_claims",
    "device": "SELECT device_uuid FROM devices",
    # By the account that has ceased to exist.
    "swap": "SELECT SUBSTR(actor, 6) FROM audit_log WHERE action = 'user.swapped'",
    # By the account that was absorbed.
    "merge": "SELECT linked_user_id FROM identity_links",
    # A family of refresh tokens has one more for each rotation.
    "token": """
        SELECT LOWER(HEX(f.handle)) FROM refresh_families f JOIN refresh_tokens t ON t.refresh_family_id = f.id
        """,
    "nickname": "SELECT nickname FROM users WHERE nickname IS NOT NULL",
    "upload": f"SELECT {uuid_text('id')} FROM event_attachments WHERE uploaded_at IS NOT NULL",
}


@dataclasses.dataclass
class Entry:
    sent: int = 0
    acknowledged: int = 0


@dataclasses.dataclass
class Finding:
    """What the database has of one kind of write."""

    kind: str
    sent: int
    acknowledged: int
    stored: int
    # Ids that are stored less often than acknowledged, and more often than sent.
    missing: list[str]
    twice: list[str]

    @property
    def holds(self) -> bool:
        return not self.missing and not self.twice


class Ledger:
    """Used by all clients at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, dict[str, Entry]] = {kind: collections.defaultdict(Entry) for kind in STORED}
        # How many writes were acknowledged, by kind.
        self.counts: collections.Counter[str] = collections.Counter()

    def sent(self, kind: str, *ids: str) -> None:
        """Before a write goes out for the first time; its repetitions are the same write."""
        with self._lock:
            for id in ids:
                self._entries[kind][id].sent += 1

    def acknowledged(self, kind: str, *ids: str) -> None:
        """The first time that a write, or a repetition of it, is answered as done."""
        with self._lock:
            self.counts[kind] += len(ids)
            for id in ids:
                self._entries[kind][id].acknowledged += 1

    def verify(self, instance: Instance) -> list[Finding]:
        """Call this when no write is under way any more."""
        return [self._compare(kind, instance.sql(STORED[kind])) for kind, entries in self._entries.items() if entries]

    def _compare(self, kind: str, rows: list[tuple[str, ...]]) -> Finding:
        entries = self._entries[kind]
        stored = collections.Counter(id for (id,) in rows if id in entries)
        return Finding(
            kind,
            sent=sum(entry.sent for entry in entries.values()),
            acknowledged=sum(entry.acknowledged for entry in entries.values()),
            stored=stored.total(),
            missing=[id for id, entry in entries.items() if stored[id] < entry.acknowledged],
            twice=[id for id, entry in entries.items() if stored[id] > entry.sent],
        )
