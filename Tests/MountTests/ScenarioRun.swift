import Glibc
import PurgeSystem
import Support
import Testing

/// A golden scenario on a mount.
struct ScenarioRun {
    private let scenario: PurgeScenario
    private let mount: TestMount

    init(_ scenario: PurgeScenario, _ mount: TestMount) { (self.scenario, self.mount) = (scenario, mount) }

    /// Creates the scenario's files and its demand, unmounts, and compares the purged files.
    func check() throws {
        try mount.turnThresholdsOff()
        var open = try ScenarioFiles(scenario).make(on: mount)
        let reader = try EventReader(mount)
        open += try demand()
        try reader.wait("the purges") { $0.count { $0.type == "purge" } >= scenario.gone.count }
        // The write returns when nothing more is purged in the background.
        try mount.write("+0", to: "storage.others")
        reader.close()
        for file in open { file.close() }
        let purges = try mount.purgesAfterUnmount()
        let gone = purges.map { PurgeScenario.Gone($0.path, $0.reason ?? "", isEmptied: $0.isTombstone) }
        #expect(scenario.comparable(gone) == scenario.comparable(scenario.gone))
    }

    /// Raises the demand, and returns the file that stays open, if there is one.
    private func demand() throws -> [OpenFile] {
        switch scenario.demand {
        case .room(let blocks):
            // The write fails with EAGAIN if less can be purged. The purged files are compared anyway.
            _ = try? mount.write("\(blocks * 4096)", to: "storage.reclaim")
        case .tmp: try mount.write("tmp", to: "storage.reclaim")
        case .caches: try mount.write("caches", to: "storage.reclaim")
        case .purgeable: try mount.write("purgeable", to: "storage.reclaim")
        case .all: try mount.write("all", to: "storage.reclaim")
        case .launch:
            try mount.write("launch", to: "app.state")
            try mount.write("check", to: "storage.policies")
        case .write(let path, let blocks):
            let file = try OpenFile(mount.path(path))
            try file.fill(Int(blocks) * 4096)
            return [file]
        case .level(let level, let short):
            let free = try mount.number("storage.available") / 4096
            try mount.write(level.thresholds(free: free, short: short), to: "storage.thresholds")
        case .refused(let blocks):
            try mount.takeAllFreeSpace()
            let file = try OpenFile(mount.path("Documents/refused"))
            #expect(throws: Errno.noSpace) { try file.allocate(Allocate.plain, 0, blocks * 4096) }
            return [file]
        case .taken(let blocks):
            try mount.takeAllFreeSpace()
            try mount.write("+\(blocks * 4096)", to: "storage.others")
        case .day:
            // The free space is less than three times `desired`, and no level is reached.
            let desired = try mount.number("storage.available")
            try mount.write("verylow=0,low=0,nearlow=0,desired=\(desired)", to: "storage.thresholds")
            try mount.write("+1d", to: "device.clock")
        case .reboot: try mount.write("reboot", to: "device.state")
        }
        return []
    }
}

/// Creates the files of a scenario on a mount. It advances the clock between them, so that creations and last uses are as
/// long ago as the scenario says.
struct ScenarioFiles {
    private let scenario: PurgeScenario
    init(_ scenario: PurgeScenario) { self.scenario = scenario }

    private enum Step {
        case make(PurgeScenario.File), use(PurgeScenario.File), leaveForeground
    }

    /// Creates folders, files and settings, and returns the files that stay open.
    func make(on mount: TestMount) throws -> [OpenFile] {
        for directory in scenario.directories { try mount.makeDirectory(directory) }
        for folder in scenario.folders {
            if let mark = folder.mark { try mount.mark(folder.path, mark) }
            if let isGroup = folder.isGroup {
                try Attributes.mark(mount.path(folder.path), "purgeGroup", isGroup ? "1" : "0")
            }
            if let leavesTombstones = folder.leavesTombstones {
                try Attributes.mark(mount.path(folder.path), "purgeTombstone", leavesTombstones ? "1" : "0")
            }
        }
        var steps: [(ago: Int64, step: Step)] = scenario.files.map { ($0.created, .make($0)) }
        steps += scenario.files.filter { $0.used < $0.created }.map { ($0.used, .use($0)) }
        if let ago = scenario.leftForeground { steps.append((ago, .leaveForeground)) }
        steps.sort { $0.ago > $1.ago }
        var open: [OpenFile] = []
        for (index, step) in steps.enumerated() {
            switch step.step {
            case .make(let file): open += try make(file, on: mount)
            case .use(let file): try mount.touch(file.path)
            case .leaveForeground:
                for command in ["launch", "terminate"] { try mount.write(command, to: "app.state") }
            }
            let next = index + 1 < steps.count ? steps[index + 1].ago : end
            if next < step.ago { try mount.write("+\(step.ago - next)s", to: "device.clock") }
        }
        try setPolicies(on: mount)
        try mount.write("\(100 * 4096)", to: "storage.others")
        try mount.write("\(scenario.others * 4096)", to: "storage.others.purgeable")
        try mount.write("\(scenario.share)", to: "storage.others.share")
        if scenario.profile != "documented" {
            try mount.write("0", to: "storage.purge.latency")
            try mount.write(scenario.profile, to: "storage.profile")
        }
        if scenario.isRunning { try mount.write("launch", to: "app.state") }
        return open
    }

    /// The seconds by which the demand itself advances the clock.
    private var end: Int64 { if case .day = scenario.demand { .day } else { 0 } }

    private func make(_ file: PurgeScenario.File, on mount: TestMount) throws -> [OpenFile] {
        let open = try OpenFile(mount.path(file.path))
        try open.fill(Int(file.blocks) * 4096)
        if let mark = file.mark { try mount.mark(file.path, mark) }
        if let link = file.link { try System.link(at: AT_FDCWD, mount.path(file.path), to: AT_FDCWD, mount.path(link)) }
        if file.isOpen { return [open] }
        open.close()
        return []
    }

    private func setPolicies(on mount: TestMount) throws {
        for folder in scenario.folders {
            if let after = folder.after {
                try Attributes.mark(mount.path(folder.path), "purgeAfter", after == 0 ? "0" : "\(after)s")
            }
            if let limit = folder.limit {
                try Attributes.mark(mount.path(folder.path), "sizeLimit", "\(limit * 4096)")
            }
        }
    }
}
