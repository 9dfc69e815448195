package import Database
import JSON
import MariaDB
import Text

/// Which campaign brought a user, according to the ad network (analytics §7).
package enum Attribution: Sendable {
    /// The network does not know yet.
    case pending
    case resolved(isAttributed: Bool, properties: [Properties.Entry])

    /// Interprets the network's answer.
    init(_ answer: JSONObject) {
        guard answer["attribution"] == true else {
            self = .resolved(isAttributed: false, properties: [(Properties.attributionSource, "none")])
            return
        }
        if let campaign = positive(answer["campaignId"]), positive(answer["adGroupId"]) == campaign,
            positive(answer["adId"]) == campaign
        {
            let properties = [(key: Properties.attributionSource, value: "apple_test_install")]
            self = .resolved(isAttributed: false, properties: properties)
            return
        }
        var properties = [(key: Properties.attributionSource, value: "apple_search_ads")]
        for (member, key) in Self.numbers {
            if let number = positive(answer[member]) { properties.append((key, number)) }
        }
        if let claimType = answer["claimType"]?.string, !claimType.isEmpty, !claimType.hasNUL {
            properties.append((Self.claimType, claimType.prefix(utf16: UpdateProperties.maximumValueLength)))
        }
        self = .resolved(isAttributed: true, properties: properties)
    }

    private static let numbers = [
        ("campaignId", "asa_campaign_id"), ("adGroupId", "asa_ad_group_id"), ("keywordId", "asa_keyword_id"),
        ("adId", "asa_ad_id"), ("creativeSetId", "asa_creative_set_id"),
    ]
    private static let claimType = "asa_claim_type"

    /// The keys of all properties that attribution stores.
    static let propertyNames = [Properties.attributionSource] + numbers.map(\.1) + [claimType]

    /// The outcome that a developer's request names; nil if it names no known outcome.
    package init?(mock: String) {
        switch mock {
        case "pending": self = .pending
        case "unattributed": self.init(JSONObject([("attribution", false)]))
        case "attributed":
            self.init(
                JSONObject([
                    ("attribution", true), ("campaignId", 542_370_539), ("adGroupId", 542_317_095),
                    ("keywordId", 87_675_432), ("creativeSetId", 542_317_096), ("adId", 542_317_097),
                    ("claimType", "click"),
                ]))
        default: return nil
        }
    }
}

extension Analytics {
    /// Merges an attribution's properties into those of the id's present owner (analytics §7).
    package func store(
        _ properties: [Properties.Entry], of user: EndUserID, in project: Project.ID, _ database: Database
    ) throws {
        let changes = PropertyChanges(properties)
        try write(database) { transaction in
            guard let owner = try transaction.lockOwner(of: user, in: project, orCreate: NewRecord()) else { return }
            _ = try transaction.setProperties(changes, of: owner, isCapped: false)
        }
    }
}

/// A positive number in decimal; nil for anything else.
private func positive(_ value: JSONValue?) -> String? {
    switch value {
    case .integer(let number) where number > 0: "\(number)"
    case .number(let number) where number > 0 && number.isFinite: String(decoding: number.json(), as: UTF8.self)
    default: nil
    }
}
