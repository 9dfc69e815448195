import Accounts
import Database
import HTTP
import Pages
import SignInClaims
import Time

/// `GET /admin/merges?user_id=&order=&before=` (accounts §4.7).
@Sendable func showMerges(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let (user, before) = (try call.filter("user_id", User.self), try call.mergeBefore())
    let order = try call.listOrder()
    return try call.show("merges", of: user, to: console.administrator) { connection in
        try connection.merges(of: user, after: before, order, limit: ListLimit.usual)
    } answer: { page in
        let text = user.map { String($0.rawValue) } ?? ""
        let path = "\(ConsoleSection.merges.path)?user_id=\(text)"
        let sorting = Sorting(path: path, isOldestFirst: order == .oldest)
        return .page(
            MergesPage(
                user: text, merges: page.rows.map { ConsoleMerge($0, at: call.accounts.clock.now) },
                sorting: sorting,
                paging: Paging(path: sorting.firstPage, isFirst: before == nil, cursor: page.next)),
            in: call.language)
    }
}

/// `GET /admin/merges/{id}`: a merge or swap, both accounts as they are now, and what an undo would do.
@Sendable func showMerge(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    try call.mergePage(try call.mergeID(), of: console)
}

/// `POST /admin/merges/{id}/undo` (accounts Stage 6): takes a merge or swap back. If it cannot be, the page says what stands
/// in the way.
@Sendable func undoMerge(_ call: Call, _ console: ConsoleVisitor) throws -> Response {
    let id = try call.mergeID()
    let keepsChanged = try call.form.value("keep_changed") != nil
    do {
        return try call.change(from: mergePath(id), by: console) { transaction, changer in
            _ = try call.accounts.undoWithRecords(
                id, keepingChanged: keepsChanged, by: changer, in: transaction)
        }
    } catch let failure as Failure where failure.isOfUndo && !call.prefersJSON {
        return try call.mergePage(id, of: console, isRefused: true)
    }
}

private func mergePath(_ id: MergeID) -> String { "\(ConsoleSection.merges.path)/\(id.text)" }

extension Failure {
    fileprivate var isOfUndo: Bool {
        switch self {
        case .undoConflict, .undoNotPossible: true
        default: false
        }
    }
}

extension Call {
    fileprivate func mergePage(
        _ id: MergeID, of console: ConsoleVisitor, isRefused: Bool = false
    ) throws -> Response {
        let undo = try rehearseUndo(id, by: console)
        return try show("merges", id: id.text, to: console.administrator) { connection in
            try connection.mergeWithUsers(id)
        } answer: { found in
            guard let found else { throw Failure.notFound }
            let users = [found.survivor, found.absorbed].compactMap { $0 }.map(ConsoleUser.init)
            return .page(
                MergePage(
                    merge: ConsoleMerge(found.merge, at: accounts.clock.now), accounts: users, undo: undo,
                    isDone: isDone, isRefused: isRefused),
                isRefused ? .conflict : .ok, in: language)
        }
    }

    /// What an undo would do now, of which nothing remains.
    private func rehearseUndo(_ id: MergeID, by console: ConsoleVisitor) throws -> MergePage.Undo {
        func rehearse(keepingChanged: Bool) throws -> UndoneMerge {
            try Accounts.write(database, at: accounts.clock, from: origin, isRehearsal: true) { transaction in
                try accounts.undoWithRecords(
                    id, keepingChanged: keepingChanged, by: .administrator(console.session), in: transaction)
            }
        }
        do {
            do {
                return .possible(MergePage.Preview(try rehearse(keepingChanged: false), form: undoForm(id, console)))
            } catch Failure.undoConflict {
                return .possible(MergePage.Preview(try rehearse(keepingChanged: true), form: undoForm(id, console)))
            }
        } catch Failure.undoNotPossible(let obstacle) {
            return .impossible(MergePage.Obstacle(obstacle))
        }
    }

    private func undoForm(_ id: MergeID, _ console: ConsoleVisitor) -> PostForm {
        form(to: "\(mergePath(id))/undo", of: console)
    }
}

extension ConsoleMerge {
    fileprivate init(_ merge: ListedMerge, at now: Timestamp) {
        let undoState: UndoState =
            switch merge.undoState(at: now) {
            case .undone(let time): .undone(at: time)
            case .possible(let time): .possible(until: time)
            case .impossible: .impossible
            }
        self.init(
            id: merge.id.text, survivor: String(merge.survivor.rawValue), absorbed: String(merge.absorbed.rawValue),
            via: merge.mergedVia, at: merge.createdAt, undoState: undoState)
    }
}

extension MergePage.Preview {
    fileprivate init(_ undone: UndoneMerge, form: PostForm) {
        self.init(
            restored: undone.restored, unlinkedSubs: undone.unlinkedSubs,
            conflicts: undone.kept.map { conflict in
                let reason: MergePage.Conflict.Reason =
                    switch conflict.reason {
                    case .missing: .missing
                    case .moved: .moved
                    case .changed: .changed
                    case .taken: .taken
                    }
                return MergePage.Conflict(table: conflict.table, key: conflict.key, reason: reason)
            }, form: form)
    }
}

extension MergePage.Obstacle {
    fileprivate init(_ obstacle: UndoObstacle) {
        switch obstacle {
        case .alreadyUndone: self = .alreadyUndone
        case .windowOver: self = .windowOver
        case .noJournal: self = .noJournal
        case .laterMerge: self = .laterMerge
        case .accountDeleted: self = .accountDeleted
        case .lastIdentity: self = .lastIdentity
        }
    }
}
