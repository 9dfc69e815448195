/// There is no key set to check a token with, because none could be fetched yet, or because the last one is too old.
package struct KeySetUnavailable: Error, Equatable, Sendable {
    package let provider: Provider

    package init(_ provider: Provider) { self.provider = provider }
}
