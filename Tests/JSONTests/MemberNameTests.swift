import JSON
import Testing

/// What members are called: a property's name in snake_case, and a name that somebody chose as it is.
@Suite struct MemberNameTests {
    /// Each property's value is the name its member must have.
    private struct Names: Codable, Equatable {
        var id = "id"
        var clientID = "client_id"
        var idToken = "id_token"
        var redirectURIs = "redirect_uris"
        var linkedSubIDsOfUser = "linked_sub_ids_of_user"
        var jwksURI = "jwks_uri"
        var downloadURLExpiresAt = "download_url_expires_at"
        var totalRevenueUSDCents = "total_revenue_usd_cents"
        var lastSDKName = "last_sdk_name"
        var isDev = "is_dev"
        var last4 = "last4"
        var sha256CertFingerprints = "sha256_cert_fingerprints"
        var mergedSHA256Digest = "merged_sha256_digest"
        var codeChallengeMethodsSupported = "code_challenge_methods_supported"
        var already_so = "already_so"
        var 이름 = "이름"
    }

    @Test func propertiesStandInSnakeCase() throws {
        let written = Names().json()
        let members = try [String: String](json: written)
        #expect(members.count == 16)
        #expect(members.allSatisfy { $0.key == $0.value })
        #expect(try Names(json: written) == Names())
    }

    @Test func propertiesAreNotReadByTheirOwnNames() {
        struct Credentials: Decodable { var clientID: String }
        #expect(throws: JSONError.missing(path: "client_id")) { try Credentials(text: #"{"clientID":"logi_1"}"#) }
    }

    @Test(arguments: ["client_i", "client_id_", "client__id", "_client_id", "clientid", "client_Id", "CLIENT_ID", ""])
    func otherNamesAreOtherMembers(name: String) throws {
        struct Credentials: Decodable { var clientID: String? }
        #expect(try Credentials(text: #"{"\#(name)":"logi_1"}"#).clientID == nil)
    }

    @Test(arguments: [#"client\u005fid"#, #"\u0063lient_id"#, #"client_i\u0064"#])
    func escapedNamesAreNames(name: String) throws {
        struct Credentials: Decodable { var clientID: String }
        struct Chosen: Decodable {
            enum CodingKeys: String, CodingKey { case clientID = "client_id" }
            var clientID: String
        }
        #expect(try Credentials(text: #"{"client_id":"no","\#(name)":"logi_1"}"#).clientID == "logi_1")
        #expect(try Chosen(text: #"{"client_id":"no","\#(name)":"logi_1"}"#).clientID == "logi_1")
    }

    /// Types of keys are remembered in fewer places than there are types here, and by several threads at once.
    @Test func eachTypeOfKeysHasItsOwnNames() async {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 { group.addTask { allHaveTheirNames(Int.self, more: 800) } }
            for await isRight in group { #expect(isRight) }
        }
    }

    /// Beyond 32 members they are found through an index.
    @Test func propertiesAreFoundInLargeObjects() throws {
        let others = (0..<40).map { #""clientID\#($0)":0"# }.joined(separator: ",")
        struct Credentials: Decodable { var clientID: String }
        #expect(try Credentials(text: #"{\#(others),"client_id":"logi_1"}"#).clientID == "logi_1")
    }

    @Test func errorsNameTheMember() {
        struct Options: Decodable { var droppedRPs: [Int] }
        struct Swap: Decodable { var mergeOptions: Options }
        #expect(throws: JSONError.missing(path: "merge_options.dropped_rps")) {
            try Swap(text: #"{"merge_options":{}}"#)
        }
        #expect(throws: JSONError.wrongType(path: "merge_options", expected: "an object")) {
            try Swap(text: #"{"merge_options":1}"#)
        }
    }

    @Test func wrappedPropertiesStandInSnakeCase() throws {
        struct Profile: Codable {
            @Nullable var contactEmail: String?
            var loginEmail: String?
        }
        #expect(text(Profile(contactEmail: nil)) == #"{"contact_email":null}"#)
        struct Change: Decodable {
            var contactEmail: Presence<String>
            @Exact var rawNonce: String?
        }
        let change = try Change(text: #"{"contact_email":null,"contactEmail":"no","raw_nonce":"n"}"#)
        #expect(change.contactEmail == .null && change.rawNonce == "n")
        #expect(try Change(text: "{}").contactEmail == .absent)
    }

    @Test func keysWithoutNamesOfTheirOwnAreProperties() {
        struct Part: Encodable {
            var ownerID = 1
            var inMemory = 2

            enum CodingKeys: CodingKey { case ownerID }
        }
        #expect(text(Part()) == #"{"owner_id":1}"#)
    }

    @Test func chosenNamesStandAsTheyAre() throws {
        struct AppleName: Codable, Equatable {
            var firstName: String
            var familyName: String
            var appIDs: [Int]

            enum CodingKeys: String, CodingKey {
                case firstName
                case familyName = "LastName"
                case appIDs
            }
        }
        let name = AppleName(firstName: "길동", familyName: "홍", appIDs: [1])
        #expect(text(name) == #"{"firstName":"길동","LastName":"홍","appIDs":[1]}"#)
        #expect(try AppleName(json: name.json()) == name)
        #expect(throws: JSONError.missing(path: "appIDs")) { try AppleName(text: #"{"firstName":"","LastName":""}"#) }
    }

    @Test func dictionariesKeepTheirKeys() throws {
        #expect(text(["userID": 1]) == #"{"userID":1}"#)
        #expect(try [String: Int](text: #"{"userID":1,"user_id":2}"#) == ["userID": 1, "user_id": 2])
        let value: JSONValue = ["userID": ["appIDs": []]]
        #expect(text(value) == #"{"userID":{"appIDs":[]}}"#)
        #expect(try JSONValue(json: value.json()) == value)
    }

    @Test func keysOfAnyNameStandAsTheyAre() {
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Line: Encodable {
            func encode(to encoder: any Encoder) throws {
                var line = encoder.container(keyedBy: Name.self)
                try line.encode(1, forKey: Name(stringValue: "requestID"))
            }
        }
        #expect(text(Line()) == #"{"requestID":1}"#)
    }
}

private struct Property<Kind>: Encodable {
    var ownID = 1
}

private struct Chosen<Kind>: Encodable {
    enum CodingKeys: String, CodingKey { case ownID }
    var ownID = 1
}

private enum Another<Kind> {}

/// Writes a value of two types for each of so many kinds.
private func allHaveTheirNames<Kind>(_: Kind.Type, more: Int) -> Bool {
    text(Property<Kind>()) == #"{"own_id":1}"# && text(Chosen<Kind>()) == #"{"ownID":1}"#
        && (more == 0 || allHaveTheirNames(Another<Kind>.self, more: more - 1))
}
