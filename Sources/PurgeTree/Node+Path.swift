import Glibc

extension Node {
    /// Returns the path in the container, without a leading slash.
    func path() -> [Name] {
        var names: [Name] = []
        var node = self
        while let parent = node.parent {
            names.append(node.name)
            node = parent
        }
        return names.reversed()
    }

    private var depth: Int {
        var depth = 0
        var node = self
        while let parent = node.parent { (node, depth) = (parent, depth + 1) }
        return depth
    }

    /// Returns whether the node's path precedes the path of `other`, compared byte by byte.
    func pathPrecedes(_ other: Node) -> Bool {
        var (mine, theirs) = (self, other)
        let (depth, otherDepth) = (depth, other.depth)
        for _ in 0..<max(0, depth - otherDepth) { mine = mine.parent ?? mine }
        for _ in 0..<max(0, otherDepth - depth) { theirs = theirs.parent ?? theirs }
        if mine === theirs { return depth < otherDepth }
        while let above = mine.parent, let otherAbove = theirs.parent, above !== otherAbove {
            (mine, theirs) = (above, otherAbove)
        }
        return mine.name.precedes(theirs.name, goesOn: mine !== self, otherGoesOn: theirs !== other)
    }
}

extension [Name] {
    public var text: String { map(\.text).joined(separator: "/") }
    public var bytes: [UInt8] { Array<UInt8>(map { Array<UInt8>($0.utf8) }.joined(separator: [UInt8(ascii: "/")])) }
}
