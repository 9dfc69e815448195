import OpenSSL
import Time

/// A ULID: 48 bits of milliseconds and 80 random bits, in 26 characters of Crockford's base32. ULIDs sort by their
/// time.
struct ULID: Comparable {
    let text: String

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    init(text: String) { self.text = text }

    /// Makes a ULID that sorts after `previous`, even if the clock stands still or goes back.
    init(at time: Timestamp, after previous: ULID?) {
        let fresh = ULID(milliseconds: UInt64(max(0, time.milliseconds)), random: randomBytes(10))
        if let previous, fresh <= previous {
            self = previous.successor
        } else {
            self = fresh
        }
    }

    /// Before every other one of its time.
    init(earliestAt time: Timestamp) {
        self.init(milliseconds: UInt64(max(0, time.milliseconds)), random: [UInt8](repeating: 0, count: 10))
    }

    private init(milliseconds: UInt64, random: [UInt8]) {
        var characters: [UInt8] = []
        for position in 0..<10 {
            characters.append(ULID.alphabet[Int(milliseconds >> (45 - 5 * UInt64(position)) & 31)])
        }
        var buffer = 0
        var bits = 0
        for byte in random {
            buffer = buffer << 8 | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                characters.append(ULID.alphabet[buffer >> bits & 31])
            }
            buffer &= 31
        }
        text = String(decoding: characters, as: UTF8.self)
    }

    private var successor: ULID {
        var characters = Array(text.utf8)
        for position in characters.indices.reversed() {
            let digit = (ULID.alphabet.firstIndex(of: characters[position]) ?? 0) + 1
            characters[position] = ULID.alphabet[digit % 32]
            if digit < 32 { break }
        }
        return ULID(text: String(decoding: characters, as: UTF8.self))
    }

    /// The time in the ULID.
    var timestamp: Timestamp {
        let milliseconds = text.utf8.prefix(10).reduce(Int64(0)) { value, character in
            value << 5 | Int64(ULID.alphabet.firstIndex(of: character) ?? 0)
        }
        return Timestamp(milliseconds: milliseconds)
    }

    static func < (left: ULID, right: ULID) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }
}
