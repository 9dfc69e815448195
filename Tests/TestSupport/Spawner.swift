import Threads

/// The only thread that starts child processes. It never ends.
///
/// Children ask the kernel for a signal when their parent ends (`PR_SET_PDEATHSIG`), and the kernel considers the
/// thread that started them to be their parent. The pools that run tests end threads.
enum Spawner {
    private static let jobs: Monitor<[@Sendable () -> Void]> = {
        let jobs = Monitor<[@Sendable () -> Void]>([])
        Thread {
            while true { jobs.wait(atMost: .seconds(3600)) { $0.isEmpty ? nil : $0.removeFirst() }?() }
        }.detach()
        return jobs
    }()

    static func run<T: Sendable, E: Error>(_ body: @escaping @Sendable () throws(E) -> T) throws(E) -> T {
        let result = Monitor<Result<T, E>?>(nil)
        jobs.change { jobs in
            jobs.append {
                let value = Result { () throws(E) in try body() }
                result.change { $0 = value }
            }
        }
        while true {
            if let value = result.wait(atMost: .seconds(3600), for: { $0 }) { return try value.get() }
        }
    }
}
