import base64
import contextlib
import hashlib
import hmac
import http.server
import importlib
import itertools
import json
import os
import pathlib
import random
import secrets
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from urllib.parse import parse_qs, urlsplit

import requests
from authlib.jose import JsonWebKey, JsonWebSignature

import pages
import provider
from relying_party import RelyingParty
from test_webhooks import Receiver

FOLDER = tempfile.TemporaryDirectory()


def setUpModule():
    # Registered here, since the end of another module runs what was registered before.
    unittest.addModuleCleanup(FOLDER.cleanup)
    pages.extract(FOLDER.name)
    sys.path.insert(0, FOLDER.name)
    unittest.addModuleCleanup(sys.path.remove, FOLDER.name)


def path(name):
    return os.path.join(FOLDER.name, name)


def until(found):
    """Waits until a function returns something true, and returns it."""
    for _ in range(400):
        if result := found():
            return result
        time.sleep(0.05)
    raise AssertionError("it did not come")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Program:
    """A program of a page, which listens on a port."""

    def __init__(self, test, *command, **environment):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/"
        process = subprocess.Popen(
            [*command], env=os.environ | environment | {"PORT": str(port)}, stderr=subprocess.DEVNULL)
        test.addCleanup(process.wait)
        test.addCleanup(process.kill)
        until(lambda: process.poll() is None and self.answers())

    def answers(self):
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(self.url).status_code


class Code(unittest.TestCase):
    def test_every_block_is_run(self):
        self.assertEqual(
            sorted(os.listdir(FOLDER.name)),
            ["logout.py", "merged_users.py", "polling.py", "polling.sh", "webhooks.mjs", "webhooks.py"])


