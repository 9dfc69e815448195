import Accounts
import IdentityTokens
import Pages
import Text

extension Call {
    /// The providers that a browser can sign in with.
    var webProviders: [Provider] {
        Provider.allCases.filter { accounts.identityTokens.providers[$0]?.webClientID != nil }
    }

    /// The provider in the path.
    func webProvider() throws -> (Provider, ProviderSettings, clientID: String) {
        guard let provider = Provider(bytes: arguments[0]),
            let settings = accounts.identityTokens.providers[provider], let clientID = settings.webClientID
        else { throw ErrorPage.Problem.notFound }
        return (provider, settings, clientID)
    }
}
