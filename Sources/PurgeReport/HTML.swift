/// Markup from text and from elements whose names are literals in this program.
struct HTML: Sendable {
    typealias Attributes = KeyValuePairs<StaticString, HTMLText>

    private(set) var markup = ""

    init(_ text: HTMLText) { markup = text.escaped }

    init(_ parts: [HTML]) { markup = parts.map(\.markup).joined() }

    init(_ name: StaticString, _ attributes: Attributes = [:], _ content: HTML...) {
        self.init(name, attributes, content)
    }

    init(_ name: StaticString, _ attributes: Attributes = [:], _ content: [HTML]) {
        let ending = Self.inline.contains("\(name)") ? "" : "\n"
        markup = "<\(name)\(Self.text(attributes))>" + HTML(content).markup + "</\(name)>" + ending
    }

    /// Returns a void element, which has neither content nor an end tag.
    static func void(_ name: StaticString, _ attributes: Attributes) -> HTML {
        var html = HTML([])
        html.markup = "<\(name)\(text(attributes))>\n"
        return html
    }

    /// Returns a complete page.
    static func document(_ content: HTML...) -> String {
        "<!DOCTYPE html>\n" + HTML("html", ["lang": "en"], content).markup
    }

    /// Returns a style element. The rules are not escaped, so they must be literals in this program.
    static func style(_ rules: StaticString) -> HTML {
        var html = HTML([])
        html.markup = "<style>\n\(rules)\n</style>\n"
        return html
    }

    /// Returns a script element. The script is not escaped, so it must be a literal in this program.
    static func script(_ script: StaticString) -> HTML {
        var html = HTML([])
        html.markup = "<script>\(script)</script>\n"
        return html
    }

    /// The elements that no line break follows in the markup. After an inline element, a line break would render as a space.
    private static let inline: Set<String> = [
        "a", "b", "bdi", "code", "span", "strong", "time", "dt", "dd", "td", "th",
    ]

    private static func text(_ attributes: Attributes) -> String {
        attributes.map { " \($0.key)=\"\($0.value.escaped)\"" }.joined()
    }
}

extension HTML: ExpressibleByStringInterpolation {
    init(stringLiteral value: String) { self.init(HTMLText(stringLiteral: value)) }
}

extension [HTML] {
    /// Wraps the parts in an element; returns nothing if there are no parts.
    func inElement(_ name: StaticString, _ attributes: HTML.Attributes = [:]) -> [HTML] {
        isEmpty ? [] : [HTML(name, attributes, self)]
    }
}
