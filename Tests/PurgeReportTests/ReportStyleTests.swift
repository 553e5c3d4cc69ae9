import Foundation
import Testing

@testable import PurgeReport

/// Colours that meet in a drawing differ, in both schemes and for colour-blind readers.
struct ReportStyleTests {
    /// How the readers see linear RGB, after Machado, Oliveira and Fernandes (2009), severity 1.
    private static let readers: [String: [[Double]]] = [
        "any": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "protanopia": [
            [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
        ],
        "deuteranopia": [
            [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
        ],
        "tritanopia": [
            [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
        ],
    ]
    private static let drawings = [
        ["documents", "caches", "temporary", "others", "others-purgeable", "moving", "free"],
        ["near-low", "low", "very-low", "page"], ["locked", "reboot", "page"], ["purged", "page"], ["red", "page"],
    ]
    /// The least distance in OKLab, times 100. A just noticeable difference is about 2.
    private static let least = 9.5

    @Test(arguments: [("light", 0), ("dark", 1), ("paper", 2)]) func colours(scheme: String, index: Int) throws {
        let rules = "\(ReportStyle.rules)".split(separator: ":root {")
        let part = try #require(rules.dropFirst(index).first)
        for names in Self.drawings {
            let colours = try names.map { ($0, try Self.linear($0, in: part)) }
            for (reader, matrix) in Self.readers {
                for (index, (name, colour)) in colours.enumerated() {
                    for (other, second) in colours[..<index] {
                        let distance = Self.distance(Self.seen(colour, matrix), Self.seen(second, matrix))
                        #expect(distance >= Self.least, "\(name) and \(other), \(scheme), \(reader)")
                    }
                }
            }
        }
    }

    private static func linear(_ name: String, in rules: Substring) throws -> [Double] {
        let begin = try #require(rules.range(of: "--\(name): #")).upperBound
        let code = try #require(Int(rules[begin...].prefix(6), radix: 16))
        return [16, 8, 0].map { shift in
            let value = Double(code >> shift & 255) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
    }

    private static func seen(_ colour: [Double], _ matrix: [[Double]]) -> [Double] {
        matrix.map { row in min(1, max(0, zip(row, colour).reduce(0) { $0 + $1.0 * $1.1 })) }
    }

    private static func distance(_ one: [Double], _ other: [Double]) -> Double {
        100 * zip(lab(one), lab(other)).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
    }

    /// Converts linear RGB to OKLab (Ottosson, 2020).
    private static func lab(_ rgb: [Double]) -> [Double] {
        let cones = [
            [0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ].map { cbrt(zip($0, rgb).reduce(0) { $0 + $1.0 * $1.1 }) }
        return [
            [0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ].map { zip($0, cones).reduce(0) { $0 + $1.0 * $1.1 } }
    }
}
