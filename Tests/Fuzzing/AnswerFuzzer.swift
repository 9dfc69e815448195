import Accounts
import Fetch
import Glibc
import Synchronization
import Threads
import Time

extension Fuzzer {
    /// Any bytes as the answer of a webhook's receiver, and any text as its Retry-After.
    static let answer = Fuzzer(name: "answer", maximumSize: 70_000) { input in
        try checkWait(input)
        try checkAnswer(input)
    }

    // MARK: Retry-After

    private static func checkWait(_ input: [UInt8]) throws {
        if let wait = DeliverySchedule.retryAfter(input.text, at: Timestamp(seconds: 1_795_339_691)) {
            try require(wait >= .zero, "nobody waits for the past")
        }
        // RFC 9110 §10.2.3: seconds, or a date as another writer writes it.
        let number = input.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let seconds = DeliverySchedule.retryAfter("\(number)", at: Timestamp(seconds: 0))
        try require(seconds.map { $0 <= .seconds(number) } == true, "a number is seconds")
        try require(number > 86_400 || seconds == .seconds(number), "all of them count")
        let date = DeliverySchedule.retryAfter(httpDate(number), at: Timestamp(seconds: 0))
        try require(date == .seconds(number), "a date is one")
    }

    private static func httpDate(_ seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let size = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return text.prefix(size).map { UInt8(bitPattern: $0) }.text
    }

    // MARK: Answers

    private static let limit = 4096

    private static func checkAnswer(_ input: [UInt8]) throws {
        let receiver = try FuzzedReceiver.shared.get()
        receiver.answer.withLock { $0 = input }
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        // For a machine that is busy with other tests; what hangs does so for longer.
        options.connectTimeout = .seconds(30)
        options.timeout = .seconds(30)
        options.maximumSize = limit
        options.cutsBody = true
        let result = Result { () throws(FetchError) in try Fetcher(options).post(receiver.url, body: Array("{}".utf8)) }
        switch result {
        case .failure(let error): try require(error.reason != .timeout, "an end of the connection ends it")
        case .success(let response):
            try require((100...999).contains(response.status), "a status has three digits")
            try require(response.body.count <= limit, "no more of the body is kept")
            let size = response.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
            // What is not UTF-8 takes up to three times as much as text.
            try require(size <= 3 * 65_536, "no more of the head is kept")
            for (name, value) in response.headers {
                try require(!name.utf8.contains(UInt8(ascii: ":")), "a name ends at the colon")
                try require(![0x20, 0x09, 0x0D, 0x0A].contains(value.utf8.last), "a value is trimmed")
                try require(!value.utf8.contains(UInt8(ascii: "\n")), "a field is a line")
            }
        }
    }
}

/// A receiver that answers one connection after the other until the process ends.
private final class FuzzedReceiver: Sendable {
    static let shared = Result { try FuzzedReceiver() }

    let url: String
    /// What it sends next, without a look at the request.
    let answer = Mutex<[UInt8]>([])

    private init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else { throw Violation("the receiver cannot listen") }
        url = "http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))/"
        Thread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 { serve(connection) }
        }.detach()
    }

    private func serve(_ connection: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // Once something came, so that the answer follows a request.
        _ = recv(connection, &buffer, buffer.count, 0)
        let bytes = answer.withLock { $0 }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            sent += count
        }
        shutdown(connection, Int32(SHUT_WR))
        // Until the sender has closed it: closing it now would reset it, and the answer might be lost.
        while recv(connection, &buffer, buffer.count, 0) > 0 {}
        close(connection)
    }
}