class Webhooks(unittest.TestCase):
    """The receivers of webhooks.md store what the server sends, once, and nothing else."""

    @classmethod
    def setUpClass(cls):
        # The first receiver only shows what a delivery looks like.
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.developer = provider.Developer(redirect_uris=[RelyingParty.REDIRECT_URI], webhook_url=cls.receiver.url)
        first = cls.developer.application["webhook_key"]
        second = cls.developer.send("POST", "/webhook_keys")["webhook_key"]
        cls.keys = {key["kid"]: key["secret"] for key in (first, second)}

    def setUp(self):
        self.inboxes = {"python": path(f"inbox-{self.id()}.db"), "node": path(f"inbox-{self.id()}")}
        self.programs = {
            "python": self.start("python", sys.executable, path("webhooks.py")),
            "node": self.start("node", "node", path("webhooks.mjs"))}

    def start(self, language, *command):
        return Program(self, *command, WEBHOOK_KEYS=json.dumps(self.keys), INBOX=self.inboxes[language])

    def stored(self, language):
        """The events in a receiver's inbox, as id and bytes."""
        inbox = self.inboxes[language]
        if language == "node":
            return {file.stem: file.read_bytes() for file in pathlib.Path(inbox).glob("*.json")}
        with contextlib.closing(sqlite3.connect(inbox)) as db:
            return {id: event.encode() for id, event in db.execute("SELECT event_id, event FROM inbox")}

    def test_deliveries_are_stored(self):
        for language, program in self.programs.items():
            with self.subTest(language):
                self.developer.send("PATCH", application={"webhook_url": program.url})
                self.addCleanup(self.developer.send, "PATCH", application={"webhook_url": self.receiver.url})
                self.developer.send("POST", "/webhook_test")
                events = until(lambda: self.stored(language))
                id = max(events)
                self.assertEqual(json.loads(events[id])["event_id"], id)
                self.assertEqual(json.loads(events[id])["event_type"], "webhook.test")
                self.assertEqual(self.developer.send("POST", "/webhook_replay", event_id=id), {"replayed": 1})
                until(lambda: self.statuses(id) == [204, 204])
                self.assertEqual(self.stored(language), events)

    def statuses(self, id):
        """What a receiver answered to the attempts to send an event."""
        attempts = self.developer.send("GET", "/webhook_deliveries")["deliveries"]
        return [attempt["status"] for attempt in attempts if attempt["event_id"] == id]

    def test_what_is_not_the_servers_is_refused(self):
        self.developer.send("POST", "/webhook_test")
        sent, body = self.receiver.requests.get(timeout=20)
        headers = {name.lower(): value for name, value in sent.items() if name.lower().startswith(("x-logi", "webhook"))}
        headers["content-type"] = "application/json"
        id = headers["webhook-id"]
        kid, secret = list(self.keys.items())[1]
        for name, changes, changed_body in self.forgeries(headers, body, kid, secret):
            for language, program in self.programs.items():
                with self.subTest(name, language=language):
                    self.assertEqual(self.post(program, headers | changes, changed_body), 401)
        for language, program in self.programs.items():
            self.assertEqual(self.stored(language), {})
            self.assertEqual([self.post(program, headers, body) for _ in range(3)], [204] * 3)
            self.assertEqual(self.stored(language), {id: body})
            self.assertEqual(self.post(program, headers, body + b" " * 1_000_001), 413)

    def post(self, program, headers, body):
        headers = {name: value for name, value in headers.items() if value is not None}
        try:
            return requests.post(program.url, data=body, headers=headers).status_code
        except requests.ConnectionError:
            # It answered before it had read everything.
            return 413 if len(body) > 1_000_000 else None

    @staticmethod
    def forgeries(headers, body, kid, secret):
        def logi(t=None, kid=kid, key=secret, body=body):
            t = int(time.time()) if t is None else t
            return f"t={t},kid={kid},v1={hmac.new(key.encode(), body, hashlib.sha256).hexdigest()}"

        def standard(t=None, id=headers["webhook-id"], key=secret, body=body):
            t = int(time.time()) if t is None else t
            key = base64.b64decode(key.removeprefix("whsec_"))
            mac = hmac.new(key, f"{id}.{t}.".encode() + body, hashlib.sha256).digest()
            return {"webhook-timestamp": str(t), "webhook-signature": "v1," + base64.b64encode(mac).decode()}

        def both(**changes):
            return {"x-logi-signature": logi(**changes)} | standard(**changes)

        other = body.replace(b"webhook.test", b"user.merged")
        stranger = "whsec_" + base64.b64encode(bytes(32)).decode()
        late, early = int(time.time()) - 330, int(time.time()) + 330
        v1 = headers["x-logi-signature"].partition("v1=")[2]
        yield "another body", {}, other
        yield "more body", {}, body + b"\n"
        yield "no body", {}, b""
        yield "another body, which the standard's header signs", standard(body=other), other
        yield "another body, which our header signs", {"x-logi-signature": logi(body=other)}, other
        yield "a stranger's key", both(key=stranger), body
        yield "a key that is not known", {"x-logi-signature": logi(kid="whk_2020q1_00")}, body
        yield "the name of a member of objects", {"x-logi-signature": logi(kid="__proto__")}, body
        yield "too old", both(t=late), body
        yield "from the future", both(t=early), body
        yield "only our time is old", {"x-logi-signature": logi(t=late)}, body
        yield "only the standard's time is old", standard(t=late), body
        yield "another id", {"webhook-id": "evt_" + "0" * 26}, body
        for name in ("x-logi-signature", "webhook-signature", "webhook-timestamp", "webhook-id"):
            yield "no " + name, {name: None}, body
        for t in ("", "-1", "1e9", "NaN", "Infinity", "9" * 5000):
            yield f"t={t[:9]}", {"x-logi-signature": f"t={t},kid={kid},v1={v1}"}, body
            yield f"webhook-timestamp {t[:9]}", {"webhook-timestamp": t}, body
        for value in ("", "v1=", "t,kid,v1", "=", ",,,", f"t={int(time.time())},kid={kid}", "\u00e9"):
            yield f"our header {value!r}", {"x-logi-signature": value.encode()}, body
            yield f"the standard's header {value!r}", {"webhook-signature": value.encode()}, body
        yield "a short signature", {"webhook-signature": headers["webhook-signature"][:20]}, body
        yield "another version", {"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")}, body


