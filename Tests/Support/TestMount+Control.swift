import Foundation
import Glibc
import PurgeSystem

extension TestMount {
    public func path(_ relative: String) -> String { relative.isEmpty ? root : "\(root)/\(relative)" }
    public func control(_ name: String) -> String { "\(root)/.purgefs/\(name)" }

    /// Returns the content of a control file without the final newline.
    public func read(_ name: String) throws(Errno) -> String {
        var text = String(decoding: try Files.content(control(name)), as: UTF8.self)
        if text.hasSuffix("\n") { text.removeLast() }
        return text
    }
    public func number(_ name: String) throws -> Int64 {
        let text = try read(name)
        guard let number = Int64(text) else { throw TestFailure("\(name) reads \(text.debugDescription)") }
        return number
    }
    /// Parses lines of the form `name value`.
    public func table(_ name: String) throws -> [String: Int64] {
        var table: [String: Int64] = [:]
        for line in try read(name).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let value = Int64(words[1]), table[String(words[0])] == nil else {
                throw TestFailure("\(name) has the line \(line.debugDescription)")
            }
            table[String(words[0])] = value
        }
        return table
    }
    /// Sends a command with one open(2) and one write(2).
    public func write(_ text: String, to name: String) throws(Errno) {
        let file = try OpenFile(control(name), O_WRONLY)
        try file.writeAll(Array(text.utf8))
    }
    public func status() throws -> MountStatus {
        try JSONDecoder().decode(MountStatus.self, from: Data(try Files.content(control("status.json"))))
    }

    /// Turns off the background purge and the reserve.
    public func turnThresholdsOff() throws(Errno) { try write("off", to: "storage.thresholds") }

    /// Waits for the end of the background purge: the level is not low, or nothing purgeable is left.
    public func settle() throws {
        try eventually("an end of the background purge") {
            let status = try status()
            return ["normal", "nearLow"].contains(status.pressure) || status.storage.reclaimable == 0
        }
    }
}

/// The result of statvfs(2) for a place, in bytes.
public struct PlaceCapacity: Equatable, Sendable {
    public let total, free, available, unit: Int64
}

extension TestMount {
    public func capacity(at relative: String) throws(Errno) -> PlaceCapacity {
        let out = try Files.fileSystemStatus(path(relative))
        let unit = Int64(out.f_frsize)
        return PlaceCapacity(
            total: Int64(out.f_blocks) * unit, free: Int64(out.f_bfree) * unit,
            available: Int64(out.f_bavail) * unit, unit: unit)
    }

    /// Creates a new file of `size` bytes other than zero.
    public func make(_ relative: String, size: Int) throws(Errno) { try Files.make(path(relative), size: size) }
    public func makeDirectory(_ relative: String) throws(Errno) { try Files.makeDirectory(path(relative)) }
    public func exists(_ relative: String) -> Bool { Files.exists(path(relative)) }
    /// Sets isPurgeable.
    public func mark(_ relative: String, _ value: String) throws(Errno) {
        try Attributes.mark(path(relative), "isPurgeable", value)
    }
    /// Makes a file the most recently used one with open(2) and close(2).
    public func touch(_ relative: String) throws(Errno) { try OpenFile(path(relative), O_RDONLY).close() }
}
