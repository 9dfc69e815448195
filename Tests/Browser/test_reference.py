"""The pages that need nobody to sign in: `/diagnose` and `/oauth/errors`."""

import urllib.parse

from browser import URL, BrowserTestCase
from flow import FlowTestCase
from relying_party import post


class Diagnose(FlowTestCase):
    def status(self, check):
        """What stands at a check: its name, what was found, the word for it."""
        rows = self.browser.text.split("\n")
        return rows[rows.index(check) :][:3]

    def test_form(self):
        self.browser.open(URL + "/diagnose")
        self.look("Check an integration")
        self.browser.type("client_id", self.app.client_id)
        self.browser.type("redirect_uri", self.app.redirect_uri)
        self.browser.press("Check")
        self.look("Check an integration")
        self.assertIn("In order", self.status("Redirect URI is registered"))
        self.assertIn("Registered and active", self.browser.text)

    def test_fault(self):
        query = urllib.parse.urlencode({"client_id": self.app.client_id, "redirect_uri": "my_app:/callback"})
        self.browser.open(f"{URL}/diagnose?{query}")
        self.look("Check an integration")
        self.assertIn("Problem", self.status("Redirect URI is registered"))
        self.assertIn("Problem", self.status("Scheme without underscore"))
        self.assertNotIn(self.app.redirect_uri, self.browser.text)

    def test_whole_url(self):
        self.browser.open(URL + "/diagnose")
        self.browser.type("url", self.app.authorize_url(code_challenge_method="plain"))
        self.browser.press("Check")
        self.look("Check an integration")
        self.assertIn("Problem", self.status("Proof key (PKCE S256)"))

    def test_from_the_page_of_a_refusal(self):
        self.ask(redirect_uri=self.app.redirect_uri + "/")
        self.browser.press("Find out what is wrong")
        self.look("Check an integration")
        self.assertIn("Problem", self.status("Redirect URI is registered"))


class ErrorCodes(BrowserTestCase):
    def test_error_uri_leads_to_its_code(self):
        status, answer = post("/oauth/token", grant_type="nonsense", client_id="nobody")
        self.browser.open(answer["error_uri"])
        self.look("Error codes")
        fragment = answer["error_uri"].partition("#")[2]
        self.assertEqual(fragment, answer["error"])
        top = self.browser.driver.execute_script(
            "return document.getElementById(arguments[0]).getBoundingClientRect().top", fragment
        )
        self.assertLess(top, 900)


class KoreanReference(BrowserTestCase):
    language = "ko"

    def test_pages(self):
        for path, heading in (("/oauth/errors", "오류 코드"), ("/diagnose", "연동 진단")):
            self.browser.open(URL + path)
            self.look(heading)
