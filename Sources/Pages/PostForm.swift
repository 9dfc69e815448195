/// Where a form of a page goes, and what it carries unseen: the request's handle and the token against forgery.
package struct PostForm: Equatable, Sendable {
    /// A path on this server.
    var action: String
    var hidden: [Field]

    package struct Field: Equatable, Sendable {
        var name: String
        var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(action: String, hidden: [Field]) {
        self.action = action
        self.hidden = hidden
    }

    /// The form around its visible controls.
    func html(_ controls: HTML) -> HTML {
        let inputs = hidden.map { field -> HTML in
            "<input type=\"hidden\" name=\"\(field.name)\" value=\"\(field.value)\">\n"
        }
        return """
            <form method="post" action="\(action)">
            \(inputs)\(controls)
            </form>
            """
    }
}
