"""Sign-in and consent as a person meets them (accounts §2.2, §2.4), without script."""

from browser import URL
from flow import FlowTestCase
from people import Person
from relying_party import RelyingParty


class SignIn(FlowTestCase):
    def test_google(self):
        self.ask()
        self.look("Sign in")
        self.assertIn("to continue to Acme Photos", self.browser.text)
        self.sign_in()
        self.look("Allow Acme Photos to use your account?")
        for text in (self.jane.email, "See your e-mail address", self.app.origin.removeprefix("http://")):
            self.assertIn(text, self.browser.text)
        self.browser.press("Allow")
        self.assertEqual(self.app.redeem(self.code())["email"], self.jane.email)

    def test_apple(self):
        """Apple alone tells a name."""
        self.ask()
        self.sign_in(provider="Apple")
        self.assertIn(self.jane.name, self.browser.text)
        self.browser.press("Allow")
        self.app.redeem(self.code())

    def test_refusal(self):
        self.ask()
        self.sign_in()
        self.browser.press("Cancel")
        self.assertEqual(self.answer()["error"], "access_denied")

    def test_a_refusal_is_not_remembered(self):
        self.test_refusal()
        self.ask()
        self.look("Allow Acme Photos to use your account?")

    def test_turning_back_at_the_provider(self):
        self.ask()
        self.browser.press("Continue with Apple")
        self.browser.press("Cancel")
        self.browser.press("Go on")
        self.look("Sign in")
        self.assertEqual(len(self.browser.alerts), 1)
        # Nothing is lost: the other way is still open.
        self.sign_in()
        self.browser.press("Allow")
        self.app.redeem(self.code())

    def test_provider_narrows_the_choice(self):
        self.ask(provider="apple")
        self.look("Sign in")
        self.assertIn("Continue with Apple", self.browser.text)
        self.assertNotIn("Continue with Google", self.browser.text)

    def test_consent_is_remembered(self):
        self.connect()
        self.ask()
        self.app.redeem(self.code())

    def test_more_scopes_are_asked_for_again(self):
        self.ask(scope="openid")
        self.sign_in()
        self.assertNotIn("See your e-mail address", self.browser.text)
        self.browser.press("Allow")
        self.code()
        self.ask(scope="openid email")
        self.look("Allow Acme Photos to use your account?")

    def test_another_account(self):
        self.ask()
        self.sign_in()
        self.browser.press("Use another account")
        self.look("Sign in")
        other = Person()
        self.sign_in(other)
        self.assertIn(other.email, self.browser.text)
        self.browser.press("Allow")
        self.assertEqual(self.app.redeem(self.code())["email"], other.email)


class Prompt(FlowTestCase):
    """Every value of `prompt`, for strangers and for people who are signed in."""

    def test_none_without_session(self):
        self.ask(prompt="none")
        self.assertEqual(self.answer()["error"], "login_required")

    def test_none_without_consent(self):
        self.ask()
        self.sign_in()
        self.ask(prompt="none")
        self.assertEqual(self.answer()["error"], "consent_required")

    def test_none_with_both(self):
        self.connect()
        self.ask(prompt="none")
        self.app.redeem(self.code())

    def test_login(self):
        self.connect()
        self.ask(prompt="login")
        self.look("Sign in")
        self.sign_in()
        self.app.redeem(self.code())

    def test_consent(self):
        self.connect()
        self.ask(prompt="consent")
        self.look("Allow Acme Photos to use your account?")
        self.browser.press("Allow")
        self.app.redeem(self.code())

    def test_select_account_and_stay(self):
        self.connect()
        self.ask(prompt="select_account")
        self.look("Choose an account")
        self.assertIn(self.jane.email, self.browser.text)
        self.browser.press("Continue")
        self.assertEqual(self.app.redeem(self.code())["email"], self.jane.email)

    def test_select_account_and_change(self):
        self.connect()
        self.ask(prompt="select_account")
        other = Person()
        self.sign_in(other)
        self.assertIn(other.email, self.browser.text)
        self.browser.press("Allow")
        self.assertEqual(self.app.redeem(self.code())["email"], other.email)

    def test_max_age(self):
        self.connect()
        self.ask(max_age="0")
        self.look("Sign in")


