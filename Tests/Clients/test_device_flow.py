import unittest

import requests
from authlib.integrations.base_client import OAuthError
from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE

import provider
from relying_party import RelyingParty


class DeviceFlow(unittest.TestCase):
    """RFC 8628: a television asks, a phone decides."""

    def setUp(self):
        self.rp = RelyingParty(provider.register("public", redirect_uri=RelyingParty.REDIRECT_URI), "none")
        answer = requests.post(
            self.rp.metadata["device_authorization_endpoint"],
            data={"client_id": self.rp.client_id, "scope": RelyingParty.SCOPE})
        self.assertEqual(answer.status_code, 200, answer.text)
        self.asked = answer.json()

    def poll(self):
        return self.rp.session().fetch_token(
            self.rp.metadata["token_endpoint"], grant_type=DEVICE_CODE_GRANT_TYPE,
            device_code=self.asked["device_code"])

    def decide(self, decision):
        phone = provider.Phone(provider.Account())
        answer = requests.post(
            provider.URL + "/api/v1/oauth/device", headers=phone.headers,
            json={"user_code": self.asked["user_code"], "decision": decision})
        self.assertEqual(answer.status_code, 200, answer.text)
        return phone

    def test_what_a_device_shows(self):
        self.assertRegex(self.asked["user_code"], "^[B-Z2-9]{4}-[B-Z2-9]{4}$")
        self.assertTrue(self.asked["verification_uri_complete"].startswith(self.asked["verification_uri"]))
        self.assertEqual((self.asked["expires_in"], self.asked["interval"]), (600, 5))
        self.assertEqual(requests.get(self.asked["verification_uri_complete"]).status_code, 200)

    def test_approval(self):
        self.assert_error("authorization_pending")
        phone = self.decide("approve")
        token = self.poll()
        self.assertEqual(self.rp.verify(token)["sub"], phone.user_id)
        self.assertEqual(self.rp.userinfo(token).status_code, 200)
        self.assert_error("invalid_grant")

    def test_refusal(self):
        self.decide("deny")
        self.assert_error("access_denied")

    def test_polling_too_fast(self):
        self.assert_error("authorization_pending")
        self.assert_error("slow_down")

    def assert_error(self, code):
        with self.assertRaises(OAuthError) as raised:
            self.poll()
        self.assertEqual(raised.exception.error, code)
