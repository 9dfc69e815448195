import time
import unittest
from urllib.parse import parse_qsl, urlsplit

import requests
from authlib.integrations.base_client import OAuthError
from authlib.jose import JsonWebKey, jwt
from authlib.oauth2.rfc7636 import create_s256_code_challenge

import provider
from relying_party import RelyingParty


class CodeFlow:
    """What every kind of client can do, and what it cannot."""

    client_type = "confidential"
    method = "client_secret_basic"

    @classmethod
    def setUpClass(cls):
        cls.rp = RelyingParty(
            provider.register(cls.client_type, redirect_uri=RelyingParty.REDIRECT_URI), cls.method)
        cls.account = provider.Account()
        cls.phone = provider.Phone(cls.account)

    # Sign-in

    def test_sign_in(self):
        before = int(time.time())
        token = self.rp.sign_in(self.phone)
        self.assertEqual((token["token_type"], token["expires_in"]), ("Bearer", 900))
        self.assertEqual(token["scope"], RelyingParty.SCOPE)
        claims = token["userinfo"]
        self.assertEqual(claims["sub"], self.phone.user_id)
        self.assertEqual(claims["aud"], self.rp.client_id)
        self.assertEqual(claims["exp"], claims["iat"] + 900)
        self.assertLessEqual(claims["auth_time"], claims["iat"])
        self.assertGreaterEqual(claims["iat"], before)
        self.assertTrue(claims["nonce"] and claims["at_hash"] and claims["jti"])
        self.assertEqual((claims["email"], claims["email_verified"]), (self.account.email, True))
        self.assertEqual((claims["canonical_sub"], claims["is_canonical"], claims["linked_subs"]), (claims["sub"], True, []))
        self.assertEqual((claims["anonymous"], claims["previously_anonymous"]), (False, False))

    def test_the_access_token_is_one(self):
        token = self.rp.sign_in(self.phone)
        keys = JsonWebKey.import_key_set(requests.get(self.rp.metadata["jwks_uri"]).json())
        claims = jwt.decode(token["access_token"], keys)
        self.assertEqual(claims.header["typ"], "at+jwt")
        self.assertEqual((claims["client_id"], claims["scope"]), (self.rp.client_id, RelyingParty.SCOPE))
        claims.validate()

    def test_an_id_token_is_no_access_token(self):
        token = self.rp.sign_in(self.phone)
        answer = self.rp.userinfo(token | {"access_token": token["id_token"]})
        self.assertEqual((answer.status_code, answer.json()["error"]), (401, "invalid_token"))
        self.assertIn('error="invalid_token"', answer.headers["WWW-Authenticate"])

    def test_userinfo(self):
        token = self.rp.sign_in(self.phone)
        answer = self.rp.userinfo(token)
        self.assertEqual(answer.status_code, 200)
        same = ["sub", "email", "email_verified", "canonical_sub", "is_canonical", "linked_subs", "anonymous"]
        for name in same:
            self.assertEqual(answer.json()[name], token["userinfo"][name], name)

    def test_a_refusal_reaches_the_relying_party(self):
        with self.assertRaises(OAuthError) as refused:
            self.rp.finish(self.phone.refuse(self.rp.begin()))
        self.assertEqual(refused.exception.error, "access_denied")

    def test_the_redirect_has_a_code_and_the_state(self):
        asked = dict(parse_qsl(urlsplit(self.rp.begin(state="a b&c=d%2Be")).query))
        back = urlsplit(self.phone.visit(self.rp.begin(state="a b&c=d%2Be")))
        self.assertEqual(asked["state"], "a b&c=d%2Be")
        self.assertEqual([name for name, _ in parse_qsl(back.query)], ["from", "code", "state"])
        self.assertEqual(dict(parse_qsl(back.query))["state"], asked["state"])
        self.assertEqual(back.fragment, "")

    # Codes

    def test_a_code_needs_its_verifier(self):
        url = self.phone.visit(self.rp.begin())
        for verifier in ["x" * 43, "short", None]:
            parameters = {"code_verifier": verifier} if verifier else {}
            self.assert_error("invalid_grant", lambda: self.rp.session().fetch_token(
                self.rp.metadata["token_endpoint"], authorization_response=url, **parameters))
        self.assertIn("id_token", self.rp.finish(url), "a failed attempt does not use the code up")

    def test_a_code_works_once(self):
        url = self.rp.begin()
        with self.rp.browser.session_transaction() as kept:
            before = dict(kept)
        back = self.phone.visit(url)
        token = self.rp.finish(back)
        with self.rp.browser.session_transaction() as kept:
            kept.update(before)
        self.assert_error("invalid_grant", lambda: self.rp.finish(back))
        self.assertEqual(self.rp.userinfo(token).status_code, 401, "what it was exchanged for is revoked")
        self.assert_error("invalid_grant", lambda: self.rp.refresh(token))

    def test_a_code_is_bound_to_its_redirect_uri(self):
        url = self.phone.visit(self.rp.begin())
        self.assert_error("invalid_grant", lambda: self.rp.session(redirect_uri="https://rp.example/callback").fetch_token(
            self.rp.metadata["token_endpoint"], authorization_response=url, code_verifier="x" * 43))

    def test_a_code_is_bound_to_its_client(self):
        other = RelyingParty(provider.register("public", redirect_uri=RelyingParty.REDIRECT_URI), "none")
        url = self.phone.visit(self.rp.begin())
        self.assert_error("invalid_grant", lambda: other.session().fetch_token(
            other.metadata["token_endpoint"], authorization_response=url, code_verifier="x" * 43))
        self.assertIn("id_token", self.rp.finish(url))

    # Refresh and revocation

    def test_refresh(self):
        first = self.rp.sign_in(self.phone)
        second = self.rp.refresh(first)
        self.assertNotEqual(second["refresh_token"], first["refresh_token"])
        claims = self.rp.verify(second)
        self.assertEqual(claims["sub"], first["userinfo"]["sub"])
        self.assertEqual(claims["auth_time"], first["userinfo"]["auth_time"])
        self.assertNotIn("nonce", claims)
        self.assertEqual(self.rp.userinfo(second).status_code, 200)

    def test_a_lost_answer_is_repeated(self):
        first = self.rp.sign_in(self.phone)
        second = self.rp.refresh(first)
        again = self.rp.refresh(first)
        for answer in (second, again):
            # Authlib's own addition, from its clock.
            del answer["expires_at"]
        self.assertEqual(again, second)

    def test_an_old_refresh_token_ends_the_family(self):
        first = self.rp.sign_in(self.phone)
        third = self.rp.refresh(self.rp.refresh(first))
        self.assert_error("invalid_grant", lambda: self.rp.refresh(first))
        self.assert_error("invalid_grant", lambda: self.rp.refresh(third))
        self.assertEqual(self.rp.userinfo(third).status_code, 401)

    def test_revoking_a_refresh_token_ends_the_family(self):
        token = self.rp.sign_in(self.phone)
        self.assertEqual(self.rp.revoke(token, "refresh_token").status_code, 200)
        self.assertEqual(self.rp.userinfo(token).status_code, 401)
        self.assert_error("invalid_grant", lambda: self.rp.refresh(token))

    def test_revoking_an_access_token_ends_that_one(self):
        token = self.rp.sign_in(self.phone)
        self.assertEqual(self.rp.revoke(token, "access_token").status_code, 200)
        self.assertEqual(self.rp.userinfo(token).status_code, 401)
        self.assertEqual(self.rp.userinfo(self.rp.refresh(token)).status_code, 200)

    def test_revoking_what_is_unknown_succeeds(self):
        self.assertEqual(self.rp.revoke({"refresh_token": "unknown"}, "refresh_token").status_code, 200)

    def test_there_are_no_other_grants(self):
        for grant, parameters in [("client_credentials", {}), ("password", {"username": "a", "password": "b"})]:
            self.assert_error("unsupported_grant_type", lambda: self.rp.session().fetch_token(
                self.rp.metadata["token_endpoint"], grant_type=grant, **parameters))

    # Client authentication

    def test_a_wrong_secret_is_refused(self):
        url = self.phone.visit(self.rp.begin())
        method = self.method if self.client_type == "confidential" else "client_secret_post"
        self.assert_error("invalid_client", lambda: self.rp.session(
            client_secret="logi_secret_" + "0" * 64, token_endpoint_auth_method=method
        ).fetch_token(self.rp.metadata["token_endpoint"], authorization_response=url, code_verifier="x" * 43))
        self.assertIn("id_token", self.rp.finish(url), "the code is still good")

    def assert_error(self, code, call):
        with self.assertRaises(OAuthError) as raised:
            call()
        self.assertEqual(raised.exception.error, code)
        self.assertTrue(raised.exception.description)


