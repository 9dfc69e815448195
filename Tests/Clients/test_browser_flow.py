import unittest

from authlib.integrations.base_client import OAuthError

import provider
from relying_party import RelyingParty


class BrowserFlow(unittest.TestCase):
    """The same flow by the pages that people see."""

    @classmethod
    def setUpClass(cls):
        cls.rp = RelyingParty(
            provider.register("confidential", redirect_uri=RelyingParty.REDIRECT_URI), "client_secret_basic")

    def setUp(self):
        self.account = provider.Account()
        self.browser = provider.Browser(self.account)

    def test_sign_in(self):
        token = self.rp.sign_in(self.browser)
        self.assertEqual(len(self.browser.pages), 4, "sign-in, the provider's two, consent")
        self.assertEqual(token["userinfo"]["email"], self.account.email)
        self.assertEqual(self.rp.userinfo(token).json()["sub"], token["userinfo"]["sub"])
        self.assertEqual(
            token["userinfo"]["sub"], provider.Phone(self.account).user_id, "the account is the one the app knows")

    def test_consent_is_remembered(self):
        first = self.rp.sign_in(self.browser)["userinfo"]
        second = self.rp.sign_in(self.browser)["userinfo"]
        self.assertEqual(self.browser.pages, [])
        self.assertEqual((second["sub"], second["auth_time"]), (first["sub"], first["auth_time"]))

    def test_nobody_is_asked_with_prompt_none(self):
        self.assert_error("login_required", lambda: self.rp.sign_in(self.browser, prompt="none"))
        self.rp.sign_in(self.browser)
        self.assertIn("id_token", self.rp.sign_in(self.browser, prompt="none"))
        self.assertEqual(self.browser.pages, [])

    def test_prompt_login_signs_in_again(self):
        self.rp.sign_in(self.browser)
        self.rp.sign_in(self.browser, prompt="login")
        self.assertEqual(len(self.browser.pages), 3, "sign-in and the provider's two")

    def test_a_refusal_reaches_the_relying_party(self):
        self.assert_error("access_denied", lambda: self.rp.finish(self.browser.refuse(self.rp.begin())))

    def test_no_form_is_sent_on(self):
        """RFC 9700 §4.12: what was posted to one server reaches no other by a redirect."""
        self.rp.sign_in(self.browser)
        self.assertTrue(self.browser.redirects)
        self.assertLessEqual(set(self.browser.redirects), {302, 303})

    def assert_error(self, code, call):
        with self.assertRaises(OAuthError) as raised:
            call()
        self.assertEqual(raised.exception.error, code)
