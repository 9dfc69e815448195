import time
import unittest

import provider
from apache import Apache


class ModAuthOpenIDC(unittest.TestCase):
    """Sign-in and sign-out through Apache's mod_auth_openidc (OpenID Connect Back-Channel Logout 1.0, RP-Initiated Logout
    1.0)."""

    @classmethod
    def setUpClass(cls):
        cls.apache = Apache()
        cls.addClassCleanup(cls.apache.close)
        cls.other = Apache()
        cls.addClassCleanup(cls.other.close)

    def setUp(self):
        self.account = provider.Account()
        self.browser = self.open_browser()

    def open_browser(self):
        browser = provider.Browser(self.account)
        self.addCleanup(browser.session.close)
        return browser

    def get(self, url):
        """One answer to the browser, without following it anywhere."""
        return self.browser.session.get(url, allow_redirects=False)

    def sign_in(self, apache):
        """Goes to a private page; who Apache says is there."""
        answer = self.get(apache.private)
        self.assertEqual(answer.status_code, 302, apache.log)
        answer = self.get(self.browser.visit(answer.headers["Location"]))
        self.assertEqual((answer.status_code, answer.headers.get("Location")), (302, apache.private), apache.log)
        answer = self.get(apache.private)
        self.assertEqual(answer.status_code, 200, apache.log)
        return answer.headers["X-User"]

    def is_signed_in(self, apache):
        return self.get(apache.private).status_code == 200

    def assert_signed_out(self, apache):
        """As soon as the back channel has told it."""
        until = time.monotonic() + 20
        while self.is_signed_in(apache):
            self.assertLess(time.monotonic(), until, "nobody told Apache:\n" + apache.log)
            time.sleep(0.05)

    def sign_out_here(self):
        """On the provider's own page."""
        answer = self.get(provider.URL + "/session/logout")
        method, target, form = provider.Page(answer.text).go_on(answer.url, {}, "")
        self.assertEqual(self.browser.session.request(method, target, data=form, allow_redirects=False).status_code, 303)

    def test_a_sign_out_here_ends_the_sessions_there(self):
        user = provider.Phone(self.account).user_id
        self.assertEqual(self.sign_in(self.apache), user)
        self.assertEqual(self.sign_in(self.other), user)
        self.assertTrue(self.is_signed_in(self.apache))
        self.sign_out_here()
        self.assert_signed_out(self.apache)
        self.assert_signed_out(self.other)

    def test_the_session_of_another_browser_stays(self):
        self.sign_in(self.apache)
        here, self.browser = self.browser, self.open_browser()
        self.sign_in(self.apache)
        self.sign_out_here()
        self.assert_signed_out(self.apache)
        self.browser = here
        self.assertTrue(self.is_signed_in(self.apache))

    def test_a_sign_out_there_ends_the_session_here_and_elsewhere(self):
        self.sign_in(self.apache)
        self.sign_in(self.other)
        answer = self.get(f"{self.apache.url}/callback?logout={self.apache.goodbye}")
        location = answer.headers["Location"]
        self.assertTrue(location.startswith(provider.URL + "/oauth/logout?"), location)
        self.assertIn("id_token_hint=", location)
        answer = self.get(location)
        self.assertEqual((answer.status_code, answer.headers["Location"]), (303, self.apache.goodbye), "nobody is asked")
        self.assertFalse(self.is_signed_in(self.apache))
        self.assert_signed_out(self.other)
        # Whoever goes back signs in anew.
        self.sign_in(self.apache)
        self.assertTrue(self.browser.pages)
