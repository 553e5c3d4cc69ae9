#if os(Linux)
internal import CContainerCalls
import Glibc

// The functions of mPaaS's storage kit. The C functions of APPurgeablePath.h implement them.

/// The age in days from which files go; `manual` is no age.
public enum APPurgeableType: UInt, CaseIterable, Sendable {
    case manual = 0
    case threeDays = 3
    case oneWeek = 7
    case twoWeeks = 14
    case oneMonth = 30
}

/// Makes the folder at `path`, which is relative to the app's home, and gives it a policy: `type` limits the age of its files,
/// and `size` (MB of 2^20 bytes) their total size; 0 is no limit. Outside a container it only makes the folder. Returns the
/// absolute path; nil for nil, and if the folder cannot be made, for example for a path that is absolute or contains `..`.
public func APPurgeablePathTypeSize(_ path: String!, _ type: APPurgeableType, _ size: UInt) -> String! {
    guard let path, let result = container_purgeable_path(path, UInt32(type.rawValue), Int(clamping: size)) else {
        return nil
    }
    defer { free(result) }
    return String(cString: result)
}

/// Calls `APPurgeablePathTypeSize` with no size limit.
public func APPurgeablePathType(_ path: String!, _ type: APPurgeableType) -> String! {
    APPurgeablePathTypeSize(path, type, 0)
}

/// Calls `APPurgeablePathTypeSize` with the type `manual` and no size limit.
public func APPurgeablePath(_ path: String!) -> String! { APPurgeablePathTypeSize(path, .manual, 0) }

/// Empties all folders that have a policy, open files included, and returns when they are empty. The folders and their policies
/// stay. Outside a container it does nothing.
public func ResetAllPurgeablePaths() { container_reset_purgeable_paths() }
#endif
