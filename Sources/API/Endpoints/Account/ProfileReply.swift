import Accounts
import JSON
import Time

/// The account as its owner sees it (accounts §1.7).
struct ProfileReply: Encodable {
    struct Profile: Encodable {
        var id: User.ID
        @Nullable var contactEmail: String?
        @Nullable var name: String?
        var anonymous: Bool
        @Nullable var nickname: String?
        var previouslyAnonymous: Bool
        var role: String
        var createdAt: String
    }

    var user: Profile

    init(_ user: User) {
        self.user = Profile(
            id: user.id, contactEmail: user.contactEmail, name: user.name, anonymous: user.anonymous,
            nickname: user.nickname, previouslyAnonymous: user.previouslyAnonymous, role: user.role.rawValue,
            createdAt: user.createdAt.iso8601)
    }
}
