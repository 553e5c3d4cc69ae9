import Foundation

extension Container {
    /// Returns the events since the container was mounted, oldest first: docs/CONTROL.md, events. With a type, only events of
    /// that type; with `position`, only events after it. An event of type `dropped` says how many events before it were lost,
    /// which happens only if the journal is off or too short.
    public func events(_ type: EventType? = nil, after position: Int = 0) throws -> [Event] {
        try log.events().filter { (type == nil || $0.type == type) && $0.seq > position }
    }

    public func events(
        _ type: EventType? = nil, at place: some ContainerPath, after position: Int = 0
    ) throws -> [Event] {
        let name = try name(of: place)
        return try events(type, after: position).filter { $0.path == name }
    }

    /// The number of the newest event, or 0. Pass it as `after` to query only later events.
    public var position: Int { get throws { try log.events().last?.seq ?? 0 } }

    // MARK: Purges

    /// Waits until the file is purged, possibly in the background, and returns the event of its newest purge.
    ///
    /// Only purges after `position` count. Without `position`, only purges after the last purge of this file that an earlier
    /// call found count; if there was no such call, all purges since the container was mounted count. If the file may have been
    /// purged before the code under test ran, pass `position`, or use the `expectPurge` that performs an action.
    ///
    /// Throws `notPurged` with the answer of `purgefs why`, `eventsMissed`, `lost`, `silent` or `ended`.
    @discardableResult
    public func expectPurge(
        of place: some ContainerPath, after position: Int? = nil, within limit: Duration = .seconds(10)
    ) throws -> Event {
        try PurgeSearch(self, place, after: position).find(within: limit)
    }

    /// Waits for a purge in an `async` test, without occupying a thread.
    @discardableResult
    public func expectPurge(
        of place: some ContainerPath, after position: Int? = nil, within limit: Duration = .seconds(10)
    ) async throws -> Event {
        try await PurgeSearch(self, place, after: position).found(within: limit)
    }

    /// Performs `action`, and waits until the file is purged. Purges before the action do not count.
    @discardableResult
    public func expectPurge(
        of place: some ContainerPath, within limit: Duration = .seconds(10), during action: () throws -> Void
    ) throws -> Event {
        let before = try running.asked { [log] in try log.events().last?.seq ?? 0 }
        try action()
        return try expectPurge(of: place, after: before, within: limit)
    }

    /// Performs `action` in an `async` test, and waits for a purge without occupying a thread.
    @discardableResult
    public func expectPurge(
        of place: some ContainerPath, within limit: Duration = .seconds(10),
        isolation: isolated (any Actor)? = #isolation, during action: () async throws -> Void
    ) async throws -> Event {
        let before = try await Threads.run { [running, log] in try running.asked { try log.events().last?.seq ?? 0 } }
        try await action()
        return try await expectPurge(of: try name(of: place), after: before, within: limit)
    }
}

/// `expectPurge`'s search for the purge of a file.
private struct PurgeSearch: Sendable {
    let container: Container
    let name: String
    let position: Int

    init(_ container: Container, _ place: some ContainerPath, after position: Int?) throws {
        self.container = container
        name = try container.name(of: place)
        self.position = position ?? container.log.position(ofPurge: name)
    }

    func find(within limit: Duration) throws -> Container.Event {
        let begin = ContinuousClock.now
        var seen = 0
        while true {
            let step = try look(after: seen, isLast: ContinuousClock.now - begin >= limit)
            if let event = step.found { return event }
            seen = step.seen
            usleep(UInt32(Pause.after(ContinuousClock.now - begin) / .microseconds(1)))
        }
    }

    func found(within limit: Duration) async throws -> Container.Event {
        let begin = ContinuousClock.now
        var seen = 0
        while true {
            let step = try await Threads.run { [seen] in
                try look(after: seen, isLast: ContinuousClock.now - begin >= limit)
            }
            if let event = step.found { return event }
            seen = step.seen
            try await Task.sleep(for: Pause.after(ContinuousClock.now - begin))
        }
    }

    /// Returns the file's newest purge after `position` that is not among the first `seen` events, and the number of events
    /// now. Later searches begin after the purge that was found. If there is none, throws if this is the last look or if the
    /// container is gone.
    private func look(after seen: Int, isLast: Bool) throws -> (found: Container.Event?, seen: Int) {
        let log = container.log
        let events = try container.running.asked { try log.events() }
        let found = events[min(seen, events.count)...].last {
            $0.type == .purge && $0.seq > position && $0.path == name
        }
        if let found {
            log.note(purge: found.seq, of: name)
        } else if log.isOver, !container.hasEnded {
            throw container.running.loss
        } else if isLast || container.hasEnded {
            throw try failure()
        }
        return (found, events.count)
    }

    private func failure() throws -> ContainerError {
        let why = try container.why(name)
        let missed = try container.events(.dropped, after: position).reduce(0) { $0 + $1.missed }
        if missed > 0 { return .eventsMissed(name, missed, why) }
        guard let older = try container.events(.purge, at: name).last else { return .notPurged(name, why) }
        return .notPurged(
            name, "Its last purge, event \(older.seq), does not count: it is not after event \(position). \(why)")
    }
}

extension Container.Event {
    /// The number of events that an event of type `dropped` stands for.
    var missed: Int { reason.flatMap { Int($0.prefix { $0 != " " }) } ?? 0 }
}
