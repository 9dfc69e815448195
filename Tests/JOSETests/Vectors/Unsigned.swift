/// Numbers of any size, big-endian.
enum Unsigned {
    /// Of the size of the summands, or a byte more.
    static func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var carry = 0
        let digits = zip(left, right).reversed().map { (left, right) -> UInt8 in
            carry += Int(left) + Int(right)
            defer { carry >>= 8 }
            return UInt8(carry & 0xFF)
        }
        return (carry > 0 ? [UInt8(carry)] : []) + digits.reversed()
    }

    /// - Parameter right: no larger than the left number.
    static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var borrow = 0
        let digits = zip(left, right).reversed().map { (left, right) -> UInt8 in
            let digit = Int(left) - Int(right) - borrow
            borrow = digit < 0 ? 1 : 0
            return UInt8(digit & 0xFF)
        }
        return digits.reversed()
    }
}
