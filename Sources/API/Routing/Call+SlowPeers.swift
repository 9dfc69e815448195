import Analytics
import Fetch
import HTTP

extension Call {
    /// Runs what waits for somebody outside, unless too many do so already, or too many for one app or one client's network.
    ///
    /// - Returns: nil, at once, when it may not wait.
    func waitOutside<Result, Failure: Error>(
        for app: App.ID? = nil, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let holders = ["network \(request.remoteNetwork)"] + (app.map { ["app \($0)"] } ?? [])
        return try service.slowPeers.pass(for: holders, body)
    }
}

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
