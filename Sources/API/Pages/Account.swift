/// The signed-in account as pages show it.
struct Account: Equatable, Sendable {
    /// nil for a person who gave none.
    var name: String?
    /// The contact address.
    var email: String?

    init(name: String?, email: String?) {
        self.name = name
        self.email = email
    }

    /// What the account is called: by its name, else its address, else in words.
    func title(in texts: any Texts) -> String { name ?? email ?? texts.unnamedAccount }

    /// Initial, name and address in one block.
    func html(in texts: any Texts) -> HTML {
        let title = title(in: texts)
        let address: HTML? = name == nil ? nil : email.map { "<bdi class=\"address\">\($0)</bdi>" }
        return """
            <div class="account">
            <span class="initial" aria-hidden="true">\(title.prefix(1).uppercased())</span>
            <span class="who"><bdi class="name">\(title)</bdi> \(address)</span>
            </div>
            """
    }
}
