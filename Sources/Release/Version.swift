private import CCommit

/// What both programs say they are.
package enum Version {
    /// The release, which CHANGELOG.md describes.
    package static let current = "0.1.0"

    /// What the programs were built from: `git describe`, or `development` if `scripts/release` did not build them.
    package static let commit = unsafe String(cString: merganser_commit)

    /// The answer to `--version`.
    package static let description = "\(current) (\(commit))"
}
