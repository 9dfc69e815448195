"""The pages of a person's own account (accounts §4.8), without script."""

import json
import pathlib
import tempfile

from selenium.webdriver.support.ui import WebDriverWait

from browser import URL
from flow import FlowTestCase
from phones import Phone


class AccountTestCase(FlowTestCase):
    widths = (320, 768, 1280, 1920)

    def setUp(self):
        """Jane with an app, a phone and two agents, of which one has asked."""
        super().setUp()
        self.ask()
        self.click(".google")
        self.jane.sign_in(self.browser)
        self.click("button[value=allow]")
        self.code()
        self.phone = Phone()
        self.phone.sign_in("google", self.jane.subject, self.jane.email)
        self.agent = self.phone.agent("Build agent")
        self.phone.agent("Übersetzer", "custom")
        self.phone.ask(self.agent, "git.push", "Push to main", "git push origin main\n3 commits")

    def click(self, selector):
        self.browser.leave(lambda: self.browser.driver.find_element("css selector", selector).click())

    def link(self, start):
        """The address of the one link that begins like this."""
        links = self.browser.driver.find_elements("css selector", f"main a[href^='{start}']")
        self.assertEqual(len(links), 1, start)
        return links[0].get_attribute("href")


class Account(AccountTestCase):
    def test_every_page(self):
        self.browser.open(f"{URL}/account")
        self.look()
        pages = [self.link("/account/devices/"), self.link("/account/apps/")]
        self.browser.open(f"{URL}/account/agents")
        agents = self.browser.driver.find_elements("css selector", "main a[href$='/revoke']")
        self.assertEqual(len(agents), 2)
        pages += [agents[0].get_attribute("href")]
        paths = ("history", "agents", "approvals", "export", "delete", "link", "merge")
        for page in pages + [f"{URL}/account/{path}" for path in paths]:
            with self.subTest(page):
                self.browser.open(page)
                self.assertEqual(self.browser.url, page)
                self.look()

    def test_the_data_is_downloaded(self):
        with tempfile.TemporaryDirectory() as folder:
            self.browser.tell("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
            file = pathlib.Path(folder) / f"account-{self.phone.user}.json"
            for _ in range(3):
                self.browser.open(f"{URL}/account/export")
                self.browser.driver.find_element("css selector", "main form button").click()
                # The browser makes the file first, then fills it.
                wait = WebDriverWait(self.browser.driver, 10, poll_frequency=0.02)
                wait.until(lambda _: file.exists() and file.stat().st_size)
                self.assertEqual(json.loads(file.read_text())["account"]["id"], self.phone.user)
                file.unlink()
            # The fourth of the day.
            self.browser.open(f"{URL}/account/export")
            self.click("main form button")
            self.look()
            self.assertEqual(len(self.browser.alerts), 1)


class KoreanAccount(Account):
    language = "ko"


class Keyboard(AccountTestCase):
    """Tab and Enter are enough."""

    def go(self, text):
        self.browser.tab_to(text)
        self.browser.enter()

    def test_an_agent_is_revoked(self):
        self.browser.open(f"{URL}/account")
        self.go("See agents")
        self.go("Revoke")
        self.look("Revoke Übersetzer?")
        self.go("Revoke")
        self.look("Your account")
        self.assertIn("can no longer ask", self.browser.text)
        self.go("See agents")
        self.assertNotIn("Übersetzer", self.browser.text)
        self.go("See requests")
        self.assertIn("Push to main", self.browser.text)
        self.assertNotIn("3 commits", self.browser.text)
        self.browser.tab_to("What it says")
        self.browser.key(" ")
        self.assertIn("3 commits", self.browser.text)
        self.look("Requests of agents")

    def test_the_account_is_deleted(self):
        self.browser.open(f"{URL}/account")
        self.go("Delete your account")
        self.look("Delete your account?")
        self.browser.tab_to("word").send_keys("remove")
        self.browser.enter()
        self.look("Delete your account?")
        self.assertEqual(len(self.browser.alerts), 1)
        self.browser.tab_to("word").send_keys("Delete")
        self.go("Delete")
        self.look("Your account was deleted")
        self.browser.open(f"{URL}/account")
        self.look("Sign in")
