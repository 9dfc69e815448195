/// A definition that cannot be used.
package struct InvalidQuestionnaire: Error, Equatable {
    /// All that is wrong with it, a line each: `schema.questions[0].title: must be …`.
    package let faults: [String]
}
