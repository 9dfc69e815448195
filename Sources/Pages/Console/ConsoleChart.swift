/// Numbers of days as bars. It decorates the sum that stands beside it; the numbers themselves are in a table.
struct ConsoleChart {
    var values: [Int]

    private static let (step, bar, height) = (10, 7, 48)

    var html: HTML {
        let largest = max(values.max() ?? 0, 1)
        let bars = values.enumerated().map { index, value -> HTML in
            // A day with anything at all is seen.
            let size = value == 0 ? 1 : max(3, value * Self.height / largest)
            let kind: HTML = index == values.count - 1 ? " class=\"today\"" : .empty
            return """
                <rect\(kind) x="\(index * Self.step)" y="\(Self.height - size)" width="\(Self.bar)" height="\(size)" rx="1"/>
                """
        }
        return """
            <svg class="chart" viewBox="0 0 \(values.count * Self.step) \(Self.height)" preserveAspectRatio="none" \
            aria-hidden="true">\(bars)</svg>
            """
    }
}