class People(unittest.TestCase):
    """What merged-users.md and polling.md say, with accounts that merge in chains."""

    @classmethod
    def setUpClass(cls):
        os.environ.update(cls.environment())
        cls.merged_users = importlib.import_module("merged_users")
        cls.polling = importlib.import_module("polling")

    @classmethod
    def environment(cls):
        cls.application = provider.register("confidential", redirect_uri=RelyingParty.REDIRECT_URI)
        return {
            "MERGANSER_CONFIDENTIAL_CLIENT_ID": cls.application["client_id"],
            "MERGANSER_CONFIDENTIAL_CLIENT_SECRET": cls.application["client_secret"]}

    def setUp(self):
        self.rp = RelyingParty(self.application, "client_secret_basic")
        self.db = self.merged_users.open_site(":memory:")
        self.addCleanup(self.db.close)
        # Each test sees its own events alone.
        while self.polling.poll(self.db) == 0:
            pass

    def person(self, sign_in=True):
        phone = provider.Phone(provider.Account())
        phone.tokens = self.rp.sign_in(phone) if sign_in else None
        return phone

    def merge(self, absorbed, survivor):
        token = self.api(absorbed, "merge/session-token")["session_token"]
        self.api(survivor, "merge", target_session_token=token)

    @staticmethod
    def api(phone, path, **members):
        answer = requests.post(provider.URL + "/api/v1/me/" + path, json=members, headers=phone.headers)
        answer.raise_for_status()
        return answer.json()

    def write(self, db, owner):
        """Each has a note, and a profile, of which there can be only one."""
        db.execute("INSERT INTO notes (owner, text) VALUES (?, ?)", (owner, f"of {owner}"))
        db.execute("INSERT INTO profiles VALUES (?, ?)", (owner, f"of {owner}"))

    def owners(self, db):
        return {owner for owner, in db.execute("SELECT owner FROM notes UNION SELECT owner FROM profiles")}

    def test_a_chain_ends_at_one_survivor(self):
        a, b, c = self.person(), self.person(sign_in=False), self.person()
        names = [phone.user_id for phone in (a, b, c)]
        self.write(self.db, a.user_id)
        self.write(self.db, c.user_id)
        self.merge(a, b)
        self.assertEqual(self.polling.poll(self.db), 60)
        self.assertEqual(self.owners(self.db), {b.user_id, c.user_id})
        self.merge(b, c)
        self.assertEqual(self.polling.poll(self.db), 60)
        self.assertEqual(self.owners(self.db), {c.user_id}, "nobody ever signed in as B, but data of A was stored there")
        notes = [text for text, in self.db.execute("SELECT text FROM notes ORDER BY id")]
        self.assertEqual(notes, [f"of {a.user_id}", f"of {c.user_id}"])
        self.assertEqual(self.db.execute("SELECT color FROM profiles").fetchall(), [(f"of {c.user_id}",)])
        for name in names:
            self.assertEqual(self.merged_users.current(self.db, name), c.user_id)

    def test_any_order_and_any_repetition_end_alike(self):
        people = [self.person() for _ in range(4)]
        cursor, = self.db.execute("SELECT value FROM cursors").fetchone()
        for absorbed, survivor in zip(people, people[1:]):
            self.merge(absorbed, survivor)
        _, page = self.polling.get("/api/v1/events?since=" + cursor)
        events = [event for event in page["events"] if event["event_type"] == "user.merged"]
        self.assertEqual(len(events), 3)
        self.assertEqual([event["seq"] for event in events], sorted(event["seq"] for event in events))
        self.assertEqual([event["event_id"] for event in events], sorted(event["event_id"] for event in events))
        for order in itertools.permutations(events):
            db = self.merged_users.open_site(":memory:")
            self.addCleanup(db.close)
            for phone in people:
                self.write(db, phone.user_id)
            for event in [*order, *random.sample(order, 2)]:
                self.merged_users.apply(db, event)
            self.assertEqual(self.owners(db), {people[-1].user_id}, [event["seq"] for event in order])
            self.assertEqual(db.execute("SELECT COUNT(*) FROM notes").fetchone(), (4,))

    def test_a_failure_changes_nothing(self):
        a, b = self.person(), self.person()
        self.write(self.db, a.user_id)
        self.db.execute("INSERT INTO profiles VALUES (?, 'own')", (b.user_id,))
        self.merge(a, b)
        self.db.execute("CREATE TRIGGER broken BEFORE DELETE ON profiles BEGIN SELECT RAISE(ABORT, 'broken'); END")
        with self.assertRaises(sqlite3.IntegrityError):
            self.polling.poll(self.db)
        self.assertEqual(self.owners(self.db), {a.user_id, b.user_id})
        self.db.execute("DROP TRIGGER broken")
        self.polling.poll(self.db)
        self.assertEqual(self.owners(self.db), {b.user_id})

    def test_tokens_say_what_the_page_says(self):
        a, b = self.person(), self.person()
        old = a.tokens["userinfo"]
        claims = ("sub", "canonical_sub", "is_canonical", "linked_subs")
        self.assertEqual([old[name] for name in claims], [a.user_id, a.user_id, True, []])
        self.merge(a, b)
        userinfo = self.rp.userinfo(a.tokens).json()
        self.assertEqual([userinfo[name] for name in claims], [a.user_id, b.user_id, False, [a.user_id]])
        introspected = self.rp.introspect(a.tokens, "access_token").json()
        self.assertEqual((introspected["active"], introspected["canonical_sub"]), (True, b.user_id))
        for phone, is_canonical in ((a, False), (b, True)):
            tokens = self.rp.refresh(phone.tokens)
            new = self.rp.verify(tokens)
            self.assertEqual(
                [new[name] for name in claims], [phone.user_id, b.user_id, is_canonical, [a.user_id]])
        again = self.rp.sign_in(b)["userinfo"]
        self.assertEqual(again["canonical_sub"], b.user_id)

    def test_a_sign_in_moves_what_its_token_names(self):
        a, b = self.person(), self.person()
        self.write(self.db, self.merged_users.signed_in(self.db, a.tokens["userinfo"]))
        old = a.tokens["userinfo"]
        self.merge(a, b)
        self.assertEqual(self.merged_users.signed_in(self.db, self.rp.sign_in(b)["userinfo"]), b.user_id)
        self.assertEqual(self.owners(self.db), {b.user_id})
        self.assertEqual(self.merged_users.signed_in(self.db, old), b.user_id, "the token is older than the merge")
        self.polling.poll(self.db)
        self.assertEqual(self.owners(self.db), {b.user_id})

    def test_whoever_was_away_looks_everybody_up(self):
        a, b, c = self.person(), self.person(sign_in=False), self.person()
        self.write(self.db, a.user_id)
        self.merge(a, b)
        self.polling.poll(self.db)
        self.merge(b, c)
        self.db.execute("UPDATE cursors SET value = '999999'")
        # Without the events: only looking up can have moved it.
        self.assertEqual(self.polling.poll(self.db), 0)
        self.assertEqual(self.owners(self.db), {c.user_id})
        self.assertEqual(self.db.execute("SELECT value FROM cursors").fetchone(), ("0",))
        self.assertEqual(self.polling.poll(self.db), 60)

    def test_without_an_answer_it_waits(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(502)
                self.send_header("Retry-After", "7")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.assertEqual(self.wait_for(server.server_port), 7)
            server.shutdown()
        self.assertEqual(self.wait_for(free_port()), 5)

    def wait_for(self, port):
        """How long to wait, if the server is at that port."""
        self.addCleanup(setattr, self.polling, "URL", provider.URL)
        self.polling.URL = f"http://127.0.0.1:{port}"
        with self.assertRaises(self.polling.Later) as refused:
            self.polling.poll(self.db)
        return refused.exception.seconds

    def test_the_commands_show_the_events(self):
        a, b = self.person(), self.person()
        self.merge(a, b)
        script = pathlib.Path(path("polling.sh")).read_text().replace(". .run/env\n", "")
        shown = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], check=True, stdout=subprocess.PIPE, text=True).stdout
        last = json.loads(shown.splitlines()[-1])
        self.assertEqual((last["event_type"], last["data"]["linked_sub"]), ("user.merged", a.user_id))


