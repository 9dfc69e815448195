// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "guestbook",
    platforms: [.macOS(.v14)],
    // An app of yours names the repository's URL and a version.
    dependencies: [.package(name: "merganser", path: "../..")],
    targets: [
        .executableTarget(
            name: "guestbook", dependencies: [.product(name: "MerganserAuth", package: "merganser")], path: "Sources")
    ]
)
