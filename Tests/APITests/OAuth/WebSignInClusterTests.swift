import TestSupport
import Testing

/// Signing in with each request at another node of a cluster, which apply each other's commits a moment later.
@Suite(.enabled(if: !MariaDBServer.otherNodes.isEmpty)) struct WebSignInClusterTests {
    @Test func eachStepFindsTheOneBefore() throws {
        let scene = try OAuthScene()
        let rp = try scene.register(firstParty: true)
        try scene.app.database.settle()
        for number in 1...50 {
            let browser = TestBrowser(scene.app, nodes: MariaDBServer.otherNodes.count + 1)
            browser.open(scene.authorizePath(rp))
            try browser.signIn(as: "subject-\(number)", email: nil)
            #expect(browser.code != nil, "\(browser.answer)")
        }
    }
}
