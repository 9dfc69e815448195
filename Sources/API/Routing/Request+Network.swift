import Fetch
import HTTP

extension Request {
    /// The client, for what the server shares out: one of those that nginx limits (`$merganser_client`).
    ///
    /// It is made here again because nginx has it as bytes, of which a zero would end a FastCGI parameter, and because a
    /// configuration without such a parameter would make all clients one.
    var remoteNetwork: String {
        guard let address = IPAddress(remoteAddress) else { return remoteAddress }
        return "\(address.network)"
    }
}
