/// What a scope means, in words for the person who is asked.
enum ScopeDescription {
    static func english(of scope: String) -> String {
        switch scope {
        case "openid": "Know who you are"
        case "profile", "profile:basic": "See your name"
        case "email": "See your e-mail address"
        case "phone": "See your phone number"
        case "address": "See your postal address"
        case "identity:level": "See how far your identity was verified"
        case "offline_access": "Stay signed in"
        default: "See \(scope)"
        }
    }
}
