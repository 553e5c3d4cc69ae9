import Glibc
import PurgeCommandLine
import PurgeFUSE
import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    static let total = OptionSpec("total", .size, "size of the simulated device (64G)")
    static let others = OptionSpec("others", .size, "space used by the system and other apps (0)")
    static let othersPurgeable = OptionSpec(
        "others-purgeable", .size, "the part of others that purging can reclaim (0)")
    static let profile = OptionSpec(
        "profile", .choice("PROFILE", Profile.allCases.map(\.rawValue)),
        "purging rules: documented, or device, which follows reports about real devices (documented)")
    static let purgeLatency = OptionSpec(
        "purge-latency", .duration, "delay of background purges in profile device, or 0 (1s)")
    static let protection = OptionSpec(
        "protection",
        .choice("CLASS", FileProtection.allCases.map(\.rawValue), others: FileProtection.allCases.map(\.appleName)),
        "protection class of new files whose directory has none (completeUntilFirstUserAuthentication)")
    static let allowOther = OptionSpec(
        "allow-other", "let other users access the mount; needs root, or user_allow_other in /etc/fuse.conf")
    static let state = OptionSpec(
        "state", .choice("STATE", StartState.allCases.map(\.rawValue)),
        "how the app starts: in the background or suspended; or on a device that is locked or was not unlocked since "
            + "it booted")
    static let shared = OptionSpec(
        "shared", .directory, addsUp: true,
        "DIR stands for the container of an app group: a lock held there by an app that is suspended ends the app; "
            + "without --shared, a lock on any file outside of the container does. May be repeated")
    static let mountOptions = OptionSpec(
        "o", .text("OPTIONS"), addsUp: true,
        "options for mount(8), separated by commas: ro, noexec, allow_other, ... May be repeated")
    static let log = OptionSpec("log", .file, "append the daemon's messages to FILE; without it they are lost")

    /// The options that both `run` and `mount` take.
    static let mounting: [OptionSpec] = [
        total, others, othersPurgeable, profile, purgeLatency, protection, state, shared, allowOther, mountOptions, log,
    ]
}

extension Arguments {
    /// Returns the request for a mount, with the options of `OptionSpec.mounting`.
    func mountRequest(store: String, mountpoint: String) throws(CommandFailure) -> MountRequest {
        var request = MountRequest(storePath: store, mountpoint: mountpoint)
        request.settings = try settingsChange()
        request.appState = startState?.app
        request.sharedFolders = try texts(.shared).map { (text) throws(CommandFailure) in
            guard let folder = Places.resolved(text), Places.isDirectory(folder) else {
                throw .usage("--shared: '\(VisibleText.of(text))' is no directory; make it first")
            }
            return folder
        }
        request.options = mountOptions
        for word in mountOptions {
            if let objection = MountOptionWords.objection(to: word) { throw .usage("-o \(word): \(objection)") }
        }
        request.allowsOther = allowsOther
        request.options.removeAll { $0 == "allow_other" }
        request.applyAccessTimes()
        request.applyTransport()
        return request
    }

    private var mountOptions: [String] {
        texts(.mountOptions).flatMap { $0.split(separator: ",").map(String.init) }
    }

    /// Whether other users may access the mount; either of two options allows it.
    var allowsOther: Bool { has(.allowOther) || mountOptions.contains("allow_other") }

    private func settingsChange() throws(CommandFailure) -> SettingsChange {
        var change = SettingsChange()
        change.profile = text(.profile).flatMap { Profile(rawValue: $0) }
        change.purgeLatency = text(.purgeLatency).flatMap { TimeSpan(purgeLatency: $0) }
        change.total = try deviceSize()
        change.others = size(.others)
        change.othersPurgeable = size(.othersPurgeable)
        change.protection = text(.protection).flatMap { FileProtection(text: $0) }
        change.lock = startState?.lock
        return change
    }

    var startState: StartState? { text(.state).flatMap { StartState(rawValue: $0) } }

    /// Returns `--total`. Refuses a size below 1 MiB, the smallest device.
    private func deviceSize() throws(CommandFailure) -> ByteCount? {
        guard let total = size(.total), let text = text(.total) else { return nil }
        if let objection = SizeText.objection(toDevice: text) { throw .usage("--total \(text): \(objection)") }
        return total
    }

    /// Returns the files that the daemon writes while it serves. `trace` is the option that names the trace.
    func daemonOutputs(trace: OptionSpec) -> [(path: String, what: String)] {
        [(trace, "trace"), (.log, "log")].compactMap { option, what in text(option).map { ($0, what) } }
    }

    /// Returns the options of `OptionSpec.mounting` as arguments for the daemon's command line.
    func mountingWords() -> [String] { words(of: OptionSpec.mounting) }

    /// Returns these options, as far as they are given, as arguments for another command line.
    func words(of options: [OptionSpec]) -> [String] {
        options.flatMap { option -> [String] in
            switch option.value {
            case .none: has(option) ? [option.text] : []
            case .optionalChoice: texts(option).map { $0.isEmpty ? option.text : "\(option.text)=\($0)" }
            default: texts(option).flatMap { [option.text, $0] }
            }
        }
    }
}

extension MountRequest {
    /// Takes `transport=` out of the options; the last one counts. Without one, PURGEFS_TRANSPORT does.
    fileprivate mutating func applyTransport() {
        let words = options.filter { $0.hasPrefix("transport=") }
        let word = words.last.map { String($0.dropFirst("transport=".count)) }
        let text = word ?? getenv("PURGEFS_TRANSPORT").map { String(cString: $0) }
        transport = text.flatMap { TransportChoice(rawValue: $0) } ?? .auto
        options.removeAll { words.contains($0) }
    }

    /// The words of mount(8) and fstab about access times. Modes such as relatime, strictatime and lazytime depend on the file
    /// system under the store. libfuse must not get options that it does not know.
    private static let accessTimeOptions: Set<String> = [
        "atime", "relatime", "norelatime", "strictatime", "nostrictatime", "diratime", "nodiratime", "lazytime",
        "nolazytime",
    ]

    fileprivate mutating func applyAccessTimes() {
        for option in options {
            switch option {
            case "noatime": untouched = [.files, .directories]
            case "atime", "relatime", "strictatime": untouched = []
            case "nodiratime": untouched.insert(.directories)
            case "diratime": untouched.remove(.directories)
            default: continue
            }
        }
        options.removeAll { Self.accessTimeOptions.contains($0) || $0 == "noatime" }
        // Shows the option in the mount table.
        if untouched.contains(.files) { options.append("noatime") }
    }
}
