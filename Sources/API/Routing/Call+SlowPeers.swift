import Analytics
import Fetch
import HTTP
import Threads

extension Call {
    /// Runs a closure that waits for a slow peer, unless too many such calls are running: in all, for the app, or for
    /// the client's network.
    ///
    /// - Returns: nil, without waiting, if there are too many.
    func waitOutside<Result, Failure: Error>(
        for app: App.ID? = nil, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let holders = ["network \(request.remoteNetwork)"] + (app.map { ["app \($0)"] } ?? [])
        return try service.slowPeers.pass(for: holders, body)
    }
}

extension Request {
    /// The client's network, by which the server shares its limited resources. It is the same key by which nginx limits
    /// clients (`$merganser_client`).
    ///
    /// It is computed here again for two reasons. nginx has it as bytes, and a zero byte would end a FastCGI parameter.
    /// If the configuration lacked such a parameter, all clients would be one.
    var remoteNetwork: String {
        guard let address = IPAddress(remoteAddress) else { return remoteAddress }
        return "\(address.network)"
    }
}
