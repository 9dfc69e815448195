/// A QR code (ISO/IEC 18004) of bytes, at error correction level M.
///
/// An encoder of its own, since pages need only this much: one mode, one level, and versions that hold an address. A library
/// would be one more package on every server for it.
struct QRCode: Equatable {
    /// Modules on each side, without the quiet zone.
    let size: Int
    /// Row by row; true is dark.
    private(set) var modules: [Bool]
    /// Those that are no data.
    private var isFunction: [Bool]
    private let version: Int

    /// The most versions that are tried: 412 bytes.
    private static let versions = 1...15
    /// By version, from 1.
    private static let checkWordsPerBlock = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24]
    private static let blocks = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10]

    /// - Parameter mask: 0…7; nil: the one that is read best.
    /// - Returns: nil for more bytes than the largest version takes.
    init?(_ bytes: [UInt8], mask: Int? = nil) {
        guard let version = Self.versions.first(where: { Self.holds(bytes.count, $0) }) else { return nil }
        self.version = version
        size = version * 4 + 17
        modules = Array(repeating: false, count: size * size)
        isFunction = modules
        drawFunctionPatterns()
        draw(Self.words(bytes, version))
        let candidates = (mask.map { [$0] } ?? Array(0...7)).map { mask -> QRCode in
            var code = self
            code.apply(mask)
            code.drawFormat(mask)
            return code
        }
        if let best = candidates.min(by: { $0.penalty < $1.penalty }) { modules = best.modules }
    }

    subscript(row: Int, column: Int) -> Bool { modules[row * size + column] }

    /// The dark modules as the path of a drawing, one rectangle for each run; the quiet zone of four modules is around it.
    var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                var end = column
                while end < size, self[row, end] { end += 1 }
                if end > column { path += "M\(column + 4) \(row + 4)h\(end - column)v1h-\(end - column)z" }
                column = end + 1
            }
        }
        return path
    }
}

// MARK: Words

extension QRCode {
    private static func rawWords(_ version: Int) -> Int {
        var modules = (16 * version + 128) * version + 64
        if version >= 2 {
            let positions = version / 7 + 2
            modules -= (25 * positions - 10) * positions - 55
            if version >= 7 { modules -= 36 }
        }
        return modules / 8
    }

    private static func dataWords(_ version: Int) -> Int {
        rawWords(version) - checkWordsPerBlock[version - 1] * blocks[version - 1]
    }

    private static func countBits(_ version: Int) -> Int { version < 10 ? 8 : 16 }

    private static func holds(_ count: Int, _ version: Int) -> Bool {
        4 + countBits(version) + 8 * count <= 8 * dataWords(version)
    }

    /// Data and check words, interleaved.
    private static func words(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        let data = padded(bytes, version)
        let (blockCount, checkCount) = (blocks[version - 1], checkWordsPerBlock[version - 1])
        let (short, longBlocks) = data.count.quotientAndRemainder(dividingBy: blockCount)
        let divisor = ReedSolomon.divisor(checkCount)
        var parts: [(data: ArraySlice<UInt8>, check: [UInt8])] = []
        var start = 0
        for block in 0..<blockCount {
            let end = start + short + (block < blockCount - longBlocks ? 0 : 1)
            parts.append((data[start..<end], ReedSolomon.remainder(data[start..<end], divisor)))
            start = end
        }
        var words: [UInt8] = []
        for index in 0...short {
            for part in parts where index < part.data.count { words.append(part.data[part.data.startIndex + index]) }
        }
        for index in 0..<checkCount { words += parts.map { $0.check[index] } }
        return words
    }

    /// Byte mode, with the terminator and the padding.
    private static func padded(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, countBits(version))
        for byte in bytes { append(Int(byte), 8) }
        let capacity = 8 * dataWords(version)
        append(0, min(4, capacity - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var words = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var isEven = true
        while words.count < capacity / 8 {
            words.append(isEven ? 0xEC : 0x11)
            isEven.toggle()
        }
        return words
    }
}

/// Check words over GF(256) with the polynomial 0x11D.
private enum ReedSolomon {
    static func divisor(_ degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree)
        result[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    static func remainder(_ data: ArraySlice<UInt8>, _ divisor: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in result.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result: UInt8 = 0
        for shift in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7 &* 0x1D)
            if right >> shift & 1 == 1 { result ^= left }
        }
        return result
    }
}

