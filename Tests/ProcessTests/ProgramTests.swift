import Foundation
import TestSupport
import Testing

/// The libraries that the programs are linked with.
@Suite struct ProgramTests {
    /// All of Foundation, beyond its essentials, includes ICU: tens of megabytes that every start must map and
    /// relocate.
    ///
    /// These programs name the libraries that they load. The programs that ship contain them; `scripts/release` refuses
    /// ICU's data there.
    @Test(arguments: ["merganserd", "merganserctl"])
    func noProgramLoadsICU(_ name: String) throws {
        let program = try Data(contentsOf: URL(filePath: Repository.program(name)), options: .alwaysMapped)
        #expect(program.range(of: Data("libswiftCore.so".utf8)) != nil, "its libraries are not to be found")
        for library in ["libFoundation.so", "libFoundationInternationalization.so", "lib_FoundationICU.so"] {
            #expect(program.range(of: Data(library.utf8)) == nil, "\(library)")
        }
    }
}
