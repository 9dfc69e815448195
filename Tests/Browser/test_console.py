"""The pages of administration as support staff meet them (accounts §4.7), without script."""

import os
import subprocess

from selenium.webdriver.common.by import By

from browser import URL, BrowserTestCase
from people import Person
from phones import merganserctl


def account_of(person):
    query = ["-N", "-B", "-e", f"SELECT user_id FROM identities WHERE sub = '{person.subject}'"]
    return int(subprocess.run([os.environ["MERGANSER_DB"], *query], check=True, stdout=subprocess.PIPE).stdout)


class Console(BrowserTestCase):
    widths = (320, 768, 1280, 1920)

    def setUp(self):
        super().setUp()
        self.jane, self.ada = Person(), Person("Ada", "Admin")
        self.sign_in(self.jane)
        self.browser.reset(self.language)
        self.sign_in(self.ada)
        merganserctl("user", "role", str(account_of(self.ada)), "admin")
        self.jane_id = account_of(self.jane)

    def sign_in(self, person):
        """From the console, which asks for it, and back there."""
        self.browser.open(f"{URL}/admin")
        self.assertIn("/oauth/login", self.browser.url)
        self.click(".google")
        person.sign_in(self.browser)
        self.assertEqual(self.browser.url, f"{URL}/admin")

    def click(self, selector):
        self.browser.leave(self.browser.driver.find_element(By.CSS_SELECTOR, selector).click)

    def test_every_page(self):
        for path in (
            "", "/users", f"/users?query={self.jane.email}", f"/users/{self.jane_id}", "/merges", "/applications",
            "/webhook_outbox", "/webhook_outbox?state=dead", "/keys", "/audit_log",
        ):  # fmt: skip
            with self.subTest(path):
                self.browser.open(f"{URL}/admin{path}")
                self.look()

    def test_a_person_is_found_and_given_a_role(self):
        self.browser.open(f"{URL}/admin")
        self.browser.type("query", self.jane.email)
        self.click(".search .button")
        self.assertIn(self.jane.email, self.browser.text)
        self.browser.open(f"{URL}/admin/users/{self.jane_id}")
        self.browser.driver.find_element(By.CSS_SELECTOR, "#role option[value=developer]").click()
        self.click("form[action$=role] .button")
        self.assertIn("done=1", self.browser.url)
        self.assertEqual(merganserctl("user", "show", str(self.jane_id))["user"]["role"], "developer")

    def test_somebody_else_is_kept_out(self):
        self.browser.reset(self.language)
        self.sign_in(self.jane)
        self.look()
        self.assertEqual(len(self.browser.alerts), 1)


class KoreanConsole(Console):
    language = "ko"
