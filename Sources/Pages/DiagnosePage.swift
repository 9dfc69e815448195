/// What is wrong with an integration (accounts §2.12), and the form that asks.
package struct DiagnosePage: WebPage {
    package enum Status: String, CaseIterable, Sendable {
        case ok, fault, unknown
    }

    package enum Standing: String, CaseIterable, Sendable {
        case active, unknown, inactive
    }

    package struct Check: Equatable, Sendable {
        var id: String
        var status: Status
        /// What was found, in English.
        var message: String

        package init(id: String, status: Status, message: String) {
            self.id = id
            self.status = status
            self.message = message
        }
    }

    /// What was asked for, shown in the form again.
    package struct Question: Equatable, Sendable {
        var url = ""
        var clientID = ""
        var redirectURI = ""
        var scope = ""
        var codeChallengeMethod = ""

        /// Nothing was asked yet.
        package init() {}

        package init(url: String, clientID: String, redirectURI: String, scope: String, codeChallengeMethod: String) {
            self.url = url
            self.clientID = clientID
            self.redirectURI = redirectURI
            self.scope = scope
            self.codeChallengeMethod = codeChallengeMethod
        }
    }

    var question: Question
    /// nil before anything was asked.
    var standing: Standing?
    var checks: [Check]
    var server: [Check]

    package let width = PageWidth.article

    package init(
        question: Question = Question(), standing: Standing? = nil, checks: [Check] = [], server: [Check] = []
    ) {
        self.question = question
        self.standing = standing
        self.checks = checks
        self.server = server
    }

    package func title(in texts: any Texts) -> String { texts.diagnose }

    package func content(in texts: any Texts) -> HTML {
        """
        <h1>\(texts.diagnose)</h1>
        <p class="lede">\(texts.diagnoseIntroduction)</p>
        \(standing.map { result($0, texts) })
        \(form(texts))
        \(list(texts.server, server, texts))
        """
    }

    private func result(_ standing: Standing, _ texts: any Texts) -> HTML {
        let check = Check(
            id: texts.application, status: standing == .active ? .ok : .fault, message: texts.application(standing))
        return list(texts.checks, [check] + checks, texts)
    }

    private func list(_ heading: String, _ checks: [Check], _ texts: any Texts) -> HTML {
        if checks.isEmpty { return .empty }
        let items = checks.map { check -> HTML in
            """
            <li class="\(check.status.rawValue)">\(Drawing.sign(of: check.status))
            <div><h3>\(texts.check(check.id) ?? check.id)</h3>
            <p>\(texts.finding(check))</p></div>
            <span class="status">\(texts.status(check.status))</span></li>

            """
        }
        return """
            <section>
            <h2>\(heading)</h2>
            <ul class="checks">
            \(items)</ul>
            </section>
            """
    }

    private func form(_ texts: any Texts) -> HTML {
        """
        <form method="get" action="/diagnose" class="sheet">
        \(field("url", texts.authorizeURL, question.url, inputMode: "url"))
        <p class="or"><span>\(texts.orInParts)</span></p>
        <div class="fields">
        \(field("client_id", texts.clientID, question.clientID))
        \(field("redirect_uri", texts.redirectURI, question.redirectURI, inputMode: "url"))
        \(field("scope", "\(texts.scopes) (\(texts.optional))", question.scope))
        \(field(
            "code_challenge_method", "\(texts.challengeMethod) (\(texts.optional))", question.codeChallengeMethod))
        </div>
        <button class="button primary">\(texts.checkButton)</button>
        </form>
        """
    }

    private func field(_ name: String, _ label: String, _ value: String, inputMode: String = "text") -> HTML {
        """
        <div class="field"><label for="\(name)">\(label)</label>
        <input id="\(name)" name="\(name)" type="text" value="\(value)" dir="ltr" inputmode="\(inputMode)" \
        autocomplete="off" autocapitalize="none" autocorrect="off" spellcheck="false"></div>
        """
    }
}
