import Foundation
import TestSupport
import Testing

/// What the programs are linked with.
@Suite struct ProgramTests {
    /// Foundation beyond its essentials brings ICU: tens of megabytes, which every start has to map and relocate.
    ///
    /// These programs name the libraries they load. Those that ship have them inside; `scripts/release` refuses the data
    /// of ICU there.
    @Test(arguments: ["merganserd", "merganserctl"])
    func noProgramLoadsICU(_ name: String) throws {
        let program = try Data(contentsOf: URL(filePath: Repository.program(name)), options: .alwaysMapped)
        #expect(program.range(of: Data("libswiftCore.so".utf8)) != nil, "its libraries are not to be found")
        for library in ["libFoundation.so", "libFoundationInternationalization.so", "lib_FoundationICU.so"] {
            #expect(program.range(of: Data(library.utf8)) == nil, "\(library)")
        }
    }
}