class Refused(FlowTestCase):
    """What ends on a page of the server, never in a redirect."""

    def test_unknown_application(self):
        self.ask(client_id="logi_" + "0" * 32)
        self.look("This app is not known here")

    def test_unregistered_redirect_uri(self):
        self.ask(redirect_uri=self.app.redirect_uri + "/")
        self.look("This app cannot be trusted with an answer")

    def test_forged_form(self):
        self.ask()
        self.sign_in()
        self.browser.driver.execute_script("document.querySelectorAll('[name=token]').forEach(i => i.value += 'x')")
        self.browser.press("Allow")
        self.look("This form could not be accepted")
        # Nothing was granted.
        self.ask(prompt="none")
        self.assertEqual(self.answer()["error"], "consent_required")

    def test_another_browser(self):
        self.ask()
        self.browser.tell("Network.clearBrowserCookies")
        self.browser.press("Continue with Google")
        self.look("Your browser was not recognized")


class Keyboard(FlowTestCase):
    """Tab and Enter are enough, and the focus is to be seen."""

    def go(self, text):
        element = self.browser.tab_to(text)
        outline = self.browser.driver.execute_script(
            "const s = getComputedStyle(arguments[0]); return [s.outlineStyle, parseFloat(s.outlineWidth)]", element
        )
        self.assertEqual(outline[0], "solid", text)
        self.assertGreaterEqual(outline[1], 2, text)
        self.browser.enter()

    def test_sign_in_and_allow(self):
        self.ask()
        self.go("Continue with Google")
        self.browser.tab_to("email").send_keys(self.jane.email)
        self.browser.type("subject", self.jane.subject)
        self.browser.enter()
        self.browser.enter()
        self.go("Allow")
        self.assertEqual(self.app.redeem(self.code())["email"], self.jane.email)

    def test_refuse(self):
        self.ask()
        self.sign_in()
        self.go("Cancel")
        self.assertEqual(self.answer()["error"], "access_denied")


class SignOut(FlowTestCase):
    def test_the_session_ends(self):
        self.connect()
        self.browser.open(URL + "/session/logout")
        self.look("Sign out?")
        self.browser.press("Sign out")
        self.look("You are signed out")
        self.ask(prompt="none")
        self.assertEqual(self.answer()["error"], "login_required")


class Names(FlowTestCase):
    """Names that are long, run the other way, or look like markup."""

    def walk(self, application, given_name, family_name):
        self.app.close()
        self.app = RelyingParty(application)
        self.jane = Person(given_name, family_name)
        self.ask()
        self.look("Sign in")
        self.sign_in(provider="Apple")
        self.look()
        for name in (application, given_name):
            self.assertIn(name, self.browser.text)
        self.browser.press("Allow")
        self.code()
        self.ask(prompt="select_account")
        self.look("Choose an account")

    def test_long(self):
        self.walk(
            "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 2, "Hubert Blaine",
            "Wolfeschlegelsteinhausenbergerdorff",
        )

    def test_right_to_left(self):
        self.walk("تطبيق الصور", "محمد", "عبد الله")

    def test_markup(self):
        self.walk("<script>document.title = 'x'</script>", "<img src=//x>", "\"'&amp;")


class Korean(FlowTestCase):
    language = "ko"

    def test_every_page_of_the_flow(self):
        self.ask(client_id="logi_" + "0" * 32)
        self.look("알 수 없는 앱입니다")
        self.ask()
        self.look("로그인")
        self.browser.press("Apple로 계속하기")
        Person("민수", "김").sign_in(self.browser)
        self.assertIn("김민수", self.browser.text)
        self.look("Acme Photos\u2060에 계정 사용을 허용할까요?")
        self.browser.press("허용")
        self.app.redeem(self.code())
        self.ask(prompt="select_account")
        self.look("계정 선택")
