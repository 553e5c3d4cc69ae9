import PurgeModel
import Support
import Testing

@testable import PurgeReport

/// Reports on 100 random short runs: each figure must follow from the events of the run, and each change of the used space must
/// be a step of its curve.
struct ReportFiguresTests {
    /// Tuesday, 24 November 2026, 09:00 UTC.
    private static let begin: Int64 = 1_795_510_800_000_000_000
    private static let total = ByteCount(64 << 20)

    /// A random run: its events, and the state after each moment, computed without the code under test.
    private struct Run {
        struct Moment {
            var milliseconds: Int
            var tiers: [Tier: Int64] = [:]
            var others: Int64 = 0

            var used: Int64 { tiers.values.reduce(0, +) }
            var free: Int64 { max(0, ReportFiguresTests.total.bytes - others - used) }
        }
        var moments: [Moment] = []
        var events: [Event] = []
        var samples: [StorageSample] = []

        private var device: Device
        private var curve = StorageCurve()
        private var random: SeededGenerator

        init(seed: UInt64) {
            device = Device(containerID: "0D6E8D52-7F36-4F0B-9D2B-3A2C3B8E1F10")
            device.total = ReportFiguresTests.total
            random = SeededGenerator(seed: seed)
            var now = Moment(milliseconds: 0)
            append(now, Event(type: .mount))
            for _ in 0..<random.below(60) {
                now.milliseconds += 1 + random.below(random.chance(10) ? 900 : 9)
                let event = step(&now)
                append(now, event)
            }
            now.milliseconds += 1 + random.below(20)
            append(now, Event(type: .unmount), difference: .zero)
        }

        private mutating func step(_ now: inout Moment) -> Event? {
            let tier = [Tier.temporary, .caches, .persistent][random.below(3)]
            let most = now.tiers[tier, default: 0] / 4096
            switch random.below(10) {
            case 0...4:
                charge(Int64(1 + random.below(2000)), tier, &now)
                return nil
            case 5:
                charge(-Int64(random.below(Int(most) + 1)), tier, &now)
                return nil
            case 6...7 where tier != .persistent && most > 0:
                let blocks = 1 + Int64(random.below(Int(most)))
                charge(-blocks, tier, &now)
                let folder = tier == .caches ? "Library/Caches" : "tmp"
                return Event(
                    type: .purge, path: "\(folder)/\(random.below(1000))", tier: tier, bytes: ByteCount(blocks: blocks),
                    reason: tier.rawValue, trigger: .importantWrite)
            case 8:
                return Event(type: .refused, path: "Documents/a", tier: .persistent, bytes: ByteCount(blocks: 1))
            default:
                now.others = Int64(random.below(8000)) * 4096
                device.others = ByteCount(now.others)
                return Event(type: .capacity, bytes: device.others, reason: "storage.others")
            }
        }

        private mutating func charge(_ blocks: Int64, _ tier: Tier, _ now: inout Moment) {
            now.tiers[tier, default: 0] += blocks * 4096
            device.ledgers[0].charge(ByteCount(blocks: blocks), as: .init(tier: tier))
        }

        /// Adds a moment, as the daemon does at the end of a change.
        private mutating func append(_ moment: Moment, _ event: Event?, difference: ByteCount = ByteCount(1)) {
            let time = ReportFiguresTests.instant(moment.milliseconds)
            moments.append(moment)
            let numbers = StorageCurve.Numbers(
                total: device.total, others: device.others, othersPurgeable: device.othersPurgeable,
                level: device.level, ledgers: device.ledgers)
            if curve.follow(numbers) || event != nil {
                curve.note(numbers, at: time, real: time, difference: difference)
            }
            samples += curve.take().map { StorageSample($0) }
            if var event {
                (event.seq, event.time) = (Int64(events.count) + 1, time.iso8601)
                events.append(event)
            }
        }

        func count(_ type: EventType) -> Int { events.count { $0.type == type } }
    }

