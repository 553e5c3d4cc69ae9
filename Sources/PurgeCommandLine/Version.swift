/// The version of purgefs, and of the Python package in mount-scripts/pyproject.toml.
package enum Version {
    package static let number = "0.1.0"
}
