import Testing

/// Performs `body` with a fresh container, which ends with it, and is `Container.current` meanwhile. Calls may be nested,
/// and up to a hundred of them run at once; others wait. A `Task.detached` in `body` does not know that there is a container
/// already: a call there waits too, and for ever if all who have one wait for such tasks.
///
/// What is left out is as `purgefs run` has it: 64 GiB, no other apps. `options` are further ones of `purgefs run`.
///
/// If a test of Swift Testing fails in `body`, its first failure gets the numbers and the last events of the container as
/// a comment, and it gets the events and the page of `purgefs report` as attachments. Anywhere else, if `body` throws,
/// these go into the directory that the variable PURGEFS_REPORTS names.
///
/// Throws what `body` throws, or `ContainerError` if the container cannot be made, or is still in use at its end.
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

/// The same with settings made before.
@discardableResult
public func withContainer<R>(
    _ settings: Container.Settings, isolation: isolated (any Actor)? = #isolation,
    _ body: (Container) async throws -> R
) async throws -> R {
    // One who has a container already must not wait for one who waits for him.
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

/// The same where nothing can wait with `await`, as in a synchronous test: the calling thread waits until the container
/// is there, and until it is gone.
///
/// Only an error that `body` throws shows it that a test has failed. An `#expect` that fails does not throw; a
/// `#require` does. Where there is `await`, the other one is taken.
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

/// The same with settings made before.
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
