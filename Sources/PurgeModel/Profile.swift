/// Which rules of purging are in force.
public enum Profile: String, Codable, Sendable {
    case documented
}
