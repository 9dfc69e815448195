/// Asks before another account of the same person goes into the one that is signed in, and shows what moves
/// (accounts §4.8).
package struct MergeQuestionPage: WebPage {
    /// How many things move, by kind.
    package struct Moves: Equatable, Sendable {
        var methods: Int
        var devices: Int
        var apps: Int
        var agents: Int
        var approvals: Int
        /// Sign-ins elsewhere that were approved on a phone.
        var signIns: Int

        package init(methods: Int, devices: Int, apps: Int, agents: Int, approvals: Int, signIns: Int) {
            self.methods = methods
            self.devices = devices
            self.apps = apps
            self.agents = agents
            self.approvals = approvals
            self.signIns = signIns
        }
    }

    /// The account that stays.
    var survivor: ShownUser
    var absorbed: ShownUser
    /// What opened the account that goes.
    var proof: ShownIdentity
    var moves: Moves
    /// Whether the person has seen another list a moment ago.
    var hasChanged: Bool
    var form: PostForm

    package init(
        into survivor: ShownUser, from absorbed: ShownUser, provenBy proof: ShownIdentity, moves: Moves,
        hasChanged: Bool, form: PostForm
    ) {
        self.survivor = survivor
        self.absorbed = absorbed
        self.proof = proof
        self.moves = moves
        self.hasChanged = hasChanged
        self.form = form
    }

    package func title(in texts: any Texts) -> String {
        hasChanged ? "\(texts.errorPrefix): \(texts.account.mergeQuestion)" : texts.account.mergeQuestion
    }

    package func content(in texts: any Texts) -> HTML {
        """
        <h1>\(texts.account.mergeQuestion)</h1>
        \(hasChanged ? alert(texts.account.mergeChanged) : nil)
        <h2>\(texts.account.goes)</h2>
        <div class="owner">
        \(absorbed.html(in: texts))
        </div>
        <p class="note">\(texts.account.signedInWith(proof.html(in: texts)))</p>
        <h2>\(texts.account.stays)</h2>
        <div class="owner">
        \(survivor.html(in: texts))
        </div>
        <h2>\(texts.account.moves)</h2>
        <ul class="scopes">
        \(lines(texts))</ul>
        <p class="caution">\(texts.account.mergeEffect)</p>
        \(form.html(choice(texts)))
        """
    }

    private func lines(_ texts: any Texts) -> [HTML] {
        [
            (moves.methods, texts.account.movedMethods), (moves.devices, texts.account.movedDevices),
            (moves.apps, texts.account.movedApps), (moves.agents, texts.account.movedAgents),
            (moves.approvals, texts.account.movedApprovals), (moves.signIns, texts.account.movedSignIns),
        ].compactMap { count, text in
            count == 0 ? nil : "<li>\(Drawing.check)<span>\(text(count))</span></li>\n"
        }
    }

    private func choice(_ texts: any Texts) -> HTML {
        """
        <div class="choice">
        <a class="button" href="/account">\(texts.cancelButton)</a>
        <button class="button primary">\(texts.account.mergeButton)</button>
        </div>
        """
    }
}