// MARK: Modules

extension QRCode {
    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isFunction[row * size + column] = true
    }

    private mutating func drawFunctionPatterns() {
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawFinder(row, column) }
        let positions = alignmentPositions
        for row in positions {
            for column in positions {
                // Not where the finders are.
                let isTaken = [(6, 6), (6, size - 7), (size - 7, 6)].contains { $0 == (row, column) }
                if !isTaken { drawAlignment(row, column) }
            }
        }
        drawFormat(0)
        drawVersion()
    }

    /// With its separator.
    private mutating func drawFinder(_ row: Int, _ column: Int) {
        for down in -4...4 {
            for right in -4...4 where (0..<size).contains(row + down) && (0..<size).contains(column + right) {
                let distance = max(abs(down), abs(right))
                set(row + down, column + right, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignment(_ row: Int, _ column: Int) {
        for down in -2...2 {
            for right in -2...2 { set(row + down, column + right, max(abs(down), abs(right)) != 1) }
        }
    }

    /// Those of the centres in a row or a column.
    private var alignmentPositions: [Int] {
        if version == 1 { return [] }
        let count = version / 7 + 2
        let step = (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).map { size - 7 - $0 * step }.reversed()
    }

    /// Level M and the mask, twice.
    private mutating func drawFormat(_ mask: Int) {
        var rest = mask
        for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (mask << 10 | rest) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { set(index, 8, bit(index)) }
        set(7, 8, bit(6))
        set(8, 8, bit(7))
        set(8, 7, bit(8))
        for index in 9...14 { set(8, 14 - index, bit(index)) }
        for index in 0...7 { set(8, size - 1 - index, bit(index)) }
        for index in 8...14 { set(size - 15 + index, 8, bit(index)) }
        set(size - 8, 8, true)
    }

    /// From version 7 on.
    private mutating func drawVersion() {
        if version < 7 { return }
        var rest = version
        for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1F25 }
        let bits = version << 12 | rest
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            set(near, far, bits >> index & 1 == 1)
            set(far, near, bits >> index & 1 == 1)
        }
    }

    /// In columns of two, upwards and downwards by turns.
    private mutating func draw(_ words: [UInt8]) {
        var index = 0
        var right = size - 1
        while right >= 1 {
            if right == 6 { right = 5 }
            let isUpward = (right + 1) & 2 == 0
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFunction[row * size + column] && index < words.count * 8 {
                    modules[row * size + column] = words[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            right -= 2
        }
    }

    private mutating func apply(_ mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !isFunction[row * size + column] {
                let inverts =
                    switch mask {
                    case 0: (row + column) % 2 == 0
                    case 1: row % 2 == 0
                    case 2: column % 3 == 0
                    case 3: (row + column) % 3 == 0
                    case 4: (row / 2 + column / 3) % 2 == 0
                    case 5: row * column % 2 + row * column % 3 == 0
                    case 6: (row * column % 2 + row * column % 3) % 2 == 0
                    default: ((row + column) % 2 + row * column % 3) % 2 == 0
                    }
                if inverts { modules[row * size + column].toggle() }
            }
        }
    }

    /// The less, the better it is read.
    private var penalty: Int {
        var penalty = 0
        let finder = [true, false, true, true, true, false, true]
        let patterns = [finder + Array(repeating: false, count: 4), Array(repeating: false, count: 4) + finder]
        for isColumn in [false, true] {
            for line in 0..<size {
                let modules = (0..<size).map { isColumn ? self[$0, line] : self[line, $0] }
                var run = 0
                for index in modules.indices {
                    run = index > 0 && modules[index] == modules[index - 1] ? run + 1 : 1
                    if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
                }
                for start in 0...(size - 11) {
                    for pattern in patterns where modules[start..<start + 11].elementsEqual(pattern) { penalty += 40 }
                }
            }
        }
        for row in 0..<size - 1 {
            for column in 0..<size - 1 {
                let isDark = self[row, column]
                if isDark == self[row, column + 1], isDark == self[row + 1, column], isDark == self[row + 1, column + 1]
                {
                    penalty += 3
                }
            }
        }
        let dark = modules.count { $0 }
        penalty += abs(dark * 20 - modules.count * 10) / modules.count * 10
        return penalty
    }
}
