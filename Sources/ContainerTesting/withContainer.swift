import Testing

/// Performs `body` with a fresh container, which is `Container.current` during the call and ends afterwards. Calls may be
/// nested. Up to a hundred calls run at once, or fewer if the limit of open files is low; others wait. A call nested in another
/// does not wait, except in a `Task.detached`, which does not know of the outer container. Such calls deadlock if all running
/// tests with a container wait for them.
///
/// Omitted settings are the defaults of `purgefs run`: 64 GiB, no other apps. `options` are further options of `purgefs run`.
///
/// If a test of Swift Testing fails in `body`, its first failure gets the numbers and the last events of the container as a
/// comment, or as a warning if `body` throws. The test gets all events and the page of `purgefs report` as attachments.
/// Elsewhere, if `body` throws, both are written to the directory named by the variable PURGEFS_REPORTS.
///
/// Throws the error of `body`. Otherwise throws `ContainerError` if the container cannot be created or does not end cleanly,
/// and `CancellationError` if the task is cancelled while it waits for its turn.
@discardableResult
public func withContainer<R>(
    total: Container.Size? = nil, others: Container.Size? = nil, othersPurgeable: Container.Size? = nil,
    profile: Container.Profile? = nil, purgeLatency: Container.Span? = nil,
    protection: Container.ProtectionClass? = nil, thresholds: Container.Thresholds? = nil, options: [String] = [],
    isolation: isolated (any Actor)? = #isolation, _ body: (Container) async throws -> R
) async throws -> R {
    let settings = Container.Settings(
        total: total, others: others, othersPurgeable: othersPurgeable, profile: profile,
        purgeLatency: purgeLatency, protection: protection, thresholds: thresholds, options: options)
    return try await withContainer(settings, body)
}

/// Performs `body` with a fresh container that has these settings.
@discardableResult
public func withContainer<R>(
    _ settings: Container.Settings, isolation: isolated (any Actor)? = #isolation,
    _ body: (Container) async throws -> R
) async throws -> R {
    // A caller that holds a container must not wait for a permit: the holders of the other permits may be waiting for it.
    if Container.current != nil { return try await perform(settings, body) }
    return try await Permits.shared.perform { try await perform(settings, body) }
}

private func perform<R>(
    _ settings: Container.Settings, isolation: isolated (any Actor)? = #isolation,
    _ body: (Container) async throws -> R
) async throws -> R {
    let container = try await Threads.run { try Container(settings) }
    let result: Result<R, any Error>
    do {
        result = .success(try await ContainerScope.perform(container, body))
    } catch {
        result = .failure(error)
    }
    let end: Result<Void, any Error> = await Threads.run { Result { try container.end() } }
    let value = try result.get()
    try end.get()
    return value
}

/// The synchronous form: performs `body` with a fresh container. The calling thread is blocked while the container is being
/// mounted and unmounted. The number of such calls at once is not limited.
///
/// Evidence is kept only if `body` throws. A failing `#require` throws; a failing `#expect` does not. In an `async` context the
/// compiler prefers the `async` overload.
@_disfavoredOverload @discardableResult
public func withContainer<R>(
    total: Container.Size? = nil, others: Container.Size? = nil, othersPurgeable: Container.Size? = nil,
    profile: Container.Profile? = nil, purgeLatency: Container.Span? = nil,
    protection: Container.ProtectionClass? = nil, thresholds: Container.Thresholds? = nil, options: [String] = [],
    _ body: (Container) throws -> R
) throws -> R {
    let settings = Container.Settings(
        total: total, others: others, othersPurgeable: othersPurgeable, profile: profile,
        purgeLatency: purgeLatency, protection: protection, thresholds: thresholds, options: options)
    return try withContainer(settings, body)
}

/// The synchronous form: performs `body` with a fresh container that has these settings.
@_disfavoredOverload @discardableResult
public func withContainer<R>(_ settings: Container.Settings, _ body: (Container) throws -> R) throws -> R {
    let container = try Container(settings)
    let result = Result { try Container.$current.withValue(container) { try body(container) } }
    if case .failure = result {
        let evidence = ContainerEvidence(of: container)
        if let test = Test.current { evidence.attach(to: test) } else { evidence.keep(named: container.defaultName) }
    }
    let end = Result { try container.end() }
    let value = try result.get()
    try end.get()
    return value
}
