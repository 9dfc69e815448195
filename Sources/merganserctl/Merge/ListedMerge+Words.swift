import Accounts
import ArgumentParser
import Time

extension ListedMerge {
    var words: String {
        let undo =
            switch undoState(at: Clock.system.now) {
            case .undone(let time): "undone \(time.iso8601)"
            case .possible(let time): "can be undone until \(time.iso8601)"
            case .impossible: "cannot be undone"
            }
        let users = "user \(absorbed.rawValue) into user \(survivor.rawValue)"
        return "\(id.text)  \(createdAt.iso8601)  \(users)  \(mergedVia)  \(undo)"
    }
}

extension MergeID: ExpressibleByArgument {
    public init?(argument: String) { self.init(text: argument) }
}

extension ToolError {
    init(unknown id: MergeID) {
        self.init(.notFound, "there is no merge \(id.text); `merganserctl merge list` shows them")
    }
}
