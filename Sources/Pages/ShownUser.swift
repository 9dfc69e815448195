import Text

/// The signed-in account as pages show it.
package struct ShownUser: Equatable, Sendable {
    var name: String?
    /// The contact address.
    var email: String?

    package init(name: String?, email: String?) {
        self.name = name
        self.email = email
    }

    /// What the account is called: by its name, else its address, else in words. A blank name is none.
    func title(in texts: any Texts) -> String { givenName ?? email ?? texts.unnamedAccount }

    /// Initial, name and address in one block.
    func html(in texts: any Texts) -> HTML {
        let title = title(in: texts)
        // An address is smaller than a name, as more of it has to stand on one line.
        let kind: HTML = givenName == nil && email != nil ? "name address" : "name"
        let address: HTML? = givenName == nil ? nil : email.map { "<bdi class=\"address\">\($0)</bdi>" }
        return """
            <div class="account">
            <span class="initial" aria-hidden="true">\(title.prefix(1).uppercased())</span>
            <span class="who"><bdi class="\(kind)">\(title)</bdi> \(address)</span>
            </div>
            """
    }

    private var givenName: String? { name.isBlank ? nil : name }
}
