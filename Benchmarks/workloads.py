"""The workloads: how the requests of each one are made and sent."""

import base64
import concurrent.futures
import gzip
import hashlib
import json
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from agents import Agent, agents, pending
from scene import URL, Phone, Request, anonymous_phone, merganserctl, parallel, post, send, setting, sql

CLIENT_KEY = setting("MERGANSER_CLIENT_KEY")
BUNDLE_ID = setting("MERGANSER_BUNDLE_ID")
PUBLIC_CLIENT = setting("MERGANSER_CLIENT_ID")
CONFIDENTIAL_CLIENT = setting("MERGANSER_CONFIDENTIAL_CLIENT_ID")
CONFIDENTIAL_SECRET = setting("MERGANSER_CONFIDENTIAL_CLIENT_SECRET")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PEOPLE = 64
DEVICES = 2_000
LINKS = 500
# Of a device (accounts §1.2).
LIVE_PAKS = 5
# What any correct design must do, see ideal.py.
READ, WRITE, SIGN, BULK = "ideal-read", "ideal-write", "ideal-sign", "ideal-bulk"


@dataclass(frozen=True, slots=True)
class Workload:
    """One line of the table."""

    name: str
    title: str
    prepare: Callable[[int], list[Request]]
    status: int = 200
    # Each request can be sent once only, this many a round.
    once: int = 0
    # The member of an answer that the next request of the same connection needs.
    chain: str = ""
    connections: int = 64
    # RS256 signatures in an answer, which the floor makes, too.
    signatures: int = 0
    # Also measured with these settings, to see what they cost: what they are called, and the settings.
    otherwise: tuple[str, dict[str, str]] | None = None
    # What any correct design must do for it; empty if that is nothing in the database.
    ideal: str = ""

    @property
    def threads(self) -> int:
        return self.connections if self.chain else 2


def get(path: str, token: str = "", *fields: str) -> Request:
    return Request("GET", path, {"Authorization": "Bearer " + token} if token else {}, fields=fields)


def with_fields(request: Request, *fields: str) -> Request:
    return Request(request.method, request.path, request.headers, request.body, fields)


# --- Accounts ---------------------------------------------------------------------------------------------------------


@cache
def phones() -> list[Phone]:
    return parallel(anonymous_phone, range(PEOPLE))


def me(count: int) -> list[Request]:
    return [get("/api/v1/me", phone.token, phone.token) for phone in phones()][:count]


def bootstrap_new(count: int) -> list[Request]:
    devices = [str(uuid.uuid4()) for _ in range(count)]
    return [with_fields(post("/api/v1/devices", {"device_uuid": each, "platform": "ios"}), each) for each in devices]


def bootstrap_known(count: int) -> list[Request]:
    """Of so many devices that one hardly meets itself. Each has as many PAKs as it may have, so that a launch revokes one."""
    requests = [
        with_fields(
            post(
                "/api/v1/devices", {"device_uuid": phone.device_uuid, "platform": "ios", "device_secret": phone.secret}
            ),
            phone.device_uuid,
            phone.secret,
        )
        for phone in parallel(anonymous_phone, range(DEVICES))
    ]
    for _ in range(LIVE_PAKS):
        parallel(send, requests)
    return requests


@dataclass(frozen=True, slots=True)
class Identity:
    """An account that is signed in with Apple, and a token that proves it."""

    user: int
    subject: str
    nonce: str
    token: str


def new_identity(_: object) -> Identity:
    subject, nonce = "bench." + secrets.token_hex(8), secrets.token_hex(16)
    email = subject + "@example.com"
    user = json.loads(merganserctl("dev", "user", "--provider", "apple", "--subject", subject, "--email", email))
    token = merganserctl(
        "dev",
        "token",
        "--provider",
        "apple",
        "--subject",
        subject,
        "--nonce",
        nonce,
        "--email",
        email,
        "--email-verified",
        "true",
        "--expires-in",
        "7200",
    )
    return Identity(user["id"], subject, nonce, token)


@cache
def identities() -> list[Identity]:
    return parallel(new_identity, range(PEOPLE))


def link(phone: Phone, identity: Identity) -> Request:
    body = {"provider": "apple", "identity_token": identity.token, "raw_nonce": identity.nonce}
    return with_fields(post("/api/v1/me/connected_identities", body, phone.token), phone.token, identity.subject)


