/// A table of the report. On a narrow screen its cells are stacked, each labelled with the name of its column.
struct ReportTable {
    struct Column {
        let name: HTMLText
        var isNumber = false

        static func text(_ name: HTMLText) -> Column { Column(name: name) }
        static func number(_ name: HTMLText) -> Column { Column(name: name, isNumber: true) }
    }

    let caption: HTMLText
    let columns: [Column]
    let rows: [[HTML]]

    /// Roles are explicit, because a table element with another CSS `display` loses its implicit role.
    var html: HTML {
        let head = columns.map { column in
            HTML(
                "th", ["role": "columnheader", "scope": "col", "class": column.isNumber ? "number" : "text"],
                HTML(column.name))
        }
        return HTML(
            "table", ["role": "table"],
            HTML("caption", [:], HTML(caption)),
            HTML("thead", ["role": "rowgroup"], HTML("tr", ["role": "row"], head)),
            HTML("tbody", ["role": "rowgroup"], rows.map(row)))
    }

    private func row(_ cells: [HTML]) -> HTML {
        HTML(
            "tr", ["role": "row"],
            zip(columns, cells).map { column, cell in
                HTML(
                    "td",
                    ["role": "cell", "class": column.isNumber ? "number" : "text", "data-label": column.name],
                    HTML("span", [:], cell))
            })
    }
}

extension HTML {
    /// Returns a path in `bdi`, because it may contain right-to-left text, and in `code`, whose style keeps spaces.
    static func path(_ path: String?, limit: Int = 160) -> HTML {
        guard let path, !path.isEmpty else { return "" }
        return HTML("bdi", [:], HTML("code", [:], HTML(HTMLText(path, limit: limit))))
    }

    /// Returns empty markup for nil.
    static func text(_ text: String?) -> HTML { text.map { HTML(HTMLText($0)) } ?? "" }

    static func code(_ text: String) -> HTML { HTML("code", [:], HTML(HTMLText(text))) }

    static func paragraph(_ content: HTML...) -> HTML { HTML("p", [:], content) }
    static func remark(_ content: HTML...) -> HTML { HTML("p", ["class": "remark"], content) }

    static func section(_ id: HTMLText, _ title: HTMLText, _ content: [HTML]) -> HTML {
        HTML(
            "section", ["id": id, "aria-labelledby": "\(id.escaped)-title"],
            [HTML("h2", ["id": "\(id.escaped)-title"], HTML(title))] + content)
    }
}

extension BinaryInteger {
    /// The number in decimal, with a comma between groups of three digits.
    var grouped: String {
        let digits = Array(String(magnitude))
        let text = digits.enumerated().reduce(into: "") { text, digit in
            if digit.offset > 0, (digits.count - digit.offset).isMultiple(of: 3) { text.append(",") }
            text.append(digit.element)
        }
        return (self < 0 ? "-" : "") + text
    }
}
