import ErrorCodes
import HTTP

/// Every code the server answers, with its meaning, under an anchor of its own name (accounts §0.2, `error_uri`).
package struct ErrorCodesPage: WebPage {
    package let width = PageWidth.article

    package init() {}

    package func title(in texts: any Texts) -> String { texts.errorCodes }

    package func content(in texts: any Texts) -> HTML {
        let sections = ErrorCode.Section.allCases.map { section -> HTML in
            let entries = ErrorCode.allCases.filter { $0.section == section }.map { entry($0, texts) }
            return """
                <section>
                <h2>\(texts.section(section))</h2>
                <dl class="codes">
                \(entries)</dl>
                </section>

                """
        }
        return """
            <h1>\(texts.errorCodes)</h1>
            <p class="lede">\(texts.errorCodesIntroduction)</p>
            \(sections)
            """
    }

    private func entry(_ code: ErrorCode, _ texts: any Texts) -> HTML {
        let statuses = code.statuses.map { String($0.code) }.joined(separator: ", ")
        return """
            <div id="\(code.rawValue)">
            <dt><code>\(code.rawValue)</code> <span class="status">\(statuses)</span></dt>
            <dd>\(texts.meaning(code))</dd>
            </div>

            """
    }
}
