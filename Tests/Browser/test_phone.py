"""Signing in by approving it on a phone (accounts §2.4, §4.2), without script: the page reloads itself."""

import html
import json
import os
import re
import subprocess
import urllib.request
import uuid

from selenium.webdriver.common.by import By

from browser import URL
from flow import FlowTestCase


class Phone:
    """The server's own app, signed in as a person."""

    def __init__(self, person):
        token = subprocess.run(
            [os.environ["MERGANSERCTL"], "dev", "token", "--provider", "apple", "--subject", person.subject, "--nonce", "n",
             "--email", person.email, "--email-verified", "true"],
            check=True, stdout=subprocess.PIPE, text=True,
        ).stdout.strip()
        self.pak = None
        body = {"device_uuid": str(uuid.uuid4()), "platform": "ios", "identity_token": token, "raw_nonce": "n"}
        self.pak = self.send("/auth/apple/session", body)["access_token"]

    def send(self, path, body=None):
        headers = {"Content-Type": "application/json"}
        if self.pak:
            headers["Authorization"] = f"Bearer {self.pak}"
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{URL}/api/v1{path}", data, headers)) as answer:
            return json.load(answer)

    def asked(self):
        """The id of the one request that waits."""
        [waiting] = [one["id"] for one in self.send("/me/push_approvals")["push_approvals"] if one["status"] == "pending"]
        return waiting


class PhoneTestCase(FlowTestCase):
    widths = (320, 414, 768, 1280)

    def setUp(self):
        super().setUp()
        self.phone = Phone(self.jane)

    def look(self, heading=None):
        """At a page that does not reload itself meanwhile."""
        self.browser.driver.execute_script("window.stop()")
        super().look(heading)

    def type_address(self, address):
        self.ask()
        self.browser.type("email", address)
        self.browser.press("Approve on your phone")

    @property
    def number(self):
        return self.browser.driver.find_element(By.CSS_SELECTOR, "p.code").text

    def approve(self):
        self.phone.send(f"/me/push_approvals/{self.phone.asked()}/approve", {"number_match": self.number})

    @property
    def request(self):
        return re.search("[?&]id=([^&]+)", self.browser.url)[1]

    def end(self):
        """Three minutes later."""
        change = f"UPDATE push_approval_requests SET expires_at = NOW() - INTERVAL 1 DAY WHERE public_id = '{self.request}'"
        subprocess.run([os.environ["MERGANSER_DB"], "-e", change], check=True)


class Number(PhoneTestCase):
    def test_the_page_goes_on_by_itself(self):
        self.ask()
        self.look("Sign in")
        self.type_address(self.jane.email)
        self.assertRegex(self.number, "^[1-9][0-9]$")
        self.approve()
        self.browser.until_heading("Allow Acme Photos to use your account?")
        self.assertIn(self.jane.email, self.browser.text)
        self.browser.press("Allow")
        self.app.redeem(self.code())

    def test_every_width(self):
        self.type_address(self.jane.email)
        self.look("Approve on your phone")
        # It no longer reloads itself, as in a browser that never does.
        self.browser.press("Check again")
        self.browser.driver.execute_script("window.stop()")
        self.approve()
        self.browser.press("Check again")
        self.look("Allow Acme Photos to use your account?")

    def test_another_way(self):
        self.type_address(self.jane.email)
        self.browser.press("Sign in another way")
        self.look("Sign in")
        self.sign_in()
        self.look("Allow Acme Photos to use your account?")

    def test_nobody_approves(self):
        for address in (self.jane.email, "nobody@example.com"):
            with self.subTest(address=address):
                self.browser.reset(self.language)
                self.type_address(address)
                self.end()
                self.browser.until_heading("Sign in")
                self.look("Sign in")
                self.assertEqual(len(self.browser.alerts), 1)

    def test_an_unknown_address_looks_the_same(self):
        pages = []
        for address in (self.jane.email, f"nobody.{self.jane.email}"):
            self.browser.reset(self.language)
            self.type_address(address)
            source = self.browser.driver.page_source
            for own in (self.number + "<", html.escape(self.browser.url.removeprefix(URL)), self.request):
                source = source.replace(own, "")
            source = re.sub("request=[A-Za-z0-9_-]+", "", source)
            self.browser.driver.execute_script("window.stop()")
            pages.append((source, [self.places(width) for width in self.widths]))
        self.assertEqual(pages[0], pages[1])

    def places(self, width):
        """Where everything stands."""
        self.browser.size(width)
        return self.browser.driver.execute_script(
            "return [...document.querySelectorAll('*')].map(e => [e.tagName, e.offsetTop, e.offsetLeft, e.offsetHeight])")


class Code(PhoneTestCase):
    def test_scanned(self):
        self.ask()
        self.browser.press("Scan a code with your phone")
        self.look()
        [drawing] = self.browser.driver.find_elements(By.CSS_SELECTOR, "svg.qr")
        for width in self.widths:
            self.browser.size(width)
            # Phones read squares of three pixels from a screen.
            self.assertGreaterEqual(drawing.rect["width"], 3 * 33, width)
            self.assertAlmostEqual(drawing.rect["width"], drawing.rect["height"], delta=1)
        self.assertEqual(self.browser.driver.find_elements(By.CSS_SELECTOR, "p.code"), [], "no number before the scan")
        self.browser.press("Check again")
        self.phone.send(f"/oauth/qr/{self.request}/scan", {})
        self.browser.until("document.querySelector('p.code') !== null")
        self.phone.send(f"/oauth/qr/{self.request}/approve", {"number_match": self.number})
        self.browser.until_heading("Allow Acme Photos to use your account?")

    def test_nobody_scans(self):
        self.ask()
        self.browser.press("Scan a code with your phone")
        self.end()
        self.browser.until_heading("Sign in")
        self.assertEqual(len(self.browser.alerts), 1)
