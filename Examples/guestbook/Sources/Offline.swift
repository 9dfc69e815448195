import Foundation
import MerganserAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A network that is not there.
struct Offline: Transport {
    let timeout = Duration.seconds(1)

    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) { throw URLError(.notConnectedToInternet) }
}
