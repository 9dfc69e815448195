import HTTP
import Testing

@Suite struct ContentDispositionTests {
    @Test(arguments: [
        ("report.pdf", #"filename="report.pdf"; filename*=UTF-8''report.pdf"#),
        ("a b.txt", #"filename="a b.txt"; filename*=UTF-8''a%20b.txt"#),
        (#"a"b\c.txt"#, #"filename="a_b_c.txt"; filename*=UTF-8''a%22b%5Cc.txt"#),
        ("../../etc/passwd", #"filename=".._.._etc_passwd"; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd"#),
        ("a%22b", #"filename="a_22b"; filename*=UTF-8''a%2522b"#),
        ("Größe 😀.png", #"filename="Gr__e _.png"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%F0%9F%98%80.png"#),
        ("x\r\nSet-Cookie: a=b;", #"filename="x__Set-Cookie: a=b;"; filename*=UTF-8''x%0D%0ASet-Cookie%3A%20a%3Db%3B"#),
        ("'*(),;=", #"filename="'*(),;="; filename*=UTF-8''%27%2A%28%29%2C%3B%3D"#),
        ("\u{7F}\u{1}", #"filename="__"; filename*=UTF-8''%7F%01"#),
    ])
    func aFileNameEndsWhereItEnds(filename: String, value: String) {
        let field = HeaderField.attachment(filename: filename)
        #expect(field.name == "Content-Disposition" && field.value == "attachment; \(value)")
    }
}
