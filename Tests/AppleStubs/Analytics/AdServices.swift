// Declarations of Apple's AdServices that MerganserAnalytics uses, from its documentation.
public import Foundation

public final class AAAttribution: NSObject {
    public class func attributionToken() throws -> String { fatalError() }
}
