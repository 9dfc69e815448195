"""The device flow from both sides (accounts §2.11)."""

from flow import FlowTestCase
from relying_party import post


class DeviceTestCase(FlowTestCase):
    def start(self):
        status, self.device = post("/oauth/device_authorization", client_id=self.app.client_id, scope="openid email")
        self.assertEqual(status, 200, self.device)

    def poll(self):
        return post(
            "/oauth/token", grant_type="urn:ietf:params:oauth:grant-type:device_code",
            device_code=self.device["device_code"], client_id=self.app.client_id,
        )

    def enter_code(self, code):
        self.browser.open(self.device["verification_uri"])
        self.look("Sign in")
        self.sign_in()
        self.look("Connect a device")
        self.browser.type("user_code", code)
        self.browser.enter()


class Device(DeviceTestCase):
    def test_allowed(self):
        self.start()
        # As people type it.
        self.enter_code(self.device["user_code"].lower().replace("-", " "))
        self.look("Connect a device to Acme Photos?")
        self.assertIn(self.device["user_code"], self.browser.text)
        self.browser.press("Allow")
        self.look("Your device is connected")
        status, tokens = self.poll()
        self.assertEqual(status, 200, tokens)

    def test_refused(self):
        self.start()
        self.enter_code(self.device["user_code"])
        self.browser.press("Cancel")
        self.look("Your device was not connected")
        self.assertEqual(self.poll()[1]["error"], "access_denied")

    def test_wrong_code(self):
        self.start()
        self.enter_code("BBBB-BBBB")
        self.look("Connect a device")
        self.assertEqual(len(self.browser.alerts), 1)
        self.browser.type("user_code", self.device["user_code"])
        self.browser.enter()
        self.look("Connect a device to Acme Photos?")

    def test_complete_address(self):
        """It spares the typing, not the comparing."""
        self.start()
        self.browser.open(self.device["verification_uri_complete"])
        self.sign_in()
        self.look("Connect a device")
        self.browser.press("Continue")
        self.look("Connect a device to Acme Photos?")
        self.assertIn(self.device["user_code"], self.browser.text)

    def test_keyboard(self):
        """Who is signed in types the code, Enter, and decides: the focus waits in the field."""
        self.start()
        self.connect()
        self.browser.open(self.device["verification_uri"])
        self.browser.key(self.device["user_code"])
        self.browser.enter()
        self.browser.tab_to("Allow")
        self.browser.enter()
        self.look("Your device is connected")


class KoreanDevice(DeviceTestCase):
    language = "ko"

    def test_allowed(self):
        self.start()
        self.browser.open(self.device["verification_uri"])
        self.look("로그인")
        self.browser.press("Google로 계속하기")
        self.jane.sign_in(self.browser)
        self.look("기기 연결")
        self.browser.type("user_code", "BBBB-BBBB")
        self.browser.enter()
        self.look("기기 연결")
        self.browser.type("user_code", self.device["user_code"])
        self.browser.enter()
        self.look("기기를 Acme Photos\u2060에 연결할까요?")
        self.browser.press("허용")
        self.look("기기가 연결되었습니다")
