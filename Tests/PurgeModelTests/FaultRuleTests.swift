import PurgeModel
import Support
import Testing

@Suite struct FaultRuleTests {
    @Test(
        arguments: [
            ("write=EIO", .write, nil, .all, .error("EIO")),
            ("open@*=ENOENT", .open, "*", .all, .error("ENOENT")),
            ("create@Documents/*#3=ENOSPC", .create, "Documents/*", .only(3), .error("ENOSPC")),
            ("sync#2+=300ms", .sync, nil, .from(2), .delay(300)),
            ("rename%10=2s", .rename, nil, .percent(10), .delay(2000)),
            ("unlink%100=0ms", .unlink, nil, .percent(100), .delay(0)),
            ("mkdir=1h", .mkdir, nil, .all, .delay(3_600_000)),
            ("write=short", .write, nil, .all, .short),
            ("read#1=short", .read, nil, .only(1), .short),
            ("truncate=full", .truncate, nil, .all, .full),
            ("setxattr=purge", .setxattr, nil, .all, .purge),
            ("open=lock", .open, nil, .all, .lock),
            ("open=reboot", .open, nil, .all, .reboot),
            ("open#9223372036854775807=kill", .open, nil, .only(.max), .kill),
            // A pattern may have the signs of a rule, if no digits follow them at the end.
            ("write@a=b=EIO", .write, "a=b", .all, .error("EIO")),
            ("write@a@b=EIO", .write, "a@b", .all, .error("EIO")),
            ("write@a#b%=EIO", .write, "a#b%", .all, .error("EIO")),
            ("write@a#1[#]2#3=EIO", .write, "a#1[#]2", .only(3), .error("EIO")),
            ("write@\u{301}x#1=EIO", .write, "\u{301}x", .only(1), .error("EIO")),
            ("write@a b =EIO", .write, "a b ", .all, .error("EIO")),
            ("rename#1=power", .rename, nil, .only(1), .power(PowerLoss(.none))),
            ("rename=power=none", .rename, nil, .all, .power(PowerLoss(.none))),
            ("write@a=b#2=power=ordered", .write, "a=b", .only(2), .power(PowerLoss(.ordered))),
            ("sync=power=torn:9223372036854775807", .sync, nil, .all, .power(PowerLoss(.torn, seed: 1 << 63 - 1))),
        ] as [(String, MomentKind, String?, FaultRule.Choice, FaultRule.Fault)])
    func reads(
        text: String, kind: MomentKind, glob: String?, choice: FaultRule.Choice, fault: FaultRule.Fault
    ) throws {
        let rule = try FaultRule(text: text)
        #expect(rule.kind == kind && rule.glob == glob && rule.choice == choice && rule.fault == fault)
        #expect(rule.text == text)
    }

    @Test(
        arguments: [
            ("", .form), ("write", .form), ("=EIO", .form), ("write=", .form),
            ("wirte=EIO", .kind("wirte")), ("Write=EIO", .kind("Write")), (" write=EIO", .kind(" write")),
            ("@*=EIO", .kind("")), ("#1=EIO", .kind("")),
            ("write@=EIO", .emptyGlob), ("write@#1=EIO", .emptyGlob),
            ("write#=EIO", .number("#")), ("write#0=EIO", .number("#0")), ("write#+=EIO", .number("#+")),
            ("write%0=EIO", .number("%0")), ("write%101=EIO", .number("%101")), ("write%=EIO", .number("%")),
            ("write#9223372036854775808=EIO", .number("#9223372036854775808")),
            ("write=EIO\r", .fault("EIO\r")), ("write=eio", .fault("eio")), ("write=Eio", .fault("Eio")),
            ("write=5", .fault("5")),
            ("write=ms", .fault("ms")), ("write=-5ms", .fault("-5ms")), ("write=powr", .fault("powr")),
            ("write=power=", .fault("power=")), ("write=power=x", .fault("power=x")),
            ("write=power=torn:", .fault("power=torn:")),
            ("write=power=torn:x", .fault("power=torn:x")), ("write=power=none:1", .fault("power=none:1")),
            ("write=power=torn:9223372036854775808", .fault("power=torn:9223372036854775808")),
            ("write=power:torn", .fault("power:torn")),
            ("=power=torn", .form),
            ("write=99999999999999999999ms", .fault("99999999999999999999ms")),
            ("write=3600001ms", .delayTooLong), ("write=61m", .delayTooLong), ("write=2h", .delayTooLong),
            ("open=short", .notShortened), ("sync=short", .notShortened), ("truncate=short", .notShortened),
        ] as [(String, FaultRule.Objection)])
    func refuses(text: String, objection: FaultRule.Objection) {
        #expect(throws: objection) { try FaultRule(text: text) }
    }

