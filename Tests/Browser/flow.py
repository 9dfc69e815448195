"""What tests of sign-in and consent begin with: an application, and Jane."""

from browser import BrowserTestCase
from people import Person
from relying_party import RelyingParty


class FlowTestCase(BrowserTestCase):
    def setUp(self):
        super().setUp()
        self.app = RelyingParty()
        self.addCleanup(self.app.close)
        self.jane = Person()

    def ask(self, **parameters):
        self.browser.open(self.app.authorize_url(**parameters))

    def sign_in(self, person=None, provider="Google"):
        self.browser.press(f"Continue with {provider}")
        (person or self.jane).sign_in(self.browser)

    def connect(self):
        """Signs Jane in and allows everything."""
        self.ask()
        self.sign_in()
        self.browser.press("Allow")
        self.code()

    def answer(self):
        """What the application was told; the state must be its own."""
        answer = self.app.answer(self.browser.url)
        self.assertEqual(answer.pop("state"), self.app.state)
        return answer

    def code(self):
        answer = self.answer()
        self.assertEqual(list(answer), ["code"])
        return answer["code"]
