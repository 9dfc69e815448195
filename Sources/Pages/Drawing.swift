import IdentityTokens

/// What pages draw, inside the document: nothing is fetched for it. All of it decorates words that stand beside it.
package enum Drawing {
    /// The server's emblem: a crested bird on the water.
    static let emblem: HTML = "<svg class=\"emblem\" viewBox=\"0 0 32 32\" aria-hidden=\"true\">\(bird)</svg>"

    /// The same as a file, for windows and bookmarks.
    package static let icon = Asset(
        path: "/oauth/icon.svg", mediaType: "image/svg+xml",
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\" fill=\"#0a7d74\">\(bird.markup)</svg>\n")

    private static let bird: HTML = """
        <path d="M2 8.6 10.4 7C11.6 4.1 14.3 2.4 17.4 2.6c2.2.1 4.1 1.1 5.4 2.7l5.4-1.7-3 4 4.8.2-4.6 3.1 3.4 1.9-5.2.9c-.7 \
        2.1-2.4 3.3-3.2 4.8-.9 1.7.2 3.5 2.2 3.5 2.1 0 4.2-.8 6.4-2.4-.5 5.6-4.9 9.8-11.4 9.8-7.2 0-11.6-4-11.6-8.9 \
        0-4.6 3.6-6.3 4.6-8.9.3-.8.2-1.5-.2-2.1Z"/>
        """

    /// As the providers' rules for sign-in buttons ask.
    static func logo(of provider: Provider) -> HTML {
        switch provider {
        case .apple:
            """
            <svg viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d="M12.152 6.896c-.948 \
            0-2.415-1.078-3.96-1.04-2.04.027-3.91 1.183-4.961 3.014-2.117 3.675-.546 9.103 1.519 12.09 1.013 1.454 2.208 \
            3.09 3.792 3.039 1.52-.065 2.09-.987 3.935-.987 1.831 0 2.35.987 3.96.948 1.637-.026 2.676-1.48 \
            3.676-2.948 1.156-1.688 1.636-3.325 1.662-3.415-.039-.013-3.182-1.221-3.22-4.857-.026-3.04 2.48-4.494 \
            2.597-4.559-1.429-2.09-3.623-2.324-4.39-2.376-2-.156-3.675 1.09-4.61 1.09zM15.53 3.83c.843-1.012 1.4-2.427 \
            1.245-3.83-1.207.052-2.662.805-3.532 1.818-.78.896-1.454 2.338-1.273 3.714 1.338.104 2.715-.688 \
            3.559-1.701"/></svg>
            """
        case .google:
            """
            <svg viewBox="0 0 48 48" aria-hidden="true"><path fill="#ea4335" d="M24 9.5c3.54 0 6.71 1.22 9.21 \
            3.6l6.85-6.85C35.9 2.38 30.47 0 24 0 14.62 0 6.51 5.38 2.56 13.22l7.98 6.19C12.43 13.72 17.74 9.5 24 \
            9.5z"/><path fill="#4285f4" d="M46.98 24.55c0-1.57-.15-3.09-.38-4.55H24v9.02h12.94c-.58 2.96-2.26 5.48-4.78 \
            7.18l7.73 6c4.51-4.18 7.09-10.36 7.09-17.65z"/><path fill="#fbbc05" d="M10.53 \
            28.59c-.48-1.45-.76-2.99-.76-4.59s.27-3.14.76-4.59l-7.98-6.19C.92 16.46 0 20.12 0 24c0 3.88.92 7.54 2.56 \
            10.78l7.97-6.19z"/><path fill="#34a853" d="M24 48c6.48 0 11.93-2.13 15.89-5.81l-7.73-6c-2.15 1.45-4.92 \
            2.3-8.16 2.3-6.26 0-11.57-4.22-13.47-9.91l-7.98 6.19C6.51 42.62 14.62 48 24 48z"/></svg>
            """
        }
    }

    /// Shapes that differ, so that no status is told by its color alone.
    static func sign(of status: DiagnosePage.Status) -> HTML {
        switch status {
        case .ok: check
        case .fault: warning
        case .unknown:
            """
            <svg class="sign" viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="8"/><path d="M7.6 7.9c0-1.4 \
            1-2.3 2.4-2.3s2.4.9 2.4 2.1c0 1.6-2.2 1.8-2.2 3.6M10.1 14.2v.2"/></svg>
            """
        }
    }

    static let check: HTML = """
        <svg class="sign" viewBox="0 0 20 20" aria-hidden="true"><path d="m4.5 10.5 3.6 3.7 7.4-8.4"/></svg>
        """

    static let warning: HTML = """
        <svg class="sign" viewBox="0 0 20 20" aria-hidden="true"><path d="M10 2.6 18.2 17H1.8ZM10 8v4.2M10 14.5v.2"/></svg>
        """

    static let done: HTML = """
        <svg class="sign" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="m15 24.6 6.4 6.4 \
        12-13.6"/></svg>
        """

    static let stopped: HTML = """
        <svg class="sign" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="M24 14v13M24 \
        33.4v.4"/></svg>
        """
}
