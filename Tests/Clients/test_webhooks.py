import hashlib
import hmac
import http.server
import json
import queue
import threading
import time
import unittest

import requests
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
    """A receiver that was written from the specification of X-Logi-Signature (accounts §3.4), which a relying party would
    also find in docs/integrating.md."""
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
        self.developer = provider.Phone(provider.Account())
        provider.merganserctl("user", "set-role", self.developer.user_id, "developer", "--json")
        application = {
            "name": "Webhooks", "client_type": "confidential", "redirect_uris": [RelyingParty.REDIRECT_URI],
            "webhook_url": self.receiver.url,
        }
        answer = self.post("", {"application": application})
        self.client_id = answer["client_id"]
        self.keys = [answer["webhook_key"]]
        provider.merganserctl("application", "approve", self.client_id, "--json")

    def post(self, path, body=None):
        answer = requests.post(provider.URL + "/api/v1/applications" + path, json=body or {}, headers=self.developer.headers)
        answer.raise_for_status()
        return answer.json()

    def event(self):
        """The header fields and the body of a test event."""
        self.post(f"/{self.client_id}/webhook_test")
        return self.receiver.requests.get(timeout=20)

    def test_every_verifier_accepts_it(self):
        headers, body = self.event()
        verify(headers, body, {key["kid"]: key["secret"] for key in self.keys})
        for library in (standardwebhooks.Webhook, svix.webhooks.Webhook):
            library(self.keys[0]["secret"]).verify(body, headers)
        event = json.loads(body)
        self.assertEqual((event["event_id"], event["event_type"]), (headers["webhook-id"], "webhook.test"))

    def test_while_keys_are_changed_both_are_good(self):
        self.keys.append(self.post(f"/{self.client_id}/webhook_keys")["webhook_key"])
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
        path = f"{provider.URL}/api/v1/applications/{self.client_id}/webhook_deliveries"
        for _ in range(100):
            deliveries = requests.get(path, headers=self.developer.headers).json()["deliveries"]
            if deliveries:
                break
            time.sleep(0.1)
        self.assertEqual(deliveries[0]["event_id"], headers["webhook-id"])
        self.assertEqual((deliveries[0]["status"], deliveries[0]["failure_reason"]), (204, None))
