import PurgeModel

/// The whole device as one bar that shows the shares and the thresholds.
struct CapacityBar {
    /// The parts of the bar, in the order in which they are drawn.
    enum Part: CaseIterable {
        case others, othersPurgeable, persistent, caches, temporary, free
    }

    let report: StatusReport
    let isUnicode: Bool

    func symbol(_ part: Part) -> String {
        switch part {
        case .others: isUnicode ? "▓" : "o"
        case .othersPurgeable: isUnicode ? "▒" : "p"
        case .persistent: isUnicode ? "█" : "#"
        case .caches: isUnicode ? "▞" : "="
        case .temporary: isUnicode ? "░" : "-"
        case .free: isUnicode ? "·" : "."
        }
    }

    func bytes(_ part: Part) -> ByteCount {
        let storage = report.storage
        return switch part {
        case .others: max(.zero, storage.others - storage.othersPurgeable)
        case .othersPurgeable: storage.othersPurgeable
        case .persistent: report.tiers.persistent.bytes
        case .caches: report.tiers.caches.bytes
        case .temporary: report.tiers.temporary.bytes
        case .free: storage.available
        }
    }

    /// Returns the bar. Every part above zero gets at least one character, if there is room.
    func text(width: Int) -> String {
        zip(Part.allCases, cells(width)).map { String(repeating: symbol($0), count: $1) }.joined()
    }

    private func cells(_ width: Int) -> [Int] {
        let sizes = Part.allCases.map { bytes($0).bytes }
        // Others and this container together may have more than the device.
        let whole = max(1, sizes.reduce(0, +))
        let exact = sizes.map { Double($0) / Double(whole) * Double(width) }
        var cells = zip(sizes, exact).map { $0 > 0 ? max(1, Int($1)) : 0 }
        func most(_ value: (Int) -> Double) -> Int { cells.indices.max { value($0) < value($1) } ?? 0 }
        while cells.reduce(0, +) < width { cells[most { exact[$0] - Double(cells[$0]) }] += 1 }
        while cells.reduce(0, +) > width { cells[most { Double(cells[$0]) }] -= 1 }
        return cells
    }

    /// Returns the line below the bar: a letter where the used space reaches a threshold. If several are at one place, the
    /// most severe is shown.
    func marks(width: Int) -> String {
        let total = report.storage.total.bytes
        var row = [Character](repeating: " ", count: width)
        guard total > 0, width > 0, report.thresholds != .off else { return "" }
        for (letter, _, limit) in levels {
            let cells = Double(limit.bytes) / Double(total) * Double(width)
            row[min(width - 1, max(0, width - Int(cells.rounded())))] = letter
        }
        while row.last == " " { row.removeLast() }
        return String(row)
    }

    /// Returns the meaning of the letters. If the text would be wider than `width`, it leaves out the names of the levels.
    func legend(width: Int) -> String {
        if report.thresholds == .off { return "no thresholds" }
        let long = levels.map { "\($0) \($1) \($2.inWords)" }.joined(separator: "  ")
        let short = levels.map { "\($0) \($2.inWords)" }.joined(separator: "  ")
        return long.count <= width ? long : short
    }

    private var levels: [(Character, String, ByteCount)] {
        let limits = report.thresholds
        return [
            ("D", "desired", limits.desired), ("N", "near low", limits.nearLow), ("L", "low", limits.low),
            ("V", "very low", limits.veryLow),
        ]
    }
}
