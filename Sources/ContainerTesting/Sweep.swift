import Foundation
import Testing

extension Container {
    /// One fault at one call, a case of a sweep. Faults count the calls from the beginning of `perform`.
    public struct Moment: Hashable, Codable, Sendable, CustomStringConvertible, CustomTestStringConvertible {
        /// A fault that a sweep tries: docs/FAULTS.md.
        public enum Fault: String, Hashable, Codable, Sendable, CaseIterable {
            /// The call fails with EIO; with `errors`, all later calls of its kind fail, too.
            case error, errors
            /// From this write on, nothing is free.
            case full
            /// Half of the bytes are read or written.
            case short
            /// Before the call, everything that may be purged is purged, or the device is locked.
            case purge, lock
        }

        /// Nil in the first moment of a sweep, which has no fault.
        public let fault: Fault?
        /// The call, such as `write#3` for the third write.
        public let call: String?
        /// The path of the call in the sweep, relative to the container. It may differ afterwards if the name is random.
        public let path: String?

        /// The rule that is set in `faults`, such as `write#3=EIO`.
        public var rule: String? { fault.flatMap { fault in call.flatMap { fault.rule(at: $0) } } }
        /// The rule and the path: the name of a test's case.
        public var description: String {
            rule.map { "\($0) \(path ?? "")".trimmingCharacters(in: .whitespaces) } ?? "no fault"
        }
        public var testDescription: String { description }
    }
}

/// Counts the calls that `work` makes in a fresh container after `prepare`, and returns the moments of a sweep: one without
/// a fault, and then one for each call and fault. With `most`, at most that many have a fault, evenly spread over the faults,
/// the kinds of calls, and the course of `work`. `purgefs sweep` tries the same faults, and the loss of power besides.
///
/// Throws the error of `prepare` or `work`, or `cannotSweep` if `work` makes no calls that these faults can meet, or too many to
/// count.
public func sweep(
    moments faults: [Container.Moment.Fault] = Container.Moment.Fault.allCases, most: Int? = nil,
    in settings: Container.Settings = Container.Settings(), isolation: isolated (any Actor)? = #isolation,
    prepare: (Container) async throws -> Void = { _ in }, _ work: (Container) async throws -> Void
) async throws -> [Container.Moment] {
    try await withContainer(settings) { container in
        try await prepare(container)
        // A delay of nothing leaves an event of each call.
        try container.write("faults", Container.Moment.kinds.map { "\($0)=0ms" }.joined(separator: "\n"))
        try await work(container)
        try container.endFaults()
        return try Container.Moment.all(of: try container.events(), faults, most: most)
    }
}

extension Container.Moment {
    /// Performs `body` with the fault. Afterwards no faults are in force, the device is unlocked, and the app is launched, even
    /// if `body` throws.
    ///
    /// Returns the error that `body` threw after a call had met the fault, or nil if it threw none. Throws an error of `body` if
    /// no call has met the fault, and `ContainerError`. If `body` succeeds without meeting the fault, because it made other calls
    /// than in the sweep, the test gets a warning; outside Swift Testing, standard error does.
    public func perform(in container: Container, _ body: () throws -> Void) throws -> (any Error)? {
        if let rule { try container.fail(rule) }
        return try end(Result(catching: body), in: container)
    }

    /// Performs `body` in an `async` test.
    public func perform(
        in container: Container, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
    ) async throws -> (any Error)? {
        if let rule { try container.fail(rule) }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        return try end(result, in: container)
    }

    private func end(_ result: Result<Void, any Error>, in container: Container) throws -> (any Error)? {
        let isMet = try isMet(in: container)
        try container.endFaults()
        try container.unlock()
        try container.app(.launch)
        switch result {
        case .failure(let error) where isMet: return error
        case .failure(let error): throw error
        case .success:
            if let rule, !isMet { warn("no call met \(rule): other calls were made than in the sweep") }
            return nil
        }
    }

    private func warn(_ text: String) {
        guard let test = Test.current else { return ContainerEvidence.say(text) }
        Issue.record("\(text)", severity: .warning, sourceLocation: test.sourceLocation)
    }

    /// Whether a call has met the fault. A line of `faults` has the number of calls that matched a rule, the number of those
    /// that met its fault, and the rule.
    private func isMet(in container: Container) throws -> Bool {
        guard let rule else { return false }
        let lines = try container.read("faults").split(separator: "\n")
        return lines.contains { $0.hasSuffix(" \(rule)") && !$0.hasSuffix(" 0 \(rule)") }
    }
}

extension Container.Moment.Fault {
    /// Returns the rule for a call; nil if the fault makes no difference to its kind.
    func rule(at call: String) -> String? {
        let kind = call.prefix { $0 != "#" }
        switch self {
        case .error: return "\(call)=EIO"
        case .errors: return "\(call)+=EIO"
        case .full: return kind == "write" ? "\(call)=full" : nil
        case .short: return kind == "write" || kind == "read" ? "\(call)=short" : nil
        case .purge, .lock: return "\(call)=\(rawValue)"
        }
    }
}

extension Container.Moment {
    /// The kinds of calls: docs/FAULTS.md, Which calls count.
    static let kinds = [
        "open", "create", "read", "write", "sync", "rename", "unlink", "mkdir", "truncate", "setxattr",
    ]

    /// Returns the moments of a sweep over the calls that have left these events.
    static func all(of events: [Container.Event], _ faults: [Fault], most: Int?) throws -> [Self] {
        if let dropped = events.first(where: { $0.type == .dropped }) {
            throw ContainerError.cannotSweep("it makes more calls than can be counted (\(dropped.reason ?? ""))")
        }
        let calls = events.filter { $0.type == .fault }
        let groups = faults.flatMap { fault in
            kinds.map { kind in
                calls.filter { $0.cause?.hasPrefix("\(kind)#") == true }
                    .map { Self(fault: fault, call: $0.cause, path: $0.path) }.filter { $0.rule != nil }
            }
        }
        if groups.joined().isEmpty {
            throw ContainerError.cannotSweep("it makes no calls in the container that these faults can meet")
        }
        return [Self(fault: nil, call: nil, path: nil)] + spread(groups, most: most)
    }

    /// Returns at most `most` moments. The groups, each with one fault and one kind of call, take turns, and each gives moments
    /// from its whole course.
    private static func spread(_ groups: [[Self]], most: Int?) -> [Self] {
        var left = min(most ?? .max, groups.reduce(0) { $0 + $1.count })
        var shares = groups.map { _ in 0 }
        while left > 0 {
            for index in groups.indices where left > 0 && shares[index] < groups[index].count {
                shares[index] += 1
                left -= 1
            }
        }
        return zip(groups, shares).flatMap { group, share in (0..<share).map { group[$0 * group.count / share] } }
    }
}