def link_conflict(count: int) -> list[Request]:
    """Of so many people that one hardly waits for oneself."""
    links = zip(parallel(anonymous_phone, range(LINKS)), parallel(new_identity, range(LINKS)))
    requests = [link(phone, identity) for phone, identity in links]
    # The first time notes when the person consented at Apple.
    parallel(lambda request: send(request, 409), requests)
    return requests[:count]


@cache
def applications() -> list[int]:
    """Ten applications that anonymous users may connect to."""
    clients = [
        json.loads(
            merganserctl(
                "application",
                "create",
                "--name",
                f"Bench {number}",
                "--client-type",
                "public",
                "--redirect-uri",
                f"com.example.bench{number}://callback",
                "--allow-anonymous-grants",
                "--json",
            )
        )["client_id"]
        for number in range(10)
    ]
    names = ", ".join(f"'{client}'" for client in clients)
    return [int(row[0]) for row in sql(f"SELECT id FROM applications WHERE client_id IN ({names})")]


def give(users: list[int], agent_approvals: int = 5, push_approvals: int = 5, grants: bool = True) -> None:
    """Connected applications and pending approvals for thousands of accounts, as `merganserctl dev seed` makes for one."""
    for start in range(0, len(users), 500):
        chosen = ", ".join(f"({user})" for user in users[start : start + 500])
        connected = (
            f"""
            INSERT INTO grants (user_id, application_id, sub, scopes, created_at)
            SELECT chosen.id, a.id, chosen.id, a.allowed_scopes, NOW(3) FROM chosen JOIN applications a
            WHERE a.id IN ({", ".join(map(str, applications()))});"""
            if grants
            else ""
        )
        sql(f"""
            CREATE TEMPORARY TABLE chosen (id BIGINT UNSIGNED PRIMARY KEY) ENGINE=MEMORY;
            INSERT INTO chosen VALUES {chosen};
            {connected}
            INSERT INTO agents (user_id, public_id, name, created_at)
            SELECT id, CONCAT('agt_', LEFT(MD5(UUID()), 16)), 'Development agent', NOW(3) FROM chosen;
            INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash, created_at)
            SELECT chosen.id, agents.id, CONCAT('aar_', LEFT(MD5(CONCAT(UUID(), seq)), 16)),
                   SHA2(CONCAT(UUID(), seq), 256), NOW(3)
            FROM chosen JOIN agents ON agents.user_id = chosen.id JOIN seq_1_to_{agent_approvals};
            INSERT INTO push_approval_requests (requested_user_id, created_at, expires_at)
            SELECT id, NOW(3), NOW(3) + INTERVAL 1 DAY FROM chosen JOIN seq_1_to_{push_approvals};""")


def swap_dry_runs(count: int) -> list[Request]:
    return swaps(min(count, PEOPLE), dry_run=True)


def swaps(count: int, dry_run: bool = False) -> list[Request]:
    applications()
    anonymous = parallel(anonymous_phone, range(count))
    give([phone.user for phone in anonymous])

    def swap(phone: Phone, ticket: str) -> Request:
        body = {"provider": "apple", "swap_ticket": ticket, "device_uuid": phone.device_uuid, "platform": "ios"}
        if dry_run:
            body["dry_run"] = True
            return with_fields(post("/api/v1/me/anonymous_swap", body, phone.token), phone.token, ticket)
        key = secrets.token_hex(16)
        return with_fields(
            post("/api/v1/me/anonymous_swap", body, phone.token, Idempotency_Key=key), phone.token, ticket, key
        )

    return [swap(phone, ticket) for phone, ticket in zip(anonymous, tickets(anonymous))]


