import Analytics
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
