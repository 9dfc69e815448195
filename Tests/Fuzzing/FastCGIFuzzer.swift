import Synchronization
import TestSupport

extension Fuzzer {
    /// Any bytes on a connection of the server's own accept loop, including libfcgi. Requests in nginx's format reach
    /// the handler unchanged and are answered in full. Any other bytes after them end the connection and have no
    /// further effect.
    ///
    /// If the first byte is odd, the input is a request that is still to be put into records: the size of the records,
    /// their padding, then lines `NAME=value`, an empty line, the body.
    static let fastCGI = Fuzzer(name: "fastcgi", maximumSize: 20_000) { input in
        let bytes = input.first.map { $0 & 1 == 1 ? built(Array(input.dropFirst())) : Array(input.dropFirst()) } ?? []
        var rest = bytes[...]
        let client = try FastCGIClient(FuzzedResponder.path.get())
        while let message = FastCGIMessage(&rest) {
            FuzzedResponder.handled.withLock { $0 = [] }
            do {
                try client.send(message.bytes)
            } catch {
                // Refused at its parameters, the connection is closed before all of a body was sent.
                if message.handled != nil { throw error }
            }
            let answer = try receiveAnswer(to: message, from: client)
            let handled = FuzzedResponder.handled.withLock { $0 }
            try require(handled == (message.handled.map { [$0] } ?? []), "the handler gets what was sent")
            try require(answer == message.answer, "the answer is whole")
            guard message.isKept else { return }
        }
        if FastCGIMessage.mayAbortLibrary(rest) { return }
        // Refused bytes have the connection closed before all were sent.
        try? client.send(Array(rest))
        client.finishSending()
        while let record = try client.receiveRecord() {
            try require(sentTypes.contains(record.type), "what is sent are records that a responder sends")
        }
    }

    private static let sentTypes = [
        FastCGIClient.RecordType.endRequest, FastCGIClient.RecordType.standardOutput,
        FastCGIClient.RecordType.getValuesResult, FastCGIClient.RecordType.unknownType,
    ]

    /// The bytes that the connection carries until the request is complete; nil if it ends before.
    private static func receiveAnswer(to message: FastCGIMessage, from client: FastCGIClient) throws -> [UInt8]? {
        var output: [UInt8] = []
        while let record = try client.receiveRecord() {
            try require(record.id == message.id, "an answer names its request")
            switch record.type {
            case FastCGIClient.RecordType.standardOutput: output += record.content
            case FastCGIClient.RecordType.endRequest:
                try require(record.content.prefix(5) == [0, 0, 0, 0, 0], "a request is completed")
                return output
            default: throw Violation("an answer has output alone")
            }
        }
        try require(output.isEmpty, "an answer is whole or there is none")
        return nil
    }

    private static func built(_ input: [UInt8]) -> [UInt8] {
        let recordSize = 1 + Int(input.first ?? 0)
        let padding = input.dropFirst().first ?? 0
        let lines = Array(input.dropFirst(2)).lines
        let parameters = lines.prefix { !$0.isEmpty }.map { line in
            let name = line.prefix { $0 != UInt8(ascii: "=") }
            return (name.text, line.dropFirst(name.count + 1).text)
        }
        let body = Array(lines.dropFirst(parameters.count + 1).joined(separator: [UInt8(ascii: "\n")]))
        return FastCGIClient.beginRequest()
            + FastCGIClient.stream(
                FastCGIClient.RecordType.parameters, FastCGIClient.encode(parameters), recordLength: recordSize,
                padding: padding)
            + FastCGIClient.stream(
                FastCGIClient.RecordType.standardInput, body, recordLength: recordSize, padding: padding)
    }
}
