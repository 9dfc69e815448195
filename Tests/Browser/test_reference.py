"""The pages that need nobody to sign in: `/oauth/errors`."""

from browser import URL, BrowserTestCase
from relying_party import post


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
        self.browser.open(URL + "/oauth/errors")
        self.look("오류 코드")
