import Testing

@testable import PurgeVolume

struct DescriptorBudgetTests {
    /// Each row: the limit, threads, files that the app may open, and directories kept open while none and while all of these
    /// files are open.
    @Test(arguments: [
        (256, 16, 152, 64, 8), (1024, 48, 792, 256, 8), (20_000, 48, 19_768, 1024, 8), (64, 4, 8, 16, 8),
        (16, 4, 8, 8, 8),
    ])
    func sharesOut(limit: Int, workers: Int, files: Int, directories: Int, atLast: Int) {
        let budget = DescriptorBudget(limit: limit)
        #expect(budget.workers == workers)
        #expect(budget.files == files)
        #expect(budget.directories(beside: 0) == min(directories, budget.shared))
        #expect(budget.directories(beside: files) == atLast)
    }

    @Test func neverMoreThanTheLimit() {
        for limit in 128...2000 {
            let budget = DescriptorBudget(limit: limit)
            for files in 0...budget.files {
                #expect(files + budget.directories(beside: files) + 4 * budget.workers + 32 <= limit)
            }
        }
    }
}