class Issuer:
    """Signs what the server would not: tokens that are almost logout_tokens."""

    def __init__(self, test):
        self.keys = [JsonWebKey.generate_key("RSA", 2048, {"kid": name, "alg": "RS256"}, is_private=True) for name in "ab"]
        self.published = self.keys[:1]
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                if self.path == "/keys":
                    answer = {"keys": [key.as_dict(is_private=False) for key in issuer.published]}
                else:
                    answer = {"issuer": issuer.url, "jwks_uri": issuer.url + "/keys"}
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"

    def token(self, changes=None, header=None, key=None):
        """A logout_token for the client "site"; members whose value is None are left out."""
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": "site", "iat": now, "exp": now + 120, "jti": secrets.token_hex(8), "sub": "17",
            "sid": "s1", "events": {"http://schemas.openid.net/event/backchannel-logout": {}}} | (changes or {})
        claims = {name: value for name, value in claims.items() if value is not None}
        key = key or self.keys[0]
        header = {"alg": "RS256", "typ": "logout+jwt", "kid": key.kid} | (header or {})
        return JsonWebSignature().serialize_compact(header, json.dumps(claims).encode(), key).decode()


class Logout(unittest.TestCase):
    """logout.md: what ends sessions and what does not."""

    SESSIONS = {("1", "17", "s1"), ("2", "17", "s2"), ("3", "17", None), ("4", "18", "s4")}

    def setUp(self):
        self.issuer = Issuer(self)
        self.sessions = path(f"sessions-{self.id()}.db")
        self.program = Program(
            self, sys.executable, path("logout.py"), MERGANSER_URL=self.issuer.url, CLIENT_ID="site",
            SESSIONS=self.sessions)
        self.fill()

    def fill(self):
        with contextlib.closing(sqlite3.connect(self.sessions)) as db, db:
            db.execute("DELETE FROM sessions")
            db.executemany("INSERT INTO sessions VALUES (?, ?, ?)", self.SESSIONS)

    def left(self):
        with contextlib.closing(sqlite3.connect(self.sessions)) as db:
            return {id for id, in db.execute("SELECT id FROM sessions")}

    def post(self, token):
        answer = requests.post(self.program.url, data={"logout_token": token})
        self.assertEqual(answer.headers["Cache-Control"], "no-store")
        return answer.status_code

    def test_sub_and_sid_end_their_sessions(self):
        for changes, left in (({}, "234"), ({"sid": None}, "4"), ({"sub": None}, "234"), ({"sub": "18"}, "1234")):
            with self.subTest(changes):
                self.fill()
                self.assertEqual(self.post(self.issuer.token(changes)), 200)
                self.assertEqual(self.left(), set(left))

    def test_a_token_works_once(self):
        token = self.issuer.token()
        self.assertEqual(self.post(token), 200)
        self.fill()
        self.assertEqual(self.post(token), 400)
        self.assertEqual(self.left(), set("1234"))

    def test_a_new_key_is_asked_for(self):
        self.issuer.published = self.issuer.keys
        self.assertEqual(self.post(self.issuer.token(key=self.issuer.keys[1])), 200)

    def test_anything_else_ends_nothing(self):
        now = int(time.time())
        event = "http://schemas.openid.net/event/backchannel-logout"
        public = self.issuer.keys[0].as_pem(is_private=False)
        tokens = {
            "a key that is not the server's": self.issuer.token(key=self.issuer.keys[1]),
            "that under the name of one that is": self.issuer.token(key=self.issuer.keys[1], header={"kid": "a"}),
            "signed with the public key as a secret": self.hmac(public),
            "not signed": self.unsigned(),
            "an id_token": self.issuer.token(header={"typ": "JWT"}),
            "another issuer": self.issuer.token({"iss": "https://elsewhere.example"}),
            "another client": self.issuer.token({"aud": "other"}),
            "several clients": self.issuer.token({"aud": ["site", "other"]}),
            "expired": self.issuer.token({"iat": now - 300, "exp": now - 180}),
            "from the future": self.issuer.token({"iat": now + 180, "exp": now + 300}),
            "another event": self.issuer.token({"events": {"https://example.com/event": {}}}),
            "an event that is no object": self.issuer.token({"events": {event: True}}),
            "a nonce": self.issuer.token({"nonce": "n"}),
            "nobody": self.issuer.token({"sub": None, "sid": None}),
            "nobody's name": self.issuer.token({"sub": "", "sid": None}),
            "garbage": "a.b.c", "nothing": "",
        } | {f"no {name}": self.issuer.token({name: None}) for name in ("iss", "aud", "iat", "exp", "jti", "events")}
        for name, token in tokens.items():
            with self.subTest(name):
                self.assertEqual(self.post(token), 400)
        self.assertEqual(self.left(), set("1234"))

    def test_a_body_that_is_no_form_is_answered(self):
        for body in (b"", b"logout_token", b"logout_token=%FF", b"\xff\xfe"):
            with self.subTest(body):
                self.assertEqual(requests.post(self.program.url, data=body).status_code, 400)
        self.assertEqual(self.left(), set("1234"))

    def hmac(self, key):
        # Authlib refuses to sign that.
        signed = self.issuer.token().split(".")[1]
        header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"logout+jwt","kid":"a"}').decode().rstrip("=")
        mac = hmac.new(key, f"{header}.{signed}".encode(), hashlib.sha256).digest()
        return f"{header}.{signed}." + base64.urlsafe_b64encode(mac).decode().rstrip("=")

    def unsigned(self):
        header = base64.urlsafe_b64encode(b'{"alg":"none","typ":"logout+jwt"}').decode().rstrip("=")
        return header + "." + self.issuer.token().split(".")[1] + "."

    def test_the_servers_id_token_is_no_logout_token(self):
        application = provider.register("public", redirect_uri=RelyingParty.REDIRECT_URI)
        rp = RelyingParty(application, "none")
        id_token = rp.sign_in(provider.Browser(provider.Account()))["id_token"]
        program = Program(
            self, sys.executable, path("logout.py"), CLIENT_ID=application["client_id"], SESSIONS=self.sessions)
        self.assertEqual(requests.post(program.url, data={"logout_token": id_token}).status_code, 400)
        self.assertEqual(self.left(), set("1234"))


