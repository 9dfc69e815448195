extension Duration {
    /// By how much the clocks of two instances may differ.
    static let clockSlack = Duration.seconds(60)
}
