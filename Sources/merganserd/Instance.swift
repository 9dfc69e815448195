import API
import Accounts
import Analytics
import Configuration
import Database
import FastCGI
import Files
import FoundationEssentials
import Glibc
import IdentityTokens
import Logging
import Mail
import Push
import Release
import Threads

/// One running server, from its start to its end.
///
/// It takes over nginx's socket only when it can answer. Until then, another instance keeps serving, or connections
/// wait. It does not wait for a provider's key set, because only that provider's tokens need it.
final class Instance {
    private let configuration: Configuration
    private let logger: Logger
    private let keySets: IdentityTokenVerifier
    /// nil: no mail is sent.
    private let mail: MailQueue?
    /// nil: no phone is notified.
    private let push: PushQueue?
    private let service: Service
    private let databaseStatistics = DatabaseStatistics()
    private let deliveryStatistics = DeliveryStatistics()
    /// Creates a thread's own database object.
    private let makeDatabase: @Sendable () -> Database
    private let readiness: Readiness
    private let dispatchers: Dispatchers

    init(_ configuration: Configuration, _ logger: Logger) throws {
        let configuration = try configuration.sharingAttachments()
        self.configuration = configuration
        self.logger = logger
        let slowPeers = SlowPeerGate(workers: configuration.server.threads)
        var limits = KeySetLimits()
        limits.waitingCallers = configuration.server.threads / 4
        keySets = IdentityTokenVerifier(
            providers: configuration.providers, cacheDirectory: configuration.server.stateDirectory, limits: limits,
            slowPeers: slowPeers)
        let serverKey = ServerKey(
            current: configuration.serverKey.bytes, previous: configuration.previousServerKey?.bytes)
        mail = configuration.mail.map { settings in
            MailQueue(settings) { outcome, reason in
                logger.warning("mail was not sent", metadata: ["outcome": "\(outcome)", "reason": "\(reason)"])
            }
        }
        let slowLog = configuration.server.slowStatement.map { threshold in
            SlowLog(threshold: threshold) { line in
                logger.notice("\(line.message)", metadata: line.fields.mapValues(Logger.MetadataValue.init))
            }
        }
        makeDatabase = { [databaseStatistics] in
            Database(configuration.database.connection, statistics: databaseStatistics, slowLog: slowLog)
        }
        let accounts = Accounts(
            settings: AccountsSettings(
                issuer: configuration.deployment.issuer.description, pakLifetime: configuration.pakLifetime,
                linkByEmail: configuration.linkByEmail,
                autoApprovesApplications: configuration.autoApprovesApplications,
                allowsBearerOnlyAgents: configuration.allowsBearerOnlyAgents,
                restoresWithinGrace: configuration.restoresWithinGrace, undoWindow: configuration.undoWindow,
                isDevelopment: configuration.deployment.environment == .development),
            serverKey: serverKey, identityTokens: keySets, apple: configuration.apple.map { AppleClient($0) })
        push = configuration.push.map { [makeDatabase] settings in
            PushQueue(settings) {
                PushTokenDirectory(accounts, makeDatabase)
            } onLoss: { outcome, reason in
                logger.warning("a phone was not notified", metadata: ["outcome": "\(outcome)", "reason": "\(reason)"])
            }
        }
        service = Service(
            accounts: accounts,
            analytics: Analytics(settings: configuration.analytics), front: Front(configuration.front),
            errorDocsBase: configuration.errorDocsBase, ownApps: OwnApps(configuration.ownApps),
            brand: configuration.brand, mail: mail, push: push, offersCodes: configuration.offersCodes,
            slowPeers: slowPeers, loadShedder: LoadShedder(limit: configuration.server.queueLimit), logger: logger)
        readiness = Readiness(
            makeDatabase, keySets, serverKey, tombstoneGrace: configuration.analytics.tombstoneGrace,
            undoWindow: configuration.undoWindow, anonymousInactivity: configuration.anonymousInactivity, logger)
        dispatchers = Dispatchers(
            service.accounts, Dispatcher.Options(isDevelopment: service.accounts.settings.isDevelopment),
            statistics: deliveryStatistics, makeDatabase: makeDatabase
        ) { kind, error in
            logger.warning("\(kind.plural) cannot be sent", metadata: ["error": "\(error)"])
        }
    }

