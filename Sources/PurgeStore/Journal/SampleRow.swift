import CSQLite
import PurgeModel

/// A sample as a row of the table `samples`.
enum SampleRow {
    static let selection =
        "SELECT time, real_time, total, others, others_purgeable, used, temporary, caches, persistent, pressure, id "
        + "FROM samples"
    static let insertion =
        "INSERT INTO samples(time, real_time, total, others, others_purgeable, used, temporary, caches, persistent, "
        + "pressure) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    static func insert(_ sample: StorageSample, with statement: borrowing Statement) throws(DatabaseError) {
        try statement.bind(sample.time, 1)
        try statement.bind(sample.realTime, 2)
        let sizes = [
            sample.total, sample.others, sample.othersPurgeable, sample.used, sample.temporary, sample.caches,
            sample.persistent,
        ]
        for (index, size) in sizes.enumerated() { try statement.bind(size.bytes, Int32(index) + 3) }
        try statement.bind(sample.pressure.rawValue, 10)
        try statement.run()
    }

    /// Returns the sample in the current row of a `selection`.
    static func sample(_ row: borrowing Statement) throws(DatabaseError) -> StorageSample {
        guard let time = row.text(0), let realTime = row.text(1),
            let pressure = row.text(9).flatMap(PressureLevel.init(rawValue:))
        else {
            throw DatabaseError(code: SQLITE_CORRUPT, message: "sample \(row.number(10) ?? 0) cannot be understood")
        }
        func size(_ column: Int32) -> ByteCount { ByteCount(max(0, row.number(column) ?? 0)) }
        return StorageSample(
            time: time, realTime: realTime, total: size(2), others: size(3), othersPurgeable: size(4), used: size(5),
            temporary: size(6), caches: size(7), persistent: size(8), pressure: pressure)
    }

    /// Returns all samples, oldest first.
    static func samples(from database: Database) throws(DatabaseError) -> [StorageSample] {
        let rows = try database.prepare("\(selection) ORDER BY id")
        var samples: [StorageSample] = []
        var last = Int64.min
        while try rows.step() {
            // In a damaged file, pages may form a cycle, which would never end.
            guard let id = rows.number(10), samples.isEmpty || id > last else {
                throw DatabaseError(code: SQLITE_CORRUPT, message: "its samples are not in order")
            }
            last = id
            samples.append(try sample(rows))
        }
        return samples
    }
}
