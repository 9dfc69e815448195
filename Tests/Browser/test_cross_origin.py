"""A browser client on another origin (accounts §2.12). It is script, so script is on."""

from browser import URL
from flow import FlowTestCase

# Resolves to the status and the answer's members, or to the error's name when the browser keeps them back.
FETCH = """
const [url, body, credentials, done] = arguments;
fetch(url, {method: 'POST', body: new URLSearchParams(body), credentials})
  .then(async answer => done([answer.status, await answer.json()]), error => done([error.name, null]));
"""


class CrossOrigin(FlowTestCase):
    script = True

    def fetch(self, path, body, credentials):
        return self.browser.driver.execute_async_script(FETCH, URL + path, body, credentials)

    def token_request(self):
        """Stands in the application, with a code."""
        self.ask()
        self.browser.press("Continue with Google")
        for field in ("subject", "email"):
            self.browser.type(field, getattr(self.jane, field))
        # With script on, the stand-in goes on by itself.
        self.browser.press("Continue")
        self.browser.until_heading("Allow Acme Photos to use your account?")
        self.browser.press("Allow")
        return {
            "grant_type": "authorization_code", "code": self.code(), "redirect_uri": self.app.redirect_uri,
            "client_id": self.app.client_id, "code_verifier": self.app.verifier,
        }

    def test_without_credentials(self):
        status, tokens = self.fetch("/oauth/token", self.token_request(), "omit")
        self.assertEqual(status, 200, tokens)
        self.assertIn("id_token", tokens)

    def test_with_credentials(self):
        self.assertEqual(self.fetch("/oauth/token", self.token_request(), "include"), ["TypeError", None])

    def test_errors_can_be_read(self):
        self.browser.open(self.app.origin)
        body = {"grant_type": "nonsense", "client_id": self.app.client_id}
        status, answer = self.fetch("/oauth/token", body, "omit")
        self.assertEqual((status, answer["error"]), (400, "unsupported_grant_type"))

    def test_nothing_else_is_open(self):
        self.browser.open(self.app.origin)
        for path in ("/oauth/device_authorization", "/oauth/introspect", "/session/logout"):
            self.assertEqual(self.fetch(path, {"client_id": self.app.client_id}, "omit"), ["TypeError", None], path)