    /// Runs until a signal ends the instance.
    func run() throws {
        blockAllSignals()
        // This changes the environment, so it runs before any other thread exists.
        let inherited = try ListeningSocket.inherited()
        try makeStateDirectory()
        try makeAttachmentDirectory()
        try makeSpoolFolders()
        let socket = try inherited ?? listeningSocket(configuration.server.socket)
        defer { socket.withdraw() }
        let server = try Server(socket: socket, options: serverOptions) { [service, makeDatabase] in
            let responder = Responder(service: service, database: makeDatabase())
            return { responder.respond(to: $0) }
        }
        let control = try startControl(server)
        defer { _ = control.drain() }

        keySets.start()
        defer { keySets.stop() }
        readiness.start()
        defer { readiness.stop() }
        logger.notice(
            "starting",
            metadata: ["version": "\(Version.description)", "threads": .stringConvertible(serverOptions.threads)])
        if mail == nil {
            logger.warning("MERGANSER_OTP_SENDER is not set: one-time passwords are made, but never sent to anybody")
        }
        if try waitUntilReady() {
            mail?.start()
            push?.start()
            service.loadShedder.beginServing()
            try server.start()
            try socket.publish()
            readiness.beginServing()
            dispatchers.start(configuration.server.dispatchers)
            ServiceManager.notify("READY=1\nSTATUS=serving")
            let place = inherited == nil ? configuration.server.socket : "inherited"
            logger.notice("serving", metadata: ["socket": "\(place)"])
            waitForEnd(server)
            drain(server)
        } else {
            logger.notice("stopped before it was ready")
        }
    }

    // MARK: Start

    private var serverOptions: Server.Options {
        var options = Server.Options(threads: configuration.server.threads)
        options.drainLimit = configuration.server.drainLimit
        options.onFault = { [logger] fault in
            let isClientGone = [.incompleteBody, .undeliveredAnswer].contains(fault)
            logger.log(level: isClientGone ? .debug : .warning, "request lost", metadata: ["reason": "\(fault)"])
        }
        return options
    }

    /// Whoever can write to this folder can choose the keys that verify identity tokens, so nobody else may write to
    /// it.
    private func makeStateDirectory() throws {
        let path = configuration.server.stateDirectory
        func refuse(_ why: String) -> StartFailure { .cannotMake("MERGANSER_STATE_DIRECTORY: \"\(path)\" \(why)") }

        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, access(path, W_OK) == 0 else {
            throw refuse("is not a folder that this process can write to; change that, or set another folder")
        }
        guard status.st_mode & 0o022 == 0 else { throw refuse("is writable by other users; run: chmod 0700 \(path)") }
    }

    private func makeAttachmentDirectory() throws {
        do {
            try AttachmentDirectory(configuration.analytics.attachments).prepare()
        } catch {
            throw StartFailure.cannotMake(
                "MERGANSER_ATTACHMENT_DIR: \(error); its parent folder must exist, this process must be able to write to "
                    + "it, and if MERGANSER_SOCKET_GROUP is set, this process must belong to that group"
            )
        }
    }

    private func makeSpoolFolders() throws {
        func refusal(_ variable: String, _ error: FileError) -> StartFailure {
            .cannotMake(
                "\(variable): \(error); its parent folder must exist, and this process must be able to write to it")
        }
        do { try configuration.mail?.prepare() } catch { throw refusal("MERGANSER_OTP_SENDER", error) }
        do { try configuration.push?.prepare() } catch { throw refusal("MERGANSER_PUSH_SENDER", error) }
    }

    private func listeningSocket(_ path: String) throws -> ListeningSocket {
        do {
            return try ListeningSocket.prepare(path: path, group: configuration.server.socketGroup)
        } catch {
            throw StartFailure.cannotMake(
                "cannot listen on \(path): \(error); its folder must exist and this process must be able to write to it"
            )
        }
    }

    /// The control socket answers from the start, so that callers who wait for this instance can ask what is missing.
    private func startControl(_ server: Server) throws -> Server {
        let socket = try listeningSocket(configuration.server.controlSocket)
        let metrics = Metrics(
            version: Version.current, instance: configuration.server.instance, threads: serverOptions.threads,
            requests: service.metrics, loadShedder: service.loadShedder, database: databaseStatistics,
            delivery: deliveryStatistics, keySets: keySets, mail: mail, push: push, server: server)
        var options = Server.Options(threads: 1)
        options.drainLimit = .seconds(1)
        let control = try Server(socket: socket, options: options) { [readiness, configuration] in
            let responder = ControlResponder(
                instance: configuration.server.instance, readiness: readiness, metrics: metrics)
            return { responder.respond(to: $0) }
        }
        try control.start()
        try socket.publish()
        return control
    }

