import ErrorCodes
import IdentityTokens
import Time

struct EnglishTexts: Texts {
    // On several pages
    let unnamedAccount = "Your account"
    let continueButton = "Continue"
    let cancelButton = "Cancel"
    let errorPrefix = "Error"
    let reference = "Reference"
    let help = "Help"
    let privacy = "Privacy"

    // Signing in
    let signIn = "Sign in"
    let chooseAccount = "Choose an account"
    func toContinue(to application: HTML) -> HTML { "to continue to \(application)" }
    let toConnectDevice: HTML = "to connect your device"
    let toOpenPage: HTML = "to continue"
    func continueWith(_ provider: Provider) -> String {
        switch provider {
        case .apple: "Continue with Apple"
        case .google: "Continue with Google"
        }
    }
    let orUseAnotherAccount = "or use another account"
    let noProvider = "There is no way to sign in here yet. Whoever runs this server has to set one up."
    func notice(_ notice: LoginPage.Notice) -> String {
        switch notice {
        case .cancelled: "You did not finish signing in. Try again, or choose another way."
        case .failed: "Signing in did not work. Please try again."
        case .unavailable: "Signing in is not possible at the moment. Please try again shortly."
        case .linkedToOtherAccount(.apple):
            "This e-mail address already belongs to an account with a different Apple sign-in. Use that one."
        case .linkedToOtherAccount(.google):
            "This e-mail address already belongs to an account with a different Google sign-in. Use that one."
        case .accountDeleted(let purgeAt):
            "This account was deleted, so nobody can sign in to it. It is erased on \(account.day(purgeAt))."
        case .notApproved: "The sign-in was not approved on a phone. Try again, or choose another way."
        }
    }

    // Approving on a phone
    let orOnPhone = "or with your phone"
    let emailLabel = "E-mail address of your account"
    let approveOnPhone = "Approve on your phone"
    let typeTheNumber = "Open the app on your phone and enter this number:"
    let approvalPatience =
        "You have 3 minutes, and this page goes on by itself. If no request comes to your phone, check the address, or sign in another way."
    let scanCode = "Scan a code with your phone"
    let scanTheCode = "Open the app on your phone and scan this code:"
    let checkAgain = "Check again"
    let signInAnotherWay = "Sign in another way"
    let pushTitle = "Sign-in request"
    let pushText = "Somebody is signing in to your account in a browser. Open the app to approve or deny it."
    let agentPushTitle = "An agent asks for approval"
    let agentPushText = "It wants to act for you. Open the app to see what it asks, and approve or reject it."

    // Consent
    func allowApplication(_ application: HTML) -> HTML { "Allow \(application) to use your account?" }
    func allowApplicationTitle(_ application: String) -> String { "Allow \(application)?" }
    func connectDevice(to application: HTML) -> HTML { "Connect a device to \(application)?" }
    func connectDeviceTitle(_ application: String) -> String { "Connect a device to \(application)?" }
    func willBeAble(_ application: HTML) -> HTML { "\(application) will be able to" }
    func scope(_ name: String) -> String {
        switch name {
        case "openid": "Recognize you when you sign in"
        case "profile:basic", "profile": "See your name and nickname"
        case "email": "See your e-mail address"
        case "phone": "See your phone number"
        case "address": "See your postal address"
        case "identity:level": "See how your identity was verified"
        case "offline_access": "Stay connected while you are away"
        default: "See what is stored about you as “\(name)”"
        }
    }
    func leadsToSite(_ host: HTML) -> HTML { "Next you go to \(host)" }
    func leadsToApp(_ scheme: HTML) -> HTML { "Next you go to the app \(scheme)" }
    let useAnotherAccount = "Use another account"
    let allowButton = "Allow"
    let compareCode = "Your device must show this code:"
    let onlyOwnDevice = "Allow it only if you started this yourself, on a device that is yours."

    // Devices
    let connectADevice = "Connect a device"
    let typeTheCode = "Enter the code that your device shows."
    let codeLabel = "Code"
    func notice(_ notice: DevicePage.Notice) -> String {
        switch notice {
        case .unknownCode:
            "No device is waiting with this code. Compare it with your device; after 10 minutes it needs a new one."
        case .tooManyTries: "Too many wrong codes. Wait 10 minutes, then try again."
        }
    }
    let deviceConnected = "Your device is connected"
    let deviceConnectedNext = "Continue on your device. You can close this page."
    let deviceNotConnected = "Your device was not connected"
    let deviceNotConnectedNext = "Nothing was shared with it. You can close this page."

    // Signing out
    let signOut = "Sign out"
    let signOutQuestion = "Sign out?"
    let signOutEffect = "You will be signed out in this browser. Apps you are signed in to stay connected."
    let signedOut = "You are signed out"
    let signedOutNext = "You can close this page."

