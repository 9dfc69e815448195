import JSON
package import Logging
package import Time

/// Writes each event as one line of JSON: `time`, `level`, `message`, then the metadata sorted by key.
///
/// This target owns the form of a log line and how it leaves the process. Callers decide what to log, and must not log
/// secrets. As a second defense, metadata whose key indicates a secret is withheld.
package struct JSONLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata
    private let clock: Clock
    private let sink: LineSink

    package init(
        level: Logger.Level, metadata: Logger.Metadata = [:], sink: LineSink = .standardError, clock: Clock = .system
    ) {
        logLevel = level
        self.metadata = metadata
        self.clock = clock
        self.sink = sink
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var fields = metadata
        if let own = event.metadata { fields.merge(own) { $1 } }
        if let error = event.error { fields["error"] = .string("\(error)") }
        sink.write(
            LogLine(time: clock.now, level: event.level, message: event.message.description, metadata: fields).json())
    }
}
