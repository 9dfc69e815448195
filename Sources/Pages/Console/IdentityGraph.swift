/// Who was absorbed into an account, by what and when, with its sign-in methods, devices and applications (accounts §4.7).
///
/// It is a drawing for whoever sees, and a list for screen readers, narrow windows, and for more than can be drawn.
package struct IdentityGraph: Sendable, ConsoleParts {
    package enum Kind: Sendable {
        /// The account that absorbed this one.
        case survivor
        case absorbed, absorbedSub
        case identity, device, application

        /// On the left stands what became of accounts, on the right what the account has.
        fileprivate var isOnTheLeft: Bool {
            switch self {
            case .survivor, .absorbed, .absorbedSub: true
            case .identity, .device, .application: false
            }
        }
    }

    package struct Node: Sendable {
        var kind: Kind
        /// What the node is, such as an id.
        var name: String
        /// By what and when.
        var detail: String

        package init(_ kind: Kind, _ name: String, detail: String) {
            self.kind = kind
            self.name = name
            self.detail = detail
        }
    }

    /// The account in the middle.
    var center: String
    var nodes: [Node]

    package init(center: String, nodes: [Node]) {
        self.center = center
        self.nodes = nodes
    }

    /// With the account itself.
    package static let largest = 50

    func html(in texts: ConsoleTexts) -> HTML {
        let isDrawn = nodes.count < Self.largest
        let drawing = isDrawn ? self.drawing(in: texts) : "<p class=\"note\">\(texts.graphTooLarge)</p>"
        let kind: HTML = isDrawn ? "graph" : "graph listed"
        let items = nodes.map { node -> HTML in
            "<li>\(words(for: node.kind, in: texts)): \(chosen(node.name)), \(chosen(node.detail))</li>\n"
        }
        return """
            <p class="lede">\(texts.graphLede)</p>
            <div class="\(kind)">
            \(drawing)
            <ul>
            \(items)</ul>
            </div>
            """
    }

    private func words(for kind: Kind, in texts: ConsoleTexts) -> String {
        switch kind {
        case .survivor: texts.mergedInto
        case .absorbed: texts.absorbed
        case .absorbedSub: texts.absorbedSub
        case .identity: texts.signedInWith
        case .device: texts.usesDevice
        case .application: texts.usesApplication
        }
    }

    // MARK: The drawing

    private static let (width, rowHeight, boxWidth, boxHeight) = (1120, 80, 320, 68)

    private func drawing(in texts: ConsoleTexts) -> HTML {
        let (left, right) = (nodes.filter(\.kind.isOnTheLeft), nodes.filter { !$0.kind.isOnTheLeft })
        let height = max(left.count, right.count, 1) * Self.rowHeight
        let middle = (Self.width - Self.boxWidth) / 2
        let leftBoxes = column(left, x: 0, height, in: texts)
        let rightBoxes = column(right, x: Self.width - Self.boxWidth, height, in: texts)
        let edges =
            leftBoxes.map { edge(from: Self.boxWidth, $0.y, to: middle, height / 2) }
            + rightBoxes.map { edge(from: middle + Self.boxWidth, height / 2, to: Self.width - Self.boxWidth, $0.y) }
        return """
            <svg viewBox="0 0 \(Self.width) \(height)" aria-hidden="true">
            \(edges)\(leftBoxes.map { $0.html })\(rightBoxes.map { $0.html })\
            \(box([], around: center, x: middle, y: height / 2, "center"))</svg>
            """
    }

    /// Nodes under one another, in the middle of the height.
    private func column(
        _ nodes: [Node], x: Int, _ height: Int, in texts: ConsoleTexts
    ) -> [(y: Int, html: HTML)] {
        let top = (height - nodes.count * Self.rowHeight) / 2
        return nodes.enumerated().map { index, node in
            let y = top + index * Self.rowHeight + Self.rowHeight / 2
            return (y, box([words(for: node.kind, in: texts), node.detail], around: node.name, x: x, y: y, "node"))
        }
    }

    /// - Parameter details: what stands above and below the name.
    private func box(_ details: [String], around name: String, x: Int, y: Int, _ kind: HTML) -> HTML {
        let top = y - Self.boxHeight / 2
        let lines = zip(details, [-14, 23]).map { detail, offset -> HTML in
            "<text class=\"detail\" x=\"\(x + Self.inset)\" y=\"\(y + offset)\">\(shortened(detail, size: 12))</text>"
        }
        return """
            <g class="\(kind)"><rect x="\(x + 1)" y="\(top)" width="\(Self.boxWidth - 2)" height="\(Self.boxHeight)" rx="10"/>\
            <text x="\(x + Self.inset)" y="\(y + 5)">\(shortened(name, size: 15))</text>\(lines)</g>

            """
    }

    private func edge(from x1: Int, _ y1: Int, to x2: Int, _ y2: Int) -> HTML {
        let half = (x1 + x2) / 2
        return "<path class=\"edge\" d=\"M\(x1) \(y1)C\(half) \(y1) \(half) \(y2) \(x2) \(y2)\"/>\n"
    }

    private static let inset = 14

    /// As much as fits into a box in a wide font. The list has all of it.
    ///
    /// - Parameter size: of the font, in units of the drawing.
    private func shortened(_ text: String, size: Double) -> String {
        var room = Double(Self.boxWidth - 2 * Self.inset) / size
        var fitting = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            room -= Self.advance(of: scalar)
            // With room for the dots.
            if room < 1 { break }
            fitting.append(scalar)
        }
        return fitting.count + 1 >= text.unicodeScalars.count && room >= 0 ? text : String(fitting) + "…"
    }

    /// How wide a character is at most, in ems, in the fonts that systems have.
    private static func advance(of scalar: Unicode.Scalar) -> Double {
        switch scalar {
        case "a"..."l", "n"..."v", "x"..."z", "0"..."9", " ", "-", "_", ".", ",", ":": 0.64
        case "A"..."L", "N"..."V", "X"..."Z": 0.78
        default: 1.05
        }
    }
}
