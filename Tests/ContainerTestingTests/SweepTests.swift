import PurgeModel
import Testing

@testable import ContainerTesting

/// Tests/AppTests compares whole sweeps with `purgefs sweep`.
@Suite struct SweepTests {
    @Test func kinds() { #expect(Container.Moment.kinds == MomentKind.allCases.map(\.rawValue)) }

    /// purgefs understands each rule, and writes it in the same form.
    @Test(arguments: Container.Moment.kinds, Container.Moment.Fault.allCases)
    func rules(kind: String, fault: Container.Moment.Fault) throws {
        let rule = fault.rule(at: "\(kind)#3")
        let isEverywhere = ![.full, .short].contains(fault)
        #expect((rule != nil) == (isEverywhere || kind == "write" || fault == .short && kind == "read"))
        if let rule { #expect(try FaultRule(text: rule).text == rule) }
    }
}