    private static func instant(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: begin + Int64(milliseconds) * 1_000_000)
    }

    private static func page(of run: Run) -> String {
        let end = instant((run.moments.last?.milliseconds ?? 0) + 40)
        var content = ReportContent(time: .init(simulated: end, real: end), version: "1.2.3")
        content.samples = run.samples.compactMap { ReportContent.Sample($0) }
        for event in run.events { content.history.add(event) }
        return ReportPage(content: content).text
    }

    @Test func hundredShortRuns() throws {
        for seed in UInt64(0)..<100 {
            let run = Run(seed: seed)
            let page = Self.page(of: run)
            for words in Self.words(of: run) { #expect(page.contains(words), "seed \(seed): \(words)") }
            try Self.checkLabels(page, run, seed)
            try Self.checkCurve(page, run, seed)
            Self.checkPurged(page, run, seed)
            Self.checkGlance(page, run, seed)
        }
    }

    /// Checks the numbers at the top of the page.
    private static func checkGlance(_ page: String, _ run: Run, _ seed: UInt64) {
        let glance = page.split(separator: "<section id=\"")[1]
        let (purged, refused) = (run.count(.purge), run.count(.refused))
        let bytes = run.events.filter { $0.type == .purge }.reduce(ByteCount.zero) { $0 + ($1.bytes ?? .zero) }
        let lines = [
            refused == 0 ? nil : ">\(refused) write\(refused == 1 ? " was" : "s were") refused</a>, last of ",
            purged == 0 ? nil : ">\(purged) file\(purged == 1 ? " was" : "s were") purged</a> (\(bytes.inWords))",
            purged + refused == 0 ? "No purge, refusal or finding is known, but not everything" : nil,
        ]
        for line in lines.compactMap({ $0 }) { #expect(glance.contains(line), "seed \(seed): \(line)") }
        #expect(
            glance.contains("href=\"#refused\"") == (refused > 0) && glance.contains("href=\"#purged\"") == (purged > 0)
        )
    }

    private static func words(of run: Run) -> [String] {
        let (used, free) = (run.moments.map(\.used), run.moments.map(\.free))
        func words(_ bytes: Int64?) -> String { ByteCount(bytes ?? -1).inWords }
        func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        return [
            free.min() == free.max()
                ? "Free space was \(words(free.last)) all the time."
                : "Free space was between \(words(free.min())) and \(words(free.max())); in the end \(words(free.last)).",
            used.max() == 0
                ? "It was empty all the time."
                : "The container used at most \(words(used.max())); in the end \(words(used.last)).",
            "<desc id=\"purged-lane-words\">\(counted(run.count(.purge), "purge"))</desc>",
            "<desc id=\"refused-lane-words\">\(counted(run.count(.refused), "refused write"))</desc>",
        ]
    }

    /// Checks that the axis has four distinct labels, from the first moment to the last.
    private static func checkLabels(_ page: String, _ run: Run, _ seed: UInt64) throws {
        let row = try #require(page.firstMatch(of: /<div class="times"[^>]*>(.*?)<\/div>/.dotMatchesNewlines()))
        let labels = row.1.matches(of: /<span>(.*?)<\/span>/).map { String($0.1) }
        let end = run.moments.last?.milliseconds ?? 0
        #expect(labels.count == 4 && (Set(labels).count == 4 || end < 4), "seed \(seed): \(labels)")
        #expect(labels.first == "2026-11-24 09:00:00.000", "seed \(seed)")
        let text = instant(end).iso8601.dropFirst(11).dropLast()
        #expect(labels.last == String(text), "seed \(seed)")
    }

    /// Checks that the upper edge of the container's curve follows its use, from each moment to the next.
    private static func checkCurve(_ page: String, _ run: Run, _ seed: UInt64) throws {
        guard let most = run.moments.map(\.used).max(), most > 0, let end = run.moments.last?.milliseconds else {
            return
        }
        let start = try #require(page.ranges(of: "id=\"container-chart-words\"").first).upperBound
        let layer = try #require(page[start...].firstMatch(of: /<path class="temporary" d="M0 (\d+)([^Z]*)Z"/))
        var edge = [(x: 0, y: try #require(Int(layer.1)))]
        for step in layer.2.matches(of: /H(\d+)V(\d+)/) {
            guard let x = Int(step.1), let y = Int(step.2), x < 1000 else { break }
            edge.append((x, y))
        }
        let x = run.moments.map { Int((Double($0.milliseconds) / Double(end) * 980).rounded()) }
        for (index, moment) in run.moments.enumerated() {
            let next = index + 1 < x.count ? x[index + 1] : 1000
            // A state narrower than 4 chart units may be drawn early.
            guard next - x[index] >= 4 else { continue }
            let drawn = try #require(edge.last { $0.x <= x[index] + 1 }).y
            let expected = 1000 - Int(Double(moment.used) / Double(most) * 1000)
            #expect(drawn == expected, "seed \(seed), after \(moment.milliseconds) ms")
        }
    }

    /// Checks the sums by directory in the table of purges.
    private static func checkPurged(_ page: String, _ run: Run, _ seed: UInt64) {
        let purges = run.events.filter { $0.type == .purge }
        if purges.isEmpty { #expect(page.contains("The journal has no purge since 2026-11-24 09:00:00.000")) }
        let groups = Dictionary(grouping: purges) { $0.tier == .caches ? "Library/Caches" : "tmp" }
        for (folder, events) in groups {
            let sum = events.reduce(ByteCount.zero) { $0 + ($1.bytes ?? .zero) }
            let last = events.last.map { $0.time.dropFirst(11).dropLast() } ?? ""
            let rows = page.split(separator: "<tr role=\"row\">").filter { $0.contains("<code>\(folder)</code>") }
            #expect(
                rows.contains {
                    $0.contains("<span>\(events.count)</span>") && $0.contains("<span>\(sum.inWords)</span>")
                        && $0.contains(last)
                }, "seed \(seed): \(folder)")
        }
    }
}