    /// 10,000 damaged rules: each is refused, or says in other words what it means.
    @Test func damagedRules() {
        var random = SeededGenerator(seed: 39)
        let good = [
            "create@Documents/*#3=ENOSPC", "sync#2+=300ms", "rename%10=2s", "write@a#1[#]2#3=EIO", "write=power=torn:7",
        ]
        let pieces = [
            "", "=", "@", "#", "%", "+", "\n", "\0", "../x", "9223372036854775808", "-1", "é", "power", "open", "EIO",
            " ",
        ]
        var accepted = 0
        for _ in 0..<10_000 {
            var text = Array(good[Int(random.next() % UInt64(good.count))].unicodeScalars.map(String.init))
            for _ in 0...(random.next() % 3) {
                let place = Int(random.next() % UInt64(text.count))
                let piece = pieces[Int(random.next() % UInt64(pieces.count))]
                if random.next() % 2 == 0 { text[place] = piece } else { text.insert(piece, at: place) }
            }
            let rule = text.joined()
            guard let read = try? FaultRule(text: rule) else { continue }
            accepted += 1
            // An accepted rule begins with its kind, pattern and choice, as they were parsed, followed by an equals sign.
            var words = read.kind.rawValue + (read.glob.map { "@" + $0 } ?? "")
            switch read.choice {
            case .all: break
            case .only(let number): words += "#\(number)"
            case .from(let number): words += "#\(number)+"
            case .percent(let number): words += "%\(number)"
            }
            #expect(rule.hasPrefix(words + "="), "\(rule)")
        }
        #expect((100...5000).contains(accepted))
    }

    @Test func commands() throws {
        #expect(try FaultCommand(text: "off") == .off)
        let rules = try [FaultRule(text: "write=EIO"), FaultRule(text: "open#2=1s")]
        #expect(try FaultCommand(text: "write=EIO\nseed=18446744073709551615\nopen#2=1s") == .add(rules, seed: .max))
        for text in [
            "write=EIO\n", "write=EIO\noff", "write=EIO\r\nread=EIO", "seed=", "seed=-1", "seed=18446744073709551616",
            "write@a\0=EIO",
        ] {
            #expect(throws: FaultRule.Objection.self, "\(text)") { try FaultCommand(text: text) }
        }
    }
}

@Suite struct FaultRulesTests {
    private func rules(_ texts: String...) throws -> FaultRules {
        var rules = FaultRules()
        #expect(try rules.carryOut(FaultCommand(text: texts.joined(separator: "\n"))))
        return rules
    }

    /// Meets a call `count` times. Returns the numbers of the calls that met a fault.
    private func meet(_ rules: inout FaultRules, _ kind: MomentKind, times count: Int) -> [Int] {
        (1...count).filter { _ in !rules.meet(kind) { _ in true }.rules.isEmpty }
    }

    @Test func choices() throws {
        var all = try rules("write=EIO")
        #expect(meet(&all, .write, times: 3) == [1, 2, 3])
        var third = try rules("write#3=EIO")
        #expect(meet(&third, .write, times: 5) == [3])
        var later = try rules("write#3+=EIO")
        #expect(meet(&later, .write, times: 5) == [3, 4, 5])
        #expect(later.text == "5 3 write#3+=EIO\n")
        #expect(meet(&later, .read, times: 5) == [])
    }

    /// Calls are numbered by kind, and counted by each rule that matches them.
    @Test func numbers() throws {
        var rules = try rules("write@a*#2=EIO", "write=1ms", "open=kill")
        var told: [String] = []
        for (kind, path) in [(.write, "a"), (.open, "a"), (.write, "b"), (.write, "ab")] as [(MomentKind, String)] {
            let (number, due) = rules.meet(kind) { $0 == "a*" && path.hasPrefix("a") }
            told.append("\(kind.rawValue)#\(number) \(due.map(\.text).joined(separator: " "))")
        }
        #expect(
            told == ["write#1 write=1ms", "open#1 open=kill", "write#2 write=1ms", "write#3 write@a*#2=EIO write=1ms"])
        #expect(rules.text == "2 1 write@a*#2=EIO\n3 3 write=1ms\n1 1 open=kill\n")
    }

    /// A percentage takes about its share of the calls; the same calls with the same seed, and others with another one.
    @Test func percentages() throws {
        var (one, same, other) = try (rules("write%25=EIO"), rules("write%25=EIO"), rules("write%25=EIO", "seed=1"))
        let taken = meet(&one, .write, times: 10_000)
        // Six standard deviations of a binomial distribution are 260.
        #expect(abs(taken.count - 2500) < 260)
        #expect(meet(&same, .write, times: 10_000) == taken)
        let others = meet(&other, .write, times: 10_000)
        #expect(abs(others.count - 2500) < 260 && others != taken)
        var always = try rules("write%100=EIO")
        #expect(meet(&always, .write, times: 100).count == 100)
    }

    @Test func upToAHundred() throws {
        var rules = FaultRules()
        let many = (1...60).map { "write#\($0)=EIO" }.joined(separator: "\n")
        #expect(try rules.carryOut(FaultCommand(text: many)))
        let before = rules.text
        #expect(try !rules.carryOut(FaultCommand(text: many)) && rules.text == before)
        #expect(rules.carryOut(.off) && rules.isEmpty && rules.text.isEmpty)
    }
}
