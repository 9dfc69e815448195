import unittest

from authlib.oauth2.rfc7662 import IntrospectTokenValidator

import provider
from relying_party import RelyingParty


class Introspection(unittest.TestCase):
    """RFC 7662, for the client that a token was issued to."""

    def setUp(self):
        self.rp = RelyingParty(
            provider.register("confidential", redirect_uri=RelyingParty.REDIRECT_URI), "client_secret_basic")
        self.phone = provider.Phone(provider.Account())
        self.token = self.rp.sign_in(self.phone)

    def test_its_own_token(self):
        answer = self.rp.introspect(self.token, "access_token").json()
        self.assertTrue(answer["active"])
        self.assertEqual(answer["client_id"], self.rp.client_id)
        self.assertEqual((answer["sub"], answer["canonical_sub"]), (self.phone.user_id, self.phone.user_id))
        self.assertEqual(answer["scope"], RelyingParty.SCOPE)
        self.assertTrue(answer["token_type"] and answer["jti"])
        IntrospectTokenValidator().validate_token(answer, scopes=["openid"], request=None)

    def test_a_refresh_token(self):
        self.assertTrue(self.rp.introspect(self.token, "refresh_token").json()["active"])

    def test_a_revoked_token(self):
        self.rp.revoke(self.token, "access_token")
        self.assertEqual(self.rp.introspect(self.token, "access_token").json(), {"active": False})

    def test_what_is_no_token(self):
        self.assertEqual(self.rp.introspect({"access_token": "eyJ"}, "access_token").json(), {"active": False})

    def test_another_clients_token(self):
        other = RelyingParty(
            provider.register("confidential", redirect_uri=RelyingParty.REDIRECT_URI), "client_secret_post")
        self.assertEqual(other.introspect(self.token, "access_token").json(), {"active": False})
        self.assertEqual(other.revoke(self.token, "access_token").status_code, 200)
        self.assertTrue(self.rp.introspect(self.token, "access_token").json()["active"], "and it stays valid")

    def test_public_clients_may_not(self):
        public = RelyingParty(provider.register("public", redirect_uri=RelyingParty.REDIRECT_URI), "none")
        answer = public.introspect(public.sign_in(self.phone), "access_token")
        self.assertEqual((answer.status_code, answer.json()["error"]), (401, "invalid_client"))

    def test_a_wrong_secret(self):
        self.rp.client_secret = "logi_secret_" + "0" * 64
        answer = self.rp.introspect(self.token, "access_token")
        self.assertEqual((answer.status_code, answer.json()["error"]), (401, "invalid_client"))
        self.assertTrue(answer.headers["WWW-Authenticate"].startswith("Basic"))
