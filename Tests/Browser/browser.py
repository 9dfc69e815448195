"""Chromium as a person uses it: sizes, colors, languages, keys; with script off unless a test says otherwise."""

import base64
import os
import unittest

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import page_checks

URL = os.environ["MERGANSER_URL"]
WIDTHS = (320, 768, 1280)


class Browser:
    """One window. What it logs about security is kept until somebody asks."""

    def __init__(self, script=False):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(argument)
        options.add_experimental_option(
            "prefs", {"profile.managed_default_content_settings.javascript": 1 if script else 2}
        )
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.agent = self.driver.execute_script("return navigator.userAgent")
        self.reset()

    def reset(self, language="en"):
        """A stranger's window: no cookies, a desktop's width, light."""
        self.driver.get("about:blank")
        self.tell("Network.clearBrowserCookies")
        self.tell("Network.setUserAgentOverride", userAgent=self.agent, acceptLanguage=language)
        self.size(1280)
        self.color("light")
        self.violations()

    def quit(self):
        self.driver.quit()

    def tell(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def size(self, width, height=900):
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def color(self, scheme):
        """Without motion, so that colors are what they are at once."""
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        self.tell("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features.items()])

    def violations(self):
        """What the content security policy refused since the last call."""
        log = self.driver.get_log("browser")
        return [entry["message"] for entry in log if "Content Security Policy" in entry["message"]]

    def screenshot(self, path, **parameters):
        picture = self.tell("Page.captureScreenshot", format="png", captureBeyondViewport=True, **parameters)
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    # --- Looking --------------------------------------------------------------------------------------------------

    @property
    def url(self):
        return self.driver.current_url

    @property
    def heading(self):
        return self.driver.find_element(By.TAG_NAME, "h1").text

    @property
    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    @property
    def alerts(self):
        return [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, "[role=alert]")]

    # --- Doing ----------------------------------------------------------------------------------------------------

    def open(self, url):
        self.driver.get(url)

    def press(self, text):
        """Clicks the one link or button with this text, and waits until the next page stands."""
        matches = [
            element
            for element in self.driver.find_elements(By.CSS_SELECTOR, "a, button")
            if element.is_displayed() and element.text == text
        ]
        assert len(matches) == 1, f"{len(matches)} controls say {text!r} on {self.url}: {self.text!r}"
        self.leave(matches[0].click)

    def type(self, name, text):
        field = self.driver.find_element(By.NAME, name)
        field.clear()
        field.send_keys(text)

    def key(self, *keys):
        """Presses keys where the focus is."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def tab_to(self, text):
        """Moves the focus forward until it is on the control with this text or name."""
        for _ in range(30):
            self.tell("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
            self.tell("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)
            element = self.driver.switch_to.active_element
            if text in (element.text, element.get_attribute("name")):
                return element
        raise AssertionError(f"Tab does not reach {text!r} on {self.url}")

    def enter(self):
        self.leave(lambda: self.key(Keys.ENTER))

    def leave(self, action):
        """Does what leads to another page, and waits for it: the document of now is gone, the next one complete."""
        self.driver.execute_script("document.documentElement.dataset.left = 1")
        action()
        self.until("document.readyState === 'complete' && !document.documentElement.dataset.left")

    def until_heading(self, heading):
        self.until("document.querySelector('h1')?.innerText === arguments[0]", heading)

    def until(self, condition, *arguments):
        """Between two documents there is none to ask, which is an error of its own."""
        WebDriverWait(self.driver, 10, poll_frequency=0.02, ignored_exceptions=(WebDriverException,)).until(
            lambda driver: driver.execute_script(f"return {condition}", *arguments)
        )


class BrowserTestCase(unittest.TestCase):
    """Tests that share a window. Each begins as a stranger, and fails when a page broke its policy."""

    script = False
    language = "en"
    widths = WIDTHS

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(script=cls.script)
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.browser.reset(self.language)

    def tearDown(self):
        self.assertEqual(self.browser.violations(), [])

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            self.browser.screenshot(os.path.join(os.environ["SCREENSHOTS"], f"{self.id()}.png"))
        return result

    def look(self, heading=None):
        """Asserts what is true of every page of the server, at every width, light and dark."""
        self.assertTrue(self.browser.url.startswith(URL + "/"), self.browser.url)
        if heading:
            self.assertEqual(self.browser.heading, heading)
        for fault in page_checks.faults(self.browser, self.language, self.widths):
            with self.subTest(page=self.browser.url.split("?")[0]):
                self.fail(fault)
