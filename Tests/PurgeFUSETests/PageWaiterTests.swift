import Glibc
import PurgeSystem
import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeFUSE

struct PageWaiterTests {
    private func withWaiter(_ body: (PageWaiter, [Node]) throws -> Void) throws {
        let waiter = PageWaiter()
        try waiter.start()
        let nodes = (0..<2).map { Node(inode: UInt64($0 + 2), kind: .regular, name: Name("f")) }
        try body(waiter, nodes)
        waiter.end()
    }

    private static func file(at path: [UInt8], _ waiter: PageWaiter) -> UInt64? {
        let name = String(decoding: path.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
        return waiter.file(named: name)?.inode
    }

    /// The last lookup makes the kernel forget the name, and finds nothing.
    @Test func aFileHasANameAsLongAsItIsOpened() throws {
        try withWaiter { waiter, nodes in
            let seen = Mutex<[UInt64?]>([])
            let paths = Mutex<Set<[UInt8]>>([])
            let left = waiter.dropPages(of: nodes, times: 2) { (path) throws(Errno) in
                seen.withLock { $0.append(Self.file(at: path, waiter)) }
                paths.withLock { _ = $0.insert(path) }
                return try FileDescriptor.open("/dev/null", O_RDONLY)
            }
            #expect(left.isEmpty)
            let again = waiter.dropPages(of: nodes, times: 1) { (path) throws(Errno) in
                seen.withLock { $0.append(Self.file(at: path, waiter)) }
                paths.withLock { _ = $0.insert(path) }
                return try FileDescriptor.open("/dev/null", O_RDONLY)
            }
            #expect(again.isEmpty)
            #expect(seen.withLock { $0 } == [2, 2, nil, 3, 3, nil, 2, nil, 3, nil])
            let all = paths.withLock { $0 }
            // Names are never reused.
            #expect(all.count == 4 && all.allSatisfy { Self.file(at: $0, waiter) == nil })
        }
    }

    @Test func aFileThatCannotBeOpenedIsLeft() throws {
        try withWaiter { waiter, nodes in
            let left = waiter.dropPages(of: nodes, times: 2) { (path) throws(Errno) in
                if Self.file(at: path, waiter) == 2 { throw .accessDenied }
                return try FileDescriptor.open("/dev/null", O_RDONLY)
            }
            #expect(left.map(\.inode) == [2])
        }
    }

    /// A file is left if its lookup takes too long, as when a program holds a kernel lock that the lookup needs.
    @Test func aFileThatTakesTooLongIsLeft() throws {
        try withWaiter { waiter, nodes in
            let held = Gate()
            let isFree = Atomic<Bool>(false)
            let begun = Tally()
            @Sendable func open(_ path: [UInt8]) throws(Errno) -> FileDescriptor? {
                begun.add()
                while !isFree.load(ordering: .sequentiallyConsistent) {
                    let seen = held.generation
                    held.wait(while: seen, milliseconds: 10)
                }
                return nil
            }
            #expect(waiter.dropPages(of: nodes, times: 1, open: open).map(\.inode) == [2, 3])
            // The thread is still blocked, so no other file is tried.
            #expect(waiter.dropPages(of: nodes, times: 1, open: open).map(\.inode) == [2, 3])
            #expect(begun.value == 1)
            isFree.store(true, ordering: .sequentiallyConsistent)
            held.advance()
            try eventually("the waiter") {
                waiter.dropPages(of: nodes, times: 1) { (_) throws(Errno) in
                    try FileDescriptor.open("/dev/null", O_RDONLY)
                }.isEmpty
            }
        }
    }
}
