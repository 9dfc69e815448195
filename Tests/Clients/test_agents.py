import base64
import secrets
import unittest
from urllib.parse import quote

import requests
from authlib.jose import JsonWebKey, JsonWebToken

import provider
from agent import Agent, Approver, payload_hash, send


class Agents(unittest.TestCase):
    """Accounts §4.1: an agent asks, a person decides, and a third party believes the token."""

    def setUp(self):
        self.phone = provider.Phone(provider.Account())
        self.approver = Approver(self.phone)
        self.agent = Agent(self.phone)

    def expect(self, answer, status, error=None):
        self.assertEqual((answer.status_code, answer.json().get("error")), (status, error), answer.text)
        return answer.json()

    def test_an_approval(self):
        asked = self.expect(self.agent.ask(), 201)
        self.assertRegex(asked["number_match"], "^[0-9]{6}$")
        [shown] = self.approver.get("?status=pending")["agent_approvals"]
        self.assertEqual((shown["id"], shown["agent_name"]), (asked["auth_req_id"], "Build agent"))
        self.assertEqual(payload_hash(shown), asked["display_payload_hash"])
        self.assertNotIn(asked["number_match"], str(shown))
        decided = self.approver.decide(
            asked, "approved", number_match=asked["number_match"], display_payload_hash=payload_hash(shown))
        self.assertEqual(self.expect(decided, 200)["status"], "approved")

        answer = self.agent.wait(asked)
        self.assertEqual(answer["status"], "approved")
        metadata = requests.get(provider.DISCOVERY).json()
        keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"]).json())
        claims = JsonWebToken(["RS256"]).decode(answer["decision_token"], keys)
        claims.validate()
        self.assertEqual(claims.header["typ"], "approval+jwt")
        self.assertEqual(
            (claims["iss"], claims["aud"], claims["jti"], claims["status"], claims["display_payload_hash"]),
            (metadata["issuer"], self.agent.id, asked["auth_req_id"], "approved", asked["display_payload_hash"]))

    def test_a_rejection_cools_down(self):
        asked = self.expect(self.agent.ask(), 201)
        self.assertEqual(self.expect(self.approver.decide(asked, "rejected"), 200)["status"], "rejected")
        self.assertEqual(self.agent.wait(asked)["status"], "rejected")
        again = self.agent.ask(title="Run them again")
        self.expect(again, 429, "cool_down")
        self.assertTrue(0 < int(again.headers["Retry-After"]) <= 600)

    def test_three_wrong_numbers(self):
        asked = self.expect(self.agent.ask(), 201)
        wrong = f"{(int(asked['number_match']) + 1) % 1_000_000:06}"
        for _ in range(3):
            self.expect(self.approver.decide(asked, "approved", number_match=wrong), 422, "number_mismatch")
        late = self.approver.decide(asked, "approved", number_match=asked["number_match"])
        self.expect(late, 409, "already_decided")

    def test_a_lost_answer(self):
        key = secrets.token_hex(16)
        first = self.expect(self.agent.ask(key), 201)
        again = self.expect(self.agent.ask(key), 200)
        self.assertEqual(
            (again["auth_req_id"], again["number_match"]), (first["auth_req_id"], first["number_match"]))
        self.expect(self.agent.ask(key, title="Another"), 409, "idempotency_conflict")
        self.assertEqual(self.expect(self.agent.ask(), 200)["auth_req_id"], first["auth_req_id"], "it shows the same")

    def test_cancelling(self):
        asked = self.expect(self.agent.ask(), 201)
        self.assertEqual(self.expect(self.agent.cancel(asked), 200)["status"], "cancelled")
        self.expect(self.approver.decide(asked, "rejected"), 409, "already_decided")

    def test_polling_too_fast(self):
        asked = self.expect(self.agent.ask(), 201)
        self.expect(self.agent.poll(asked), 200)
        refused = self.agent.poll(asked)
        self.expect(refused, 429, "slow_down")
        self.assertEqual(refused.headers["Retry-After"], "2")

    def test_a_request_is_good_once(self):
        request = self.agent.prepare("GET", "/api/agents/approvals/aar_unknown")
        self.expect(send(request), 404, "approval_not_found")
        self.expect(send(request), 401, "nonce_replay")

    def test_the_whole_request_is_signed(self):
        request = self.agent.prepare("GET", "/api/agents/approvals/aar_unknown?" + quote("a=é"))
        request.url = request.url.replace("aar_unknown", "aar_another")
        self.expect(send(request), 401, "invalid_signature")
        request = self.agent.prepare("POST", "/api/agents/approvals", {"title": "a"}, key="k")
        request.body = request.body.replace(b"a", b"b")
        self.expect(send(request), 401, "invalid_signature")
        request = self.agent.prepare("GET", "/api/agents/approvals/aar_unknown?" + quote("a=é") + "&b=%2F+")
        self.expect(send(request), 404, "approval_not_found")

    def test_the_path_is_signed_as_it_is_sent(self):
        """nginx decodes it, and the signature is over what was on the wire."""
        asked = self.expect(self.agent.ask(), 201)
        request = self.agent.prepare("GET", "/")
        # Set now, because the library would decode it.
        request.url = provider.URL + "/api/agents/approvals/%61%61%72" + asked["auth_req_id"][3:]
        self.expect(send(request), 401, "invalid_signature")
        self.agent.sign(request)
        self.expect(send(request), 200)

    def test_without_a_signature(self):
        request = self.agent.prepare("GET", "/api/agents/approvals/aar_unknown")
        del request.headers["X-Agent-Signature"]
        self.expect(send(request), 401, "invalid_signature")

    def test_an_agent_that_does_not_sign(self):
        plain = Agent(self.phone, signs=False, allowed_action_types=["git.push"])
        self.expect(plain.ask(), 403, "action_not_allowed")
        self.expect(plain.ask(action_type="git.push"), 201)

    def test_an_agent_from_elsewhere(self):
        distant = Agent(self.phone, allowed_ips=["192.0.2.0/24"])
        self.expect(distant.ask(), 403, "ip_not_allowed")

    def test_a_key_that_proves_nothing(self):
        identity = base64.b64encode(b"\x01" + bytes(31)).decode()
        body = {"name": "Agent", "type": "custom", "auth_mode": "signed", "public_key": identity}
        answer = requests.post(provider.URL + "/api/v1/me/agents", json=body, headers=self.phone.headers)
        self.expect(answer, 400, "invalid_request")

    def test_a_revoked_agent(self):
        asked = self.expect(self.agent.ask(), 201)
        answer = requests.delete(f"{provider.URL}/api/v1/me/agents/{self.agent.id}", headers=self.phone.headers)
        self.assertEqual(answer.status_code, 204)
        refused = self.agent.poll(asked)
        self.expect(refused, 401, "invalid_token")
        self.assertEqual(refused.headers["WWW-Authenticate"], 'Bearer error="invalid_token"')
        self.assertEqual(self.approver.get("/" + asked["auth_req_id"])["status"], "cancelled")

    def test_other_people(self):
        asked = self.expect(self.agent.ask(), 201)
        somebody = Approver(provider.Phone(provider.Account()))
        self.expect(somebody.decide(asked, "approved", number_match=asked["number_match"]), 404, "approval_not_found")
        self.assertEqual(somebody.get()["agent_approvals"], [])
