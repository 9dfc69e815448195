/// What a vector is about.
enum Flag {
    /// The header asks for another algorithm than the key's.
    case algorithm
    /// The header brings a key along, or points to one, or names none that is known.
    case keyChoice
    /// Extensions that must, or must not, be understood.
    case extensions
    /// More than one text for the same bytes, or none.
    case encoding
    /// JSON that readers disagree on.
    case json
    /// Numbers at the limits of what they may be.
    case range
    /// What is around a signed digest (RFC 8017 §9.2).
    case padding
    /// Legitimate, though not what one might expect.
    case legitimate
    /// What a key is for, by its own words.
    case purpose
    /// Too small, too large, too many.
    case size
}
