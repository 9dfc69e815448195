"""Agents that sign, and requests for approval: made in the database where the API allows only a few in an hour."""

import base64
import hashlib
import itertools
import secrets
import time
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from scene import Phone, Request, post, sql

# All agents have one key, as their signatures cost the same with any.
KEY = Ed25519PrivateKey.generate()
PUBLIC_KEY = KEY.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
# The server accepts times up to 300 s from its own: a request can be sent until nine minutes after it was made.
AHEAD = 270

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Agent:
    public_id: str
    token: str

    def sign(self, request: Request, *fields: str) -> Request:
        """The request as this agent sends it. The floor's fields are the token, the nonce, and these."""
        moment, nonce = str(int(time.time()) + AHEAD), secrets.token_hex(16)
        digest = hashlib.sha256(request.body).hexdigest()
        lines = "\n".join([request.method, request.path, moment, nonce, digest, self.public_id])
        headers = {
            **request.headers,
            "Authorization": "Bearer " + self.token,
            "X-Agent-Timestamp": moment,
            "X-Agent-Nonce": nonce,
            "X-Agent-Signature": base64.b64encode(KEY.sign(lines.encode())).decode(),
        }
        return Request(request.method, request.path, headers, request.body, (self.token, nonce, *fields))

    def ask(self) -> Request:
        """Every one asks for something else."""
        body = {
            "action_type": "shell.exec",
            "title": f"Run the tests of change {next(_numbers)}",
            "body": "swift test --parallel",
            "context": {"folder": "/work", "branch": "main"},
            "ttl_seconds": 1800,
        }
        key = secrets.token_hex(16)
        return self.sign(post("/api/agents/approvals", body, Idempotency_Key=key), key)

    def poll(self, approval: str) -> Request:
        return self.sign(Request("GET", "/api/agents/approvals/" + approval), approval)


def agents(phones: list[Phone], count: int) -> list[Agent]:
    """So many, of one phone's user after the other."""
    made = [Agent("agt_" + secrets.token_hex(8), "logi_agt_" + secrets.token_urlsafe(32)) for _ in range(count)]
    rows = [
        f"({phone.user}, '{each.public_id}', 'Build agent', 'claude', 'signed', x'{PUBLIC_KEY.hex()}', "
        f"x'{hashlib.sha256(each.token.encode()).hexdigest()}', NOW(3))"
        for phone, each in zip(itertools.cycle(phones), made)
    ]
    for start in range(0, count, 500):
        sql(
            "INSERT INTO agents (user_id, public_id, name, agent_type, auth_mode, public_key, token_digest, created_at)"
            " VALUES " + ", ".join(rows[start : start + 500])
        )
    return made


def add_approvals(chosen: list[Agent], numbers: str, status: str = "pending") -> None:
    """A request of each agent for each number of a sequence. Their ids ascend, so that millions are made fast."""
    names = ", ".join(f"'{each.public_id}'" for each in chosen)
    sql(f"""
        SET unique_checks = 0, foreign_key_checks = 0;
        INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, action_type, title, body,
                                     created_at, expires_at, decided_at)
        SELECT a.user_id, a.id, CONCAT('aar_', LPAD(HEX(a.id), 7, '0'), LPAD(HEX(seq), 9, '0')), '{status}',
               LPAD(HEX(seq), 64, '0'), 'shell.exec', 'Run the tests', 'swift test --parallel', NOW(3),
               NOW(3) + INTERVAL 1 HOUR, IF('{status}' = 'pending', NULL, NOW(3))
        FROM {numbers} JOIN agents a WHERE a.public_id IN ({names})""")


def pending(chosen: list[Agent], first: int, count: int) -> list[tuple[Agent, str]]:
    """So many new requests of each agent that wait, numbered from the first, with their ids. Each is for one poll, because
    the second would have to wait.
    """
    add_approvals(chosen, f"seq_{first}_to_{first + count - 1}")
    names = ", ".join(f"'{each.public_id}'" for each in chosen)
    ids = dict(sql(f"SELECT public_id, id FROM agents WHERE public_id IN ({names})"))
    return [
        (each, f"aar_{int(ids[each.public_id]):07X}{number:09X}")
        for number in range(first, first + count)
        for each in chosen
    ]