    // A person's own account
    let account: any AccountTexts = EnglishAccountTexts()

    // What cannot go on
    func heading(_ problem: ErrorPage.Problem) -> String {
        switch problem {
        case .unknownApplication: "This app is not known here"
        case .unknownRedirect: "This app cannot be trusted with an answer"
        case .invalidRequest: "This link does not work"
        case .expired: "This took too long"
        case .otherBrowser: "Your browser was not recognized"
        case .forged: "This form could not be accepted"
        case .notFound: "There is no such page"
        case .adminRequired: "This page is for administrators"
        case .refused: "This could not be done"
        case .rateLimited: "Too many attempts"
        case .unavailable: "We are not available right now"
        case .unforeseen: "Something went wrong"
        }
    }
    func explanation(_ problem: ErrorPage.Problem) -> String {
        switch problem {
        case .unknownApplication:
            "The app you came from is not registered with us, or it was turned off. Tell the people who make it."
        case .unknownRedirect:
            "It asked to send you to an address that is not registered for it, so you stay here. "
                + "Tell the people who make it."
        case .invalidRequest:
            "Something is missing in it or stands there twice."
        case .expired: "Signing in has to be finished within 15 minutes."
        case .otherBrowser:
            "Use the browser that you began in, and let it keep cookies."
        case .forged:
            "It was sent from somewhere else, or from a page that was open for too long. Nothing was changed."
        case .adminRequired: "Sign out, then sign in as an administrator."
        case .refused: "Something has changed since you opened the page. Nothing was done. Go back and look again."
        case .notFound: "Check the address, or go back to where you came from."
        case .rateLimited: "Wait a few minutes, then try again."
        case .unavailable: "Please try again in a moment. Nothing was changed."
        case .unforeseen:
            "It is our fault, not yours. Please try again. If it happens again, tell us the reference below."
        }
    }
    let startAgain = "Go back to where you began and start again."
    let startAgainInApp = "Go back to the app and start again."
    let forDevelopers = "Do you make this app?"
    let diagnoseThis = "Find out what is wrong"

    // Diagnosis
    let diagnose = "Check an integration"
    let diagnoseIntroduction =
        "Finds the usual mistakes in how an app asks people to sign in. Nothing is sent to the app, and no secret is needed."
    let authorizeURL = "Authorize URL"
    let orInParts = "or in parts"
    let clientID = "Client ID"
    let redirectURI = "Redirect URI"
    let scopes = "Scopes"
    let challengeMethod = "Code challenge method"
    let optional = "optional"
    let checkButton = "Check"
    let application = "Application"
    func application(_ standing: DiagnosePage.Standing) -> String {
        switch standing {
        case .active: "Registered and active"
        case .inactive: "Registered, but not active: the operator has to approve it"
        case .unknown: "Not registered"
        }
    }
    let checks = "Checks"
    let server = "This server"
    func status(_ status: DiagnosePage.Status) -> String {
        switch status {
        case .ok: "In order"
        case .fault: "Problem"
        case .unknown: "Not known"
        }
    }
    func check(_ id: String) -> String? {
        switch id {
        case "scheme_underscore": "Scheme without underscore"
        case "idp_host_conflict": "Redirect away from this server"
        case "redirect_unregistered": "Redirect URI is registered"
        case "redirect_characters": "Redirect URI is well formed"
        case "openid_missing": "Scope openid"
        case "pkce_missing": "Proof key (PKCE S256)"
        case "database": "Database"
        case "signing_key": "Signing key"
        case "migrations": "Schema"
        default: nil
        }
    }
    func finding(_ check: DiagnosePage.Check) -> String { check.message }

    // Mail, as plain text
    let mergeCodeSubject = "Your code to merge two accounts"
    func mergeCode(_ code: String, at issuer: String) -> String {
        """
        Somebody who is signed in to another account at \(issuer) wants to merge your account with it. If that is you, type this code there:

            \(code)

        The code is valid for five minutes. It works only in the account that asked for it.

        If that is not you, do nothing, and share the code with nobody. Anyone who has it can take over your account.

        """
    }

    // Administration
    let console = ConsoleTexts.english

    // Error codes
    let errorCodes = "Error codes"
    let errorCodesIntroduction =
        "What the codes in this server’s answers mean, and what to do. An answer’s request_id helps us to find it in our logs."
    func section(_ section: ErrorCode.Section) -> String {
        switch section {
        case .oauth: "OAuth and OpenID Connect"
        case .requests: "Requests and credentials"
        case .accounts: "Accounts and devices"
        case .applications: "Applications"
        case .merging: "Merging accounts"
        case .approvals: "Approvals"
        }
    }
    func meaning(_ code: ErrorCode) -> String { code.meaningInEnglish }
}