    /// - Returns: false if a signal ended the wait.
    /// - Throws: if the schema or the server key does not fit; waiting would not change that.
    private func waitUntilReady() throws -> Bool {
        var nextNotice = ContinuousClock.now
        while true {
            let report = readiness.requirements
            if let problem = report.hopeless { throw StartFailure.unusable(problem) }
            if report.isReady { return true }
            if ContinuousClock.now >= nextNotice {
                // The service manager's start time-out is for starts that hang. This start reports what it waits for.
                ServiceManager.notify("STATUS=waiting for \(report.summary)\nEXTEND_TIMEOUT_USEC=10000000")
                nextNotice = .now + .seconds(1)
            }
            readiness.waitForDecision(atMost: .milliseconds(50))
            switch waitForSignal(atMost: .zero) {
            case .terminate, .interrupt: return false
            case .hangup: ignoreHangup()
            case nil: break
            }
        }
    }

    // MARK: Service and end

    /// Returns when a signal asks the instance to end. Until then, pings the watchdog while workers make progress.
    private func waitForEnd(_ server: Server) {
        var progress = WorkerProgress(threads: serverOptions.threads)
        let interval = ServiceManager.watchdogInterval.map { $0 / 3 }
        while true {
            switch waitForSignal(atMost: interval) {
            case .terminate, .interrupt: return
            case .hangup: ignoreHangup()
            case nil:
                let statistics = server.statistics
                if progress.isMade(
                    requests: statistics.requests, inFlight: statistics.requestsInFlight, at: .now)
                {
                    ServiceManager.notify("WATCHDOG=1")
                } else {
                    logger.error("no worker has finished a request for a minute; watchdog pings have stopped")
                }
            }
        }
    }

    private func ignoreHangup() {
        logger.notice(
            "SIGHUP is ignored: the configuration is read only at the start; to change it, start another instance")
    }

    private func drain(_ server: Server) {
        ServiceManager.notify("STOPPING=1\nSTATUS=draining")
        readiness.beginDraining()
        logger.notice("draining")
        let deadline = ContinuousClock.now + configuration.server.drainLimit
        // At once: another instance finds the events of the requests under way.
        dispatchers.beginStopping()
        let result = server.drain()
        dispatchers.stop()
        // At least a moment for what the last request had to send.
        mail?.stop(atMost: max(.seconds(1), deadline - ContinuousClock.now))
        push?.stop(atMost: max(.seconds(1), deadline - ContinuousClock.now))
        let metadata: Logger.Metadata = [
            "requests": .stringConvertible(result.requests), "cut": .stringConvertible(result.cut),
        ]
        if result.cut == 0 {
            logger.notice("stopped", metadata: metadata)
        } else {
            logger.warning("stopped at the drain limit with connections open", metadata: metadata)
        }
    }
}

extension Configuration {
    /// Sets nginx's group, which must be able to read the attachments if nginx sends them.
    fileprivate func sharingAttachments() throws(StartFailure) -> Configuration {
        guard let name = server.socketGroup else { return self }
        guard let group = Group(name) else {
            throw .cannotMake("MERGANSER_SOCKET_GROUP: there is no group \(name); set nginx's own, such as www-data")
        }
        var configuration = self
        if front.attachmentSender == .nginx { configuration.analytics.attachments.readers = group }
        return configuration
    }
}

extension Logger.MetadataValue {
    fileprivate init(_ value: SlowLog.Line.Value) {
        self =
            switch value {
            case .number(let number): .stringConvertible(number)
            case .text(let text): .string(text)
            }
    }
}

extension Front {
    fileprivate init(_ settings: FrontSettings) {
        self.init(
            publicURL: settings.publicURL, countryHeader: settings.countryHeader,
            sendsDownloads: settings.attachmentSender == .nginx, uploadPatience: settings.uploadPatience)
    }
}

extension OwnApps {
    fileprivate init(_ settings: OwnAppSettings) {
        self.init(
            appleAppIDs: settings.appleAppIDs,
            android: settings.androidPackage.map {
                Android(packageName: $0, certificateFingerprints: settings.androidFingerprints)
            })
    }
}