class ConfidentialClient(CodeFlow, unittest.TestCase):
    """Sends its secret in the Authorization header."""

    def test_a_missing_secret_is_refused(self):
        url = self.phone.visit(self.rp.begin())
        self.assert_error("invalid_client", lambda: self.rp.session(
            client_secret=None, token_endpoint_auth_method="none"
        ).fetch_token(self.rp.metadata["token_endpoint"], authorization_response=url, code_verifier="x" * 43))


class ConfidentialClientInTheForm(CodeFlow, unittest.TestCase):
    method = "client_secret_post"


class PublicClient(CodeFlow, unittest.TestCase):
    client_type = "public"
    method = "none"

    def test_the_documented_request_without_escapes(self):
        """The body that apps without a library send: nothing in it is escaped."""
        redirect_uri = "com.example.tests://callback"
        application = provider.register("public", redirect_uri=redirect_uri)
        verifier = "v" * 43
        challenge = create_s256_code_challenge(verifier)
        answer = self.phone.authorize(
            f"{provider.URL}/oauth/authorize?client_id={application['client_id']}&redirect_uri={redirect_uri}"
            f"&response_type=code&scope=openid&state=s&code_challenge={challenge}&code_challenge_method=S256").json()
        token = requests.post(
            self.rp.metadata["token_endpoint"], headers={"Content-Type": "application/x-www-form-urlencoded"},
            data=f"grant_type=authorization_code&code={answer['code']}&redirect_uri={redirect_uri}"
            f"&code_verifier={verifier}&client_id={application['client_id']}")
        self.assertEqual(token.status_code, 200, token.text)
        self.assertTrue(token.json()["access_token"] and token.json()["refresh_token"])

