"""The longest names, addresses and scopes there may be, on every page that shows them."""

import random
import string
import urllib.parse

from selenium.webdriver.common.by import By

from browser import URL
from flow import FlowTestCase
from people import Person
from relying_party import RelyingParty, post


def letters(count):
    return "".join(random.choices(string.ascii_lowercase, k=count))


def longest_address():
    """254 characters, of which 64 stand before the sign (RFC 5321 §4.5.3.1)."""
    return f"{letters(64)}@{letters(63)}.{letters(63)}.{letters(58)}.de"


class LongTestCase(FlowTestCase):
    def press_first(self, selector):
        self.browser.leave(self.browser.driver.find_element(By.CSS_SELECTOR, selector).click)

    def enter(self, application, person, provider, scopes=("openid", "email")):
        """Signs a person in at an application of that name, and stops at the question for consent."""
        self.app.close()
        self.app = RelyingParty(application, scopes)
        self.ask(scope=" ".join(scopes))
        self.look()
        self.press_first(f".{provider}")
        person.sign_in(self.browser)
        self.assertIn("/oauth/consent", self.browser.url)

    def lines(self, text):
        """On how many lines the one element with this text stands."""
        return self.browser.driver.execute_script(
            "const [element] = [...document.querySelectorAll('bdi')].filter(e => e.textContent === arguments[0]);"
            "const range = document.createRange(); range.selectNodeContents(element);"
            "return new Set([...range.getClientRects()].map(box => box.top)).size",
            text,
        )


class Addresses(LongTestCase):
    def expect_one_line(self, person, provider):
        person.email = f"{letters(12)}@example.com"
        self.enter("Acme Photos", person, provider)
        self.assertEqual(self.lines(person.email), 1)
        self.press_first("[value=allow]")
        self.code()
        for url in (self.app.authorize_url(prompt="select_account", scope="openid email"), URL + "/session/logout"):
            self.browser.open(url)
            self.assertEqual(self.lines(person.email), 1)

    def test_24_characters_without_a_name(self):
        self.expect_one_line(Person("", ""), "google")

    def test_24_characters_with_a_name(self):
        self.expect_one_line(Person(), "apple")


class Longest(LongTestCase):
    application = "W" * 200
    given_name, family_name = "M" * 100, "w" * 99

    def walk(self, person, provider):
        person.email = longest_address()
        self.enter(
            self.application, person, provider, ("openid", "email", f"{letters(50)}:{letters(49)}", "acme:level")
        )
        self.look()
        self.press_first("[value=allow]")
        self.code()
        for url in (self.app.authorize_url(prompt="select_account", scope="openid email"), URL + "/session/logout"):
            self.browser.open(url)
            self.assertIn(person.email, self.browser.text)
            self.look()

        status, device = post("/oauth/device_authorization", client_id=self.app.client_id, scope="openid email")
        self.assertEqual(status, 200, device)
        self.browser.open(device["verification_uri_complete"])
        self.look()
        self.press_first(".primary")
        self.look()
        self.assertIn(device["user_code"], self.browser.text)

    def test_with_a_name(self):
        self.walk(Person(self.given_name, self.family_name), "apple")

    def test_without_a_name(self):
        self.walk(Person("", ""), "google")

    def test_diagnosis(self):
        query = urllib.parse.urlencode(
            {
                "client_id": self.app.client_id, "redirect_uri": "https://" + letters(60) + ".example/" + letters(1500),
                "scope": " ".join(letters(90) for _ in range(5)), "code_challenge_method": letters(200),
            }
        )
        self.browser.open(f"{URL}/diagnose?{query}")
        self.look()


class LongestKorean(Longest):
    language = "ko"
    application = "사진" * 100
    given_name, family_name = "가" * 100, "나" * 99