class SignOut(unittest.TestCase):
    """Signing out at the server, as logout.md says: by its address, and heard by its back channel."""

    RETURN = "https://rp.example/goodbye"

    def setUp(self):
        self.sessions = path(f"sessions-{self.id()}.db")
        self.developer = provider.Developer(
            redirect_uris=[RelyingParty.REDIRECT_URI], post_logout_redirect_uris=[self.RETURN])
        os.environ.update(CLIENT_ID=self.developer.client_id, SESSIONS=self.sessions)
        self.page = importlib.reload(importlib.import_module("logout"))
        self.rp = RelyingParty(self.developer.application, "client_secret_basic")

    def sign_out(self, browser, token):
        """Where the browser lands."""
        url = self.page.sign_out_url(token["id_token"], self.RETURN, "a&b=c ü")
        answer = browser.session.get(url, allow_redirects=False)
        while answer.headers["Location"].startswith(provider.URL):
            answer = browser.session.get(answer.headers["Location"], allow_redirects=False)
        return urlsplit(answer.headers["Location"])

    def test_it_ends_the_browsers_session(self):
        browser = provider.Browser(provider.Account())
        token = self.rp.sign_in(browser)
        self.assertIn("sid", token["userinfo"])
        location = self.sign_out(browser, token)
        self.assertEqual(f"{location.scheme}://{location.netloc}{location.path}", self.RETURN)
        self.assertEqual(parse_qs(location.query), {"state": ["a&b=c ü"]})
        self.rp.sign_in(browser)
        self.assertGreater(len(browser.pages), 0, "somebody has to sign in again")

    def remember(self, *tokens):
        """The relying party's own sessions; each is named for its place."""
        with contextlib.closing(sqlite3.connect(self.sessions)) as db, db:
            db.executemany(
                "INSERT INTO sessions VALUES (?, ?, ?)",
                [(str(place), token["userinfo"]["sub"], token["userinfo"].get("sid")) for place, token in enumerate(tokens)])

    def left(self):
        with contextlib.closing(sqlite3.connect(self.sessions)) as db:
            return [id for id, in db.execute("SELECT id FROM sessions ORDER BY id")]

    def test_the_back_channel_ends_what_the_server_ended(self):
        program = Program(
            self, sys.executable, path("logout.py"), CLIENT_ID=self.developer.client_id, SESSIONS=self.sessions)
        self.developer.send("PATCH", application={"backchannel_logout_uri": program.url})
        account = provider.Account()
        browsers, phone = [provider.Browser(account) for _ in range(2)], provider.Phone(account)
        tokens = [self.rp.sign_in(person) for person in (*browsers, phone, provider.Phone(provider.Account()))]
        self.remember(*tokens)
        self.sign_out(browsers[0], tokens[0])
        until(lambda: self.left() == ["1", "2", "3"])
        answer = requests.delete(
            f"{provider.URL}/api/v1/me/connected_apps/{self.developer.client_id}", headers=phone.headers)
        answer.raise_for_status()
        until(lambda: self.left() == ["3"])