def tickets(anonymous: list[Phone]) -> list[str]:
    """What these phones get when they link identities of others: each of somebody else, who has nothing yet."""
    name = "swap." + secrets.token_hex(6)
    made = ["swt_" + secrets.token_urlsafe(32) for _ in anonymous]
    sql(f"""
        INSERT INTO users (name, login_email)
        SELECT 'Somebody', CONCAT('{name}.', seq, '@example.com') FROM seq_1_to_{len(made)};
        -- Triggers on identities write users, so the statement must not read them.
        CREATE TEMPORARY TABLE somebody SELECT id, login_email FROM users WHERE login_email LIKE '{name}.%';
        INSERT INTO identities (user_id, provider, sub, email, email_verified)
        SELECT id, 'apple', SUBSTRING_INDEX(login_email, '@', 1), login_email, TRUE FROM somebody;
        DROP TEMPORARY TABLE somebody;""")
    rows = [
        f"(UNHEX('{hashlib.sha256(ticket.encode()).hexdigest()}'), {phone.user}, 'apple', '{name}.{number}',"
        " NOW(3) + INTERVAL 1 DAY)"
        for number, (phone, ticket) in enumerate(zip(anonymous, made), 1)
    ]
    for start in range(0, len(rows), 500):
        chosen = ", ".join(rows[start : start + 500])
        sql(f"INSERT INTO swap_tickets (digest, user_id, provider, sub, expires_at) VALUES {chosen}")
    return made


def identified_phones(count: int) -> list[Phone]:
    """Phones whose accounts are as if somebody had signed in; the sign-in itself is measured elsewhere."""
    members = parallel(anonymous_phone, range(count))
    for start in range(0, count, 500):
        chosen = ", ".join(str(phone.user) for phone in members[start : start + 500])
        sql(f"UPDATE users SET anonymous = FALSE WHERE id IN ({chosen})")
    return members


def merge(survivor: Phone, absorbed: Phone) -> Request:
    token = send(post("/api/v1/me/merge/session-token", {}, absorbed.token))["session_token"]
    key = secrets.token_hex(16)
    return with_fields(
        post("/api/v1/me/merge", {"target_session_token": token}, survivor.token, Idempotency_Key=key),
        survivor.token,
        token,
        key,
    )


def merges(count: int) -> list[Request]:
    applications()
    survivors, absorbed = identified_phones(count), identified_phones(count)
    give([phone.user for phone in absorbed])
    return parallel(lambda pair: merge(*pair), list(zip(survivors, absorbed)))


def add_history(users: list[int], numbers: str) -> None:
    """A sign-in of each user for each number of a sequence."""
    chosen = " UNION ALL ".join(f"SELECT {user} AS id" for user in users)
    sql(f"""
        SET unique_checks = 0, foreign_key_checks = 0;
        INSERT INTO login_events (user_id, event, provider, ip, user_agent, platform)
        SELECT chosen.id, 'session', 'apple', '203.0.113.7',
               'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15', 'ios'
        FROM {numbers} JOIN ({chosen}) chosen""")


def login_history(count: int) -> list[Request]:
    """Pages of 50."""
    people = parallel(anonymous_phone, range(min(count, PEOPLE)))
    add_history([phone.user for phone in people], "seq_1_to_200")
    return [get("/api/v1/me/login_history", phone.token, phone.token) for phone in people]


# --- Agents and administration ----------------------------------------------------------------------------------------


