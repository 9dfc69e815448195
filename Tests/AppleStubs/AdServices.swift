// Declarations of Apple's AdServices that the client libraries use, from its documentation.
public import Foundation

public final class AAAttribution: NSObject {
    public class func attributionToken() throws -> String { throw CocoaError(.featureUnsupported) }
}
