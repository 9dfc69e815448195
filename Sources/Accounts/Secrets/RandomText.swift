/// What random text is made of.
enum RandomAlphabet: String {
    case digits = "0123456789"
    case lowerCaseAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789"
    case lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
}

/// Characters that nobody can foresee, each as likely as any other, from the system's random generator.
func randomText(_ count: Int, of alphabet: RandomAlphabet) -> String {
    let characters = Array(alphabet.rawValue.utf8)
    return String(decoding: (0..<count).map { _ in characters[Int.random(in: characters.indices)] }, as: UTF8.self)
}
