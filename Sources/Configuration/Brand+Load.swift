import FoundationEssentials
import Pages

extension Brand {
    /// The operator's brand; nil if a setting is wrong.
    static func read(_ variables: VariableReader) -> Brand? {
        let name = variables.optional(.brandName) { text throws(InvalidValue) in
            let isShown = text.unicodeScalars.allSatisfy {
                ![.control, .format].contains($0.properties.generalCategory)
            }
            guard text.unicodeScalars.count <= 60, isShown, text.contains(where: { !$0.isWhitespace }) else {
                throw InvalidValue("is \(quoted(text)); set 1 to 60 characters on one line")
            }
            return text
        }
        let logo = variables.optional(.brandLogo, logoFile)
        let accent = variables.optional(.brandAccent, accentColors)
        let support = variables.optional(.brandSupportURL, webURL)
        let privacy = variables.optional(.brandPrivacyURL, webURL)
        for (variable, value) in [
            (Variable.brandName, name != nil), (.brandLogo, logo != nil), (.brandAccent, accent != nil),
            (.brandSupportURL, support != nil), (.brandPrivacyURL, privacy != nil),
        ] where variables.isSet(variable) && !value { return nil }
        return Brand(
            name: name ?? Brand.merganser.name, logo: logo, accent: accent ?? .merganser, support: support,
            privacy: privacy)
    }
}

private func logoFile(_ path: String) throws(InvalidValue) -> BrandLogo {
    let bytes: [UInt8]
    do {
        bytes = [UInt8](try Data(contentsOf: URL(filePath: try absolutePath(path))))
    } catch let error as InvalidValue {
        throw error
    } catch {
        throw InvalidValue("names \(quoted(path)), which cannot be read; set the path of a file this process can read")
    }
    do throws(BrandLogo.Refused) {
        return try BrandLogo(bytes)
    } catch {
        throw InvalidValue("names \(quoted(path)), which \(error)")
    }
}

/// One color, or one for light and one for dark pages.
private func accentColors(_ text: String) throws(InvalidValue) -> AccentColors {
    let colors = text.split(separator: ",").map { Color(String($0.filter { $0 != " " })) }
    guard (1...2).contains(colors.count), let light = colors[0], colors.allSatisfy({ $0 != nil }) else {
        throw InvalidValue("is \(quoted(text)); set #rrggbb, or #rrggbb,#rrggbb for light and dark pages")
    }
    do throws(AccentColors.LowContrast) {
        return try AccentColors(light: light, dark: colors.count > 1 ? colors[1] : nil)
    } catch {
        throw InvalidValue(
            "is \(quoted(text)): \(error); 4.5:1 is the least; set a darker color for light pages, "
                + "a lighter one for dark pages")
    }
}

private func webURL(_ text: String) throws(InvalidValue) -> String {
    guard text.hasPrefix("https://"), WebURL(text) != nil else {
        throw InvalidValue("is \(quoted(text)); set an https URL, such as https://example.com/help")
    }
    return text
}
