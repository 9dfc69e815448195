import Glibc

/// The brand's color in the roles that the style sheet gives it, in light and in dark pages. Every pair of a text and what
/// is behind it has a contrast of at least 4.5:1 (WCAG 2.2, 1.4.3).
package struct AccentColors: Sendable, Equatable {
    /// In one scheme.
    struct Scheme: Sendable, Equatable {
        var accent: Color
        /// On the accent.
        var text: Color
        /// The accent under the pointer.
        var raised: Color
    }

    let light: Scheme
    let dark: Scheme

    /// A pair of colors that cannot be told apart well enough.
    package struct LowContrast: Error, CustomStringConvertible {
        package let description: String
    }

    package static let merganser = AccentColors(
        light: Scheme(accent: Color(0x0a6b63), text: Color(0xffffff), raised: Color(0x085850)),
        dark: Scheme(accent: Color(0x63cfc3), text: Color(0x06201d), raised: Color(0x83dcd2)))

    private init(light: Scheme, dark: Scheme) {
        self.light = light
        self.dark = dark
    }

    /// - Parameters:
    ///   - light: the accent of light pages, `#rrggbb`.
    ///   - dark: the accent of dark pages; nil: the light one, as much lighter as it has to be.
    /// - Throws: the first pair whose contrast is too low.
    package init(light: Color, dark: Color?) throws(LowContrast) {
        self.light = try Scheme(light, on: StyleSheet.lightGrounds, in: "light pages")
        self.dark = try Scheme(
            dark ?? light.lightened(until: StyleSheet.darkGrounds.map(\.color)), on: StyleSheet.darkGrounds,
            in: "dark pages")
    }
}

/// What the accent stands on, with its name for people.
struct Ground: Sendable {
    var name: String
    var color: Color
}

extension AccentColors.Scheme {
    fileprivate init(
        _ accent: Color, on grounds: [Ground], in pages: String
    ) throws(AccentColors.LowContrast) {
        self.accent = accent
        text = accent.contrast(to: .white) >= accent.contrast(to: .black) ? .white : .black
        raised = accent.mixed(with: text == .white ? .black : .white, share: 0.18)
        for ground in grounds {
            try Self.check(
                accent, "the accent \(accent)", on: ground.color, "the \(ground.name) \(ground.color)", pages)
        }
        try Self.check(text, "the text \(text)", on: accent, "the accent \(accent)", pages)
        try Self.check(text, "the text \(text)", on: raised, "the accent under the pointer \(raised)", pages)
    }

    private static func check(
        _ color: Color, _ name: String, on ground: Color, _ groundName: String, _ pages: String
    ) throws(AccentColors.LowContrast) {
        let contrast = color.contrast(to: ground)
        if contrast < Color.leastContrast {
            let tenths = Int(contrast * 10)
            throw AccentColors.LowContrast(
                description: "\(name) on \(groundName) of \(pages) has a contrast of \(tenths / 10).\(tenths % 10):1")
        }
    }
}

/// An opaque sRGB color.
package struct Color: Sendable, Equatable, CustomStringConvertible {
    private let red: UInt8
    private let green: UInt8
    private let blue: UInt8

    static let white = Color(0xffffff)
    static let black = Color(0x000000)
    static let leastContrast = 4.5

    /// - Parameter rgb: `0xrrggbb`.
    init(_ rgb: UInt32) {
        red = UInt8(rgb >> 16 & 0xff)
        green = UInt8(rgb >> 8 & 0xff)
        blue = UInt8(rgb & 0xff)
    }

    /// `#rrggbb`; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"),
            text.utf8.dropFirst().allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let rgb = UInt32(text.dropFirst(), radix: 16)
        else { return nil }
        self.init(rgb)
    }

    package var description: String {
        let digits = String(UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue), radix: 16)
        return "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The contrast ratio, from 1 to 21 (WCAG 2.2).
    func contrast(to other: Color) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    private var luminance: Double {
        func linear(_ part: UInt8) -> Double {
            let value = Double(part) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    func mixed(with other: Color, share: Double) -> Color {
        func mix(_ one: UInt8, _ two: UInt8) -> UInt32 {
            UInt32((Double(one) * (1 - share) + Double(two) * share).rounded())
        }
        return Color(mix(red, other.red) << 16 | mix(green, other.green) << 8 | mix(blue, other.blue))
    }

    /// The color with as little white as it needs on dark grounds.
    func lightened(until grounds: [Color]) -> Color {
        for percent in 0...100 {
            let color = mixed(with: .white, share: Double(percent) / 100)
            if grounds.allSatisfy({ color.contrast(to: $0) >= Self.leastContrast }) { return color }
        }
        return .white
    }
}
