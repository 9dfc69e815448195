import JSON

/// The value as a request's body has it.
func parsed(_ value: JSONValue) throws -> ParsedValue { try ParsedJSON(value.json()).root }