def approvals_request(count: int) -> list[Request]:
    # Neighbors are of different people. An agent may ask 30 times a minute.
    return parallel(Agent.ask, agents(parallel(anonymous_phone, range(max(PEOPLE, count // 10))), count))


def approvals_poll(count: int) -> list[Request]:
    chosen = agents(parallel(anonymous_phone, range(PEOPLE)), PEOPLE)
    return [agent.poll(approval) for agent, approval in pending(chosen, 1, -(-count // PEOPLE))][:count]


def approvals_list(count: int) -> list[Request]:
    """Pages of 50 requests, which wait, of five agents."""
    people = parallel(anonymous_phone, range(min(count, PEOPLE)))
    for asking in [agents(people, 5 * len(people))] * 10:
        parallel(lambda agent: send(agent.ask(), expected=201), asking)
    return [get("/api/v1/me/agent_approvals", phone.token, phone.token) for phone in people]


@cache
def administrator() -> Phone:
    phone = identified_phones(1)[0]
    sql(f"UPDATE users SET role = 'admin' WHERE id = {phone.user}")
    return phone


def search(query: str) -> Request:
    token = administrator().token
    return get(f"/api/v1/admin/users?query={query}", token, token, query)


def search_email(count: int) -> list[Request]:
    return [search(f"{identity.subject}@example.com") for identity in identities()][:count]


def search_subject(count: int) -> list[Request]:
    return [search(identity.subject) for identity in identities()][:count]


def search_device(count: int) -> list[Request]:
    return [search(phone.device_uuid) for phone in phones()][:count]


# --- Analytics --------------------------------------------------------------------------------------------------------


def event(user: str, number: int) -> dict:
    return {
        "client_event_id": str(uuid.uuid4()),
        "session_id": str(uuid.UUID(int=number)),
        "user_id": user,
        "level": "info",
        "message": f"screen opened {number}",
        "screen_name": "Home",
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{number % 1000:03}Z",
        "environment": "ios",
        "os_version": "17.4",
        "app_version": "1.2.3",
        "sdk_name": "swift",
        "sdk_version": "0.9",
        "device_model": "iPhone16,1",
        "build_number": "42",
        "locale": "en_US",
        "custom_attributes": {"tab": "home", "count": str(number), "source": "push"},
    }


def batch(user: str, size: int, compressed: bool = False) -> Request:
    request = post(
        "/v1/ingest", {"bundle_id": BUNDLE_ID, "events": [event(user, number) for number in range(size)]}, CLIENT_KEY
    )
    if compressed:
        headers = {**request.headers, "Content-Encoding": "gzip"}
        request = Request(request.method, request.path, headers, gzip.compress(request.body, 6))
    return with_fields(request, user)


def ingest(size: int, compressed: bool = False) -> Callable[[int], list[Request]]:
    def prepare(count: int) -> list[Request]:
        users = [f"user-{secrets.token_hex(6)}" for _ in range(500)]
        for user in users:
            send(batch(user, 1))
        return [batch(users[number % len(users)], size, compressed) for number in range(count)]

    return prepare


def claim(anonymous: str, user: str) -> Request:
    return with_fields(
        post("/v1/identity/claim", {"anonymous_id": anonymous, "user_id": user}, CLIENT_KEY), anonymous, user
    )


def add_events(users: list[str], numbers: str, apart: str) -> None:
    """Copies the first event of each user, once for each number of a sequence, at times that far apart. The ids begin with
    the time, like UUIDs of version 7.
    """
    copied = "app_id, session_id, api_key_id, level, message, screen_name, environment, is_dev, received_at"
    chosen = ", ".join(f"'{user}'" for user in users)
    sql(f"""
        SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
        CREATE TEMPORARY TABLE owners (id BIGINT UNSIGNED PRIMARY KEY) ENGINE = MEMORY
        AS SELECT id FROM app_users WHERE user_id IN ({chosen});
        CREATE TEMPORARY TABLE original
        AS SELECT timestamp, {copied} FROM events WHERE app_user_id = (SELECT MIN(id) FROM owners) LIMIT 1;
        INSERT INTO events (id, client_event_id, app_user_id, timestamp, {copied})
        SELECT CONCAT(UNHEX(LPAD(HEX(FLOOR(UNIX_TIMESTAMP(t) * 1000)), 12, '0')), RANDOM_BYTES(10)), RANDOM_BYTES(16), id, t,
               {copied}
        FROM (SELECT owners.id, timestamp - INTERVAL seq * {apart} AS t, {copied}
              FROM owners JOIN original JOIN {numbers}) made;""")


def anonymous_users(count: int, events: int) -> list[str]:
    """Makes anonymous users with this many events each, in transactions of half a million at most, two at a time."""
    names = ["owl_anon_" + secrets.token_hex(8) for _ in range(count)]
    parallel(lambda name: send(batch(name, 1)), names)
    at_once = max(1, 200_000 // events)
    for start in range(0, count if events > 1 else 0, at_once):
        chosen = names[start : start + at_once]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            parts = (f"seq_{first}_to_{min(first + 499_999, events - 1)}" for first in range(1, events, 500_000))
            list(pool.map(lambda numbers: add_events(chosen, numbers, apart="1000 MICROSECOND"), parts))
        users = ", ".join(f"'{name}'" for name in chosen)
        sql(f"""
            UPDATE app_user_event_counts c JOIN app_users u ON u.id = c.app_user_id SET c.n = {events}
            WHERE u.user_id IN ({users});""")
    return names


def claim_first(events: int) -> Callable[[int], list[Request]]:
    def prepare(count: int) -> list[Request]:
        return [claim(name, "user-" + secrets.token_hex(8)) for name in anonymous_users(count, events)]

    return prepare


def claim_known(events: int) -> Callable[[int], list[Request]]:
    """By users who have events of their own, as on a second device."""

    def prepare(count: int) -> list[Request]:
        users = ["user-" + secrets.token_hex(8) for _ in range(count)]
        parallel(lambda user: send(batch(user, 1)), users)
        return [claim(name, user) for name, user in zip(anonymous_users(count, events), users)]

    return prepare


def claim_repeat(count: int) -> list[Request]:
    requests = claim_first(1)(PEOPLE)
    parallel(send, requests)
    return requests[:count]


def properties(values: int) -> Callable[[int], list[Request]]:
    """Each user's in turn, then with another value: with more than one value, every request changes something."""

    def prepare(count: int) -> list[Request]:
        # Many more than connections, which would otherwise wait for each other.
        users = [f"user-{secrets.token_hex(6)}" for _ in range(max(count, 500))]
        parallel(lambda user: send(batch(user, 1)), users)
        return [
            with_fields(
                post("/v1/identity/properties", {"user_id": user, "properties": {"n": n}}, CLIENT_KEY), user, f'{{"n":"{n}"}}'
            )
            for turn in range(values)
            for number, user in enumerate(users)
            # Different ones in the recordings, too.
            for n in [str((number + turn) % values)]
        ]

    return prepare


# --- Provider ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tokens:
    access: str
    refresh: str

    @property
    def handle(self) -> str:
        """The refresh family's handle, the first part of the access token's jti, in hexadecimal digits."""
        payload = json.loads(base64.urlsafe_b64decode(self.access.split(".")[1] + "=="))
        return base64.urlsafe_b64decode(payload["jti"] + "==")[:16].hex()


def basic() -> str:
    return "Basic " + base64.b64encode(f"{CONFIDENTIAL_CLIENT}:{CONFIDENTIAL_SECRET}".encode()).decode()


def session(identity: Identity) -> str:
    """Signs in on a new phone; its credential."""
    body = {
        "device_uuid": str(uuid.uuid4()),
        "platform": "ios",
        "identity_token": identity.token,
        "raw_nonce": identity.nonce,
    }
    return send(post("/api/v1/auth/apple/session", body))["access_token"]


def signed_in(number: int, confidential: bool = False, scope: str = "openid profile:basic email") -> Tokens:
    """Somebody's sign-in to a demo application."""
    verifier, callback = secrets.token_urlsafe(32), URL + "/dev/callback"
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    client = CONFIDENTIAL_CLIENT if confidential else PUBLIC_CLIENT
    code = send(
        post(
            "/api/v1/oauth/authorize",
            {
                "response_type": "code",
                "client_id": client,
                "redirect_uri": callback,
                "scope": scope,
                "state": "s",
                "code_challenge": challenge,
                "code_challenge_method": "S256",
            },
            session(identities()[number % PEOPLE]),
        )
    )["code"]
    form = f"grant_type=authorization_code&code={code}&redirect_uri={callback}&code_verifier={verifier}"
    headers = {**FORM, "Authorization": basic()} if confidential else FORM
    answer = send(
        Request("POST", "/oauth/token", headers, (form + ("" if confidential else f"&client_id={client}")).encode())
    )
    return Tokens(answer["access_token"], answer["refresh_token"])


def refresh(count: int) -> list[Request]:
    identities()

    def request(number: int) -> Request:
        token = signed_in(number).refresh
        return Request(
            "POST",
            "/oauth/token",
            FORM,
            f"grant_type=refresh_token&client_id={PUBLIC_CLIENT}&refresh_token={token}".encode(),
            (token,),
        )

    return parallel(request, range(count))


def refresh_oauth(count: int) -> list[Request]:
    identities()
    headers = {**FORM, "Authorization": basic()}

    def request(number: int) -> Request:
        token = signed_in(number, confidential=True, scope="profile:basic email").refresh
        return Request(
            "POST", "/oauth/token", headers, f"grant_type=refresh_token&refresh_token={token}".encode(), (token,)
        )

    return parallel(request, range(count))


def user_info(count: int) -> list[Request]:
    identities()
    tokens = parallel(signed_in, range(min(count, PEOPLE)))
    return [get("/oauth/userinfo", each.access, each.handle) for each in tokens]


def introspection(count: int) -> list[Request]:
    identities()
    tokens = parallel(lambda number: signed_in(number, confidential=True), range(min(count, PEOPLE)))
    headers = {**FORM, "Authorization": basic()}
    return [
        Request("POST", "/oauth/introspect", headers, f"token={each.access}".encode(), (each.handle,))
        for each in tokens
    ]


def fixed(path: str) -> Callable[[int], list[Request]]:
    return lambda count: [get(path)]


NO_JOURNAL = ("no journal", {"MERGANSER_UNDO_DAYS": "0"})

# In this order. static is answered by nginx alone. hello (an unknown path) and health do not reach the database.
WORKLOADS = [
    Workload("static", "nginx's own answer", fixed("/static")),
    Workload("hello", "an unknown path, 404", fixed("/hello"), status=404),
    Workload("health", "GET /healthz", fixed("/healthz")),
    Workload("jwks", "GET /.well-known/jwks.json", fixed("/.well-known/jwks.json")),
    Workload("me", "GET /api/v1/me", me, ideal=READ),
    Workload("bootstrap-known", "bootstrap, known device", bootstrap_known, ideal=WRITE),
    Workload("bootstrap-new", "bootstrap, new device", bootstrap_new, once=6_000, ideal=WRITE),
    Workload("link-conflict", "link, 409 with a ticket", link_conflict, status=409, ideal=WRITE),
    Workload("swap-dry-run", "swap of 20 assets, dry run", swap_dry_runs, ideal=READ),
    Workload("swap", "swap of 20 assets", swaps, once=300, otherwise=NO_JOURNAL, ideal=WRITE),
    Workload("merge", "merge of 20 assets", merges, once=300, otherwise=NO_JOURNAL, ideal=WRITE),
    Workload("login-history", "login history, 50 events", login_history, ideal=READ),
    Workload("approvals-request", "agent asks for approval", approvals_request, status=201, once=1_000, ideal=WRITE),
    Workload("approvals-poll", "agent polls its request", approvals_poll, once=4_000, ideal=READ),
    Workload("approvals-list", "list of 50 approvals", approvals_list, ideal=READ),
    Workload("search-email", "console search by e-mail", search_email, ideal=READ),
    Workload("search-subject", "console search by subject", search_subject, ideal=READ),
    Workload("search-device", "console search by device", search_device, ideal=READ),
    Workload("claim-repeat", "claim, repeated", claim_repeat, ideal=READ),
    Workload("claim-10", "claim of 10 events", claim_first(10), once=3_000, ideal=WRITE),
    Workload("claim-known", "claim of 10 events, known user", claim_known(10), once=3_000, ideal=WRITE),
    Workload("claim-1000", "claim of 1 000 events", claim_first(1_000), once=100, connections=8, ideal=WRITE),
    Workload("ingest-1", "ingest of 1 event", ingest(1), once=4_000, ideal=WRITE),
    Workload("ingest-20", "ingest of 20 events", ingest(20), once=4_000, ideal=BULK),
    Workload("ingest-20-gzip", "ingest of 20 events, gzip", ingest(20, compressed=True), once=4_000, ideal=BULK),
    Workload("ingest-100", "ingest of 100 events", ingest(100), once=1_500, ideal=BULK),
    Workload("ingest-100-gzip", "ingest of 100 events, gzip", ingest(100, compressed=True), once=1_500, ideal=BULK),
    Workload("properties", "properties", properties(2), ideal=WRITE),
    Workload("properties-same", "properties, unchanged", properties(1), ideal=READ),
    Workload("refresh", "token by refresh", refresh, chain="refresh_token", connections=16, signatures=2, ideal=SIGN),
    Workload(
        "refresh-oauth",
        "token by refresh, no ID token",
        refresh_oauth,
        chain="refresh_token",
        connections=16,
        signatures=1,
        ideal=SIGN,
    ),
    Workload("userinfo", "userinfo", user_info, ideal=READ),
    Workload("introspection", "introspection", introspection, ideal=READ),
    # The last, because its events do not fit into the database's memory.
    Workload("claim-100000", "claim of 100 000 events", claim_first(100_000), once=5, connections=2, ideal=WRITE),
]
