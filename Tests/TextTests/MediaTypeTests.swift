import Testing
import Text

@Suite struct MediaTypeTests {
    @Test(
        arguments: [
            ("application/json", "application/json"), ("application/json; charset=utf-8", "application/json"),
            (" Application/JSON ;a=b", "application/json"), ("text/plain\t", "text/plain"), ("", ""), (";", ""),
            ("É/x", "é/x"),
        ]) func isInLowerCaseWithoutParameters(text: String, type: String)
    {
        #expect(text.mediaType == type)
    }
}
