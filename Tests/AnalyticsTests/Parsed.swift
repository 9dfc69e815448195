import JSON

func parsed(text: String) throws -> ParsedValue { try ParsedJSON(Array(text.utf8)).root }

/// The value as a request's body has it.
func parsed(_ value: JSONValue) throws -> ParsedValue { try ParsedJSON(value.json()).root }
