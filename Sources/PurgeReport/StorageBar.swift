import PurgeModel

/// The storage of the device as a bar with a legend, similar to the one in the settings of a phone.
struct StorageBar {
    struct Part {
        let name: String
        /// The class in the page's style sheet that determines the colour.
        let style: HTMLText
        let bytes: ByteCount
        /// The number of files; nil if files are not counted for this part.
        var files: Int64?
    }

    private let status: StatusReport

    init(_ status: StatusReport) { self.status = status }

    var parts: [Part] {
        let (storage, tiers) = (status.storage, status.tiers)
        let counted = tiers.persistent.bytes + tiers.caches.bytes + tiers.temporary.bytes
        let rest = storage.used - counted
        return [
            Part(
                name: "Documents & Data", style: "documents", bytes: tiers.persistent.bytes,
                files: tiers.persistent.files),
            Part(name: "Caches", style: "caches", bytes: tiers.caches.bytes, files: tiers.caches.files),
            Part(name: "Temporary", style: "temporary", bytes: tiers.temporary.bytes, files: tiers.temporary.files),
        ] + (rest > .zero ? [Part(name: "Being purged", style: "moving", bytes: rest)] : []) + [
            Part(name: "Others", style: "others", bytes: storage.others - storage.othersPurgeable),
            Part(name: "Others, purgeable", style: "others-purgeable", bytes: storage.othersPurgeable),
            Part(name: "Free", style: "free", bytes: storage.available),
        ]
    }

    var html: [HTML] {
        let storage = status.storage
        let inUse = storage.used + storage.others
        let over = inUse > storage.total ? " (\((inUse - storage.total).inWords) more than it has)" : ""
        return [
            HTML.paragraph(
                HTML("strong", [:], "\(inUse.inWords)"), " of \(storage.total.inWords) in use\(over), ",
                HTML("strong", [:], "\(storage.available.inWords)"), " free. Pressure: ",
                HTML("strong", ["class": "level \(status.pressure.rawValue)"], "\(status.pressure.inWords)"),
                status.purging ? ", purging" : "", "."),
            bar, legend,
        ]
    }

    private var bar: HTML {
        let shown = parts.filter { $0.bytes > .zero }
        let all = shown.reduce(0.0) { $0 + Double($1.bytes.bytes) }
        // Give small parts a visible width, at the expense of the others.
        let widths = shown.map { max(4, Double($0.bytes.bytes) / max(1, all) * 1000) }
        let scale = 1000 / max(1, widths.reduce(0, +))
        var x = 0.0
        let rectangles = zip(shown, widths).map { part, width in
            let (from, to) = (Int(x * scale), Int((x + width) * scale))
            x += width
            return HTML(
                "rect", ["class": part.style, "x": "\(from)", "y": "0", "width": "\(to - from)", "height": "10"],
                HTML("title", [:], "\(part.name): \(part.bytes.inWords)"))
        }
        let words = parts.map { "\($0.name) \($0.bytes.inWords)" }.joined(separator: ", ")
        return Drawing(
            id: "storage-bar", title: "Storage of the device",
            description: HTMLText(words, limit: .max), width: 1000, height: 10, style: "bar", content: rectangles
        ).html
    }

    private var legend: HTML {
        HTML(
            "ul", ["class": "legend"],
            parts.map { part in
                let files = part.files.map { "in \($0) \($0 == 1 ? "file" : "files")" } ?? ""
                return HTML(
                    "li", [:], Drawing.swatch(part.style), HTML("span", ["class": "name"], "\(part.name)"),
                    HTML(
                        "span", ["class": "amount", "id": "part-\(part.style.escaped)"],
                        "\(part.bytes.inWords)"), HTML("span", ["class": "more"], HTML.text(files)))
            })
    }
}

extension PressureLevel {
    var inWords: String {
        switch self {
        case .normal: "normal"
        case .nearLow: "near low"
        case .low: "low"
        case .veryLow: "very low"
        }
    }
}

/// A drawing in the page, with a name and a description for screen readers. The drawing itself shows no text, because it is
/// stretched to fit its place. Labels are beside it.
struct Drawing {
    let id: HTMLText
    let title: HTMLText
    let description: HTMLText
    let width: Int
    let height: Int
    let style: HTMLText
    let content: [HTML]

    var html: HTML {
        HTML(
            "svg",
            [
                "class": style, "viewBox": "0 0 \(width) \(height)", "preserveAspectRatio": "none", "role": "img",
                "aria-labelledby": "\(id.escaped)-name \(id.escaped)-words",
            ],
            [
                HTML("title", ["id": "\(id.escaped)-name"], HTML(title)),
                HTML("desc", ["id": "\(id.escaped)-words"], HTML(description)),
            ] + content)
    }

    /// Returns a sample of a part's colour for the legend.
    static func swatch(_ style: HTMLText) -> HTML {
        HTML(
            "svg", ["class": "swatch", "viewBox": "0 0 10 10", "aria-hidden": "true"],
            HTML("rect", ["class": style, "x": "0", "y": "0", "width": "10", "height": "10", "rx": "2"]))
    }
}
