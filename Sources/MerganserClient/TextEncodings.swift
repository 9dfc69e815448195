package import Foundation

extension Data {
    /// base64url without padding (RFC 4648 §5).
    package var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// nil unless the text is base64url without padding.
    package init?(base64URL text: some StringProtocol) {
        guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.init(base64Encoded: String(text).replacing("-", with: "+").replacing("_", with: "/") + padding)
    }

    /// b64u(n): base64url of `count` bytes from the system's generator.
    package static func randomBase64URL(bytes count: Int = 32) -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }).base64URL
    }
}

extension Sequence<UInt8> {
    /// base16 (RFC 4648 §8) in lower case.
    package var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
