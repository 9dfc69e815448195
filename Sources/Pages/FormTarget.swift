/// The redirect URI that the answer to a form may lead to, as a page names it and as `form-action` has to
/// (Content Security Policy Level 3 §2.3.1): browsers apply that directive to the redirect that follows a POST.
package struct FormTarget: Equatable, Sendable {
    /// An origin, or a scheme with its colon.
    package let source: String
    /// What people see: the host with its port, or an app's scheme.
    package let name: String
    /// Whether it is an app's own scheme rather than a site.
    package let isApp: Bool

    package init(source: String, name: String, isApp: Bool) {
        self.source = source
        self.name = name
        self.isApp = isApp
    }
}
