import hashlib
import hmac
import http.server
import json
import queue
import socket
import threading
import time
import unittest

import standardwebhooks
import svix.webhooks

import provider
from relying_party import RelyingParty


class Receiver:
    """Takes webhooks on this machine."""

    def __init__(self):
        self.requests = queue.Queue()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.put((dict(self.headers), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def verify(headers, body, keys):
    """A receiver that was written from the specification of X-Logi-Signature (accounts §3.4). test_pages runs those that
    relying parties find in docs/integrating."""
    parts = dict(part.split("=", 1) for part in headers["X-Logi-Signature"].split(","))
    if abs(time.time() - int(parts["t"])) > 300:
        raise ValueError("too old")
    expected = hmac.new(keys[parts["kid"]].encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, parts["v1"]):
        raise ValueError("not signed with this key")


class Webhooks(unittest.TestCase):
    """The libraries of Standard Webhooks and Svix, and a receiver of X-Logi-Signature, accept what is sent."""

    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.developer = provider.Developer(redirect_uris=[RelyingParty.REDIRECT_URI], webhook_url=self.receiver.url)
        self.keys = [self.developer.application["webhook_key"]]

    def event(self):
        """The header fields and the body of a test event."""
        self.developer.send("POST", "/webhook_test")
        return self.receiver.requests.get(timeout=20)

    def test_every_verifier_accepts_it(self):
        headers, body = self.event()
        verify(headers, body, {key["kid"]: key["secret"] for key in self.keys})
        for library in (standardwebhooks.Webhook, svix.webhooks.Webhook):
            library(self.keys[0]["secret"]).verify(body, headers)
        event = json.loads(body)
        self.assertEqual((event["event_id"], event["event_type"]), (headers["webhook-id"], "webhook.test"))

    def test_while_keys_are_changed_both_are_good(self):
        self.keys.append(self.developer.send("POST", "/webhook_keys")["webhook_key"])
        headers, body = self.event()
        verify(headers, body, {key["kid"]: key["secret"] for key in self.keys})
        self.assertIn("kid=" + self.keys[1]["kid"], headers["X-Logi-Signature"])
        for key in self.keys:
            for library in (standardwebhooks.Webhook, svix.webhooks.Webhook):
                library(key["secret"]).verify(body, headers)

    def test_a_changed_event_is_refused(self):
        headers, body = self.event()
        changed = body.replace(b"webhook.test", b"user.deleted")
        with self.assertRaises(ValueError):
            verify(headers, changed, {key["kid"]: key["secret"] for key in self.keys})
        with self.assertRaises(standardwebhooks.WebhookVerificationError):
            standardwebhooks.Webhook(self.keys[0]["secret"]).verify(changed, headers)
        with self.assertRaises(svix.webhooks.WebhookVerificationError):
            svix.webhooks.Webhook(self.keys[0]["secret"]).verify(changed, headers)

    def test_the_attempts_are_shown(self):
        headers, _ = self.event()
        for _ in range(600):
            deliveries = self.developer.send("GET", "/webhook_deliveries")["deliveries"]
            if deliveries:
                break
            time.sleep(0.1)
        self.assertEqual(deliveries[0]["event_id"], headers["webhook-id"])
        self.assertEqual((deliveries[0]["status"], deliveries[0]["failure_reason"]), (204, None))

    def test_no_answer_keeps_others_from_theirs(self):
        """One receiver's answer is none, as libcurl takes it for one; the outcomes of all are still recorded."""
        for answer in (b"HTTP/2 99999\r\n\r\n", b"HTTP/2 -5\r\n\r\n", b"\0", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"):
            with self.subTest(answer):
                server = socket.create_server(("127.0.0.1", 0))
                self.addCleanup(server.close)
                threading.Thread(target=self.answer, args=(server, answer), daemon=True).start()
                self.developer.send(
                    "PATCH", application={"webhook_url": f"http://127.0.0.1:{server.getsockname()[1]}/"})
                before = len(self.attempts())
                self.developer.send("POST", "/webhook_test")
                for _ in range(600):
                    if attempts := self.attempts()[: -before or None]:
                        break
                    time.sleep(0.1)
                self.assertEqual([(a["status"], a["failure_reason"]) for a in attempts], [(None, "connection_failed")])

    def attempts(self):
        return self.developer.send("GET", "/webhook_deliveries")["deliveries"]

    @staticmethod
    def answer(server, answer):
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
