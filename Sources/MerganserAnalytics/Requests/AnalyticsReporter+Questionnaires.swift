public import Foundation
import MerganserClient

/// Whether a user is to be asked.
public enum QuestionnaireOffer: Hashable, Sendable {
    /// With the answers that the user has saved before.
    case ask(Questionnaire, saved: [String: QuestionnaireAnswer])
    /// `inactive`, `globally_dismissed`, `already_responded`
    case doNotAsk(reason: String)
}

/// A questionnaire, as the server defines it (analytics §12).
public struct Questionnaire: Hashable, Sendable, Decodable {
    /// One question.
    public struct Question: Hashable, Sendable, Decodable {
        /// What can be chosen.
        public struct Option: Hashable, Sendable, Decodable {
            /// Stands in the answer.
            public let id: String
            /// For the user.
            public let label: String
        }

        /// The key of its answer.
        public let id: String
        /// `text`, `single_choice`, `multi_choice`, `rating`, `nps`
        public let type: String
        /// For the user.
        public let title: String
        /// For the user, below the title.
        public let subtitle: String?
        /// Whether answers without it are incomplete.
        public let required: Bool
        /// Of a text: what its empty field shows.
        public let placeholder: String?
        /// Of a text: whether it may have several lines.
        public let multiline: Bool?
        /// Of a choice.
        public let options: [Option]?
        /// Of a rating: from 1 to this.
        public let scale: Int?
    }

    /// The questions.
    public struct Schema: Hashable, Sendable, Decodable {
        /// Of the form of `questions`: 1.
        public let version: Int
        /// In the order in which they are asked.
        public let questions: [Question]
    }

    /// Names it in the server's lists.
    public let id: String
    /// What apps ask for it by.
    public let slug: String
    /// For the user.
    public let name: String
    /// For the user.
    public let description: String?
    /// What is asked.
    public let schema: Schema
}

/// An answer to one question.
public enum QuestionnaireAnswer: Hashable, Sendable, Codable {
    /// A text, or the id of the option of a single choice.
    case text(String)
    /// The ids of the options of a multiple choice.
    case choices([String])
    /// A rating from 1 to 5, or from 0 to 10.
    case number(Int)

    /// Reads a text, a list of texts or an integer.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let choices = try? value.decode([String].self) {
            self = .choices(choices)
        } else {
            self = .text(try value.decode(String.self))
        }
    }

    /// Writes the value alone.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .text(let text): try value.encode(text)
        case .choices(let choices): try value.encode(choices)
        case .number(let number): try value.encode(number)
        }
    }
}

/// The server's receipt for answers.
public struct QuestionnaireReceipt: Hashable, Sendable {
    /// Names the response in the server's lists.
    public let id: String
    /// When the server took it.
    public let created: Date
    /// Whether this call completed the questionnaire; true once.
    public let wasSubmitted: Bool
}

extension AnalyticsReporter {
    /// Asks whether the present user is to be asked.
    ///
    /// - Parameters:
    ///   - slug: the questionnaire's.
    ///   - force: ask even those who have answered, or want no questionnaires.
    /// - Throws: `offline`, `refused`: 404 if there is no such questionnaire.
    public func questionnaire(_ slug: String, force: Bool = false) async throws(AnalyticsError) -> QuestionnaireOffer {
        struct Saved: Decodable { var answers: [String: QuestionnaireAnswer] }
        struct Reply: Decodable {
            var eligible: Bool
            var reason: String?
            var questionnaire: Questionnaire?
            var in_progress: Saved?
        }
        var query = [("user_id", userID)]
        if let bundleID = config.bundleID { query.insert(("bundle_id", bundleID), at: 0) }
        if force { query.append(("force", "true")) }
        let path = "/v1/questionnaires/\(slug.percentEncoded)?\(formEncoded(query))"
        let reply = try await answer(to: .init(method: "GET", path: path), as: Reply.self)
        guard reply.eligible, let questionnaire = reply.questionnaire else {
            return .doNotAsk(reason: reply.reason ?? "")
        }
        return .ask(questionnaire, saved: reply.in_progress?.answers ?? [:])
    }

    /// Saves answers, which the server merges with those saved before.
    ///
    /// - Parameters:
    ///   - answers: by the ids of their questions.
    ///   - slug: the questionnaire's.
    ///   - isComplete: whether the user is done.
    /// - Throws: `offline`, `refused`.
    @discardableResult
    public func save(
        _ answers: [String: QuestionnaireAnswer], of slug: String, isComplete: Bool
    ) async throws(AnalyticsError) -> QuestionnaireReceipt {
        struct Reply: Decodable {
            var id: String
            var created_at: String
            var was_submitted: Bool?
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let encoded = try? encoder.encode(answers) else { throw .refused(status: 400, message: "") }
        var object = submission()
        object.member("answers", json: encoded)
        object.member("is_complete", isComplete)
        let reply = try await answer(
            to: .init(path: "/v1/questionnaires/\(slug.percentEncoded)/responses", body: object.end()), as: Reply.self)
        let receipt = QuestionnaireReceipt(
            id: reply.id, created: Self.date(reply.created_at), wasSubmitted: reply.was_submitted ?? false)
        if receipt.wasSubmitted { track("sdk:questionnaire_submitted", attributes: ["slug": slug]) }
        return receipt
    }

    /// Says that the present user wants no questionnaires.
    ///
    /// - Throws: `offline`, `refused`.
    public func dismissQuestionnaires() async throws(AnalyticsError) {
        struct Reply: Decodable { var dismissed_at: String }
        var object = JSONText()
        object.member("bundle_id", config.bundleID)
        object.member("user_id", userID)
        _ = try await answer(
            to: .init(path: "/v1/questionnaires/dismiss", body: object.end()), as: Reply.self)
        track("sdk:questionnaire_dismissed")
    }
}
