/// Reads variables one by one and collects their problems, so that all are reported at once.
///
/// A variable with an empty value counts as not set, unless it says otherwise. If a method returns nil, it has reported
/// why.
final class VariableReader {
    private let environment: [String: String]
    private var problems: [ConfigurationError.Problem] = []

    private init(_ environment: [String: String]) {
        let emptiable = Variable.all.filter(\.isEmptyValue).map(\.name)
        self.environment = environment.filter { !$0.value.isEmpty || emptiable.contains($0.key) }
    }

    static func load<Part>(
        _ environment: [String: String], _ read: (VariableReader) -> Part?
    ) throws(ConfigurationError) -> Part {
        let variables = VariableReader(environment)
        guard let part = read(variables), variables.problems.isEmpty else {
            let sorted = Variable.all.flatMap { variable in
                variables.problems.filter { [variable.name, variable.fileName].contains($0.variable) }
            }
            throw ConfigurationError(problems: sorted)
        }
        return part
    }

    func isSet(_ variable: Variable) -> Bool {
        environment[variable.name] != nil || (variable.isSecret && environment[variable.fileName] != nil)
    }

    func report(_ variable: Variable, _ message: String) {
        problems.append(.init(variable: variable.name, message: message))
    }

    /// The value, or else the default; nil if it is wrong, or if it is required and not set.
    func value<Value>(_ variable: Variable, _ parse: (String) throws(InvalidValue) -> Value) -> Value? {
        if isSet(variable) { return optional(variable, parse) }
        switch variable.preset {
        case .text(let text):
            return self.parse(text, for: variable.name, parse)
        case .required:
            let orFile = variable.isSecret ? ", or \(variable.fileName) to the path of a file that holds it" : ""
            report(variable, "is not set; set it (form: \(variable.form))\(orFile)")
            return nil
        case .none, .computed:
            return nil
        }
    }

    /// The value; nil if it is not set, or wrong.
    func optional<Value>(_ variable: Variable, _ parse: (String) throws(InvalidValue) -> Value) -> Value? {
        guard variable.isSecret, let path = environment[variable.fileName] else {
            return environment[variable.name].flatMap { self.parse($0, for: variable.name, parse) }
        }
        if environment[variable.name] != nil {
            report(variable, "and \(variable.fileName) are both set; unset one of them")
            return nil
        }
        return self.parse(path, for: variable.fileName) { path throws(InvalidValue) in
            let text = try secretFile(path)
            do throws(InvalidValue) {
                return try parse(text)
            } catch {
                throw InvalidValue("names \(quoted(path)), whose content \(error.message)")
            }
        }
    }

    private func parse<Value>(
        _ text: String, for name: String, _ parse: (String) throws(InvalidValue) -> Value
    ) -> Value? {
        do throws(InvalidValue) {
            return try parse(text)
        } catch {
            problems.append(.init(variable: name, message: error.message))
            return nil
        }
    }
}

extension VariableReader {
    func integer(_ variable: Variable, in range: ClosedRange<Int>) -> Int? {
        value(variable) { text throws(InvalidValue) in try wholeNumber(text, in: range) }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ variable: Variable, _: Choice.Type) -> Choice? {
        value(variable) { text throws(InvalidValue) in
            guard let choice = Choice(rawValue: text) else {
                let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw InvalidValue("is \(quoted(text)); set one of: \(choices)")
            }
            return choice
        }
    }
}

extension Variable {
    var fileName: String { name + "_FILE" }
}
