/// The only script of the page: a field that hides the rows that do not contain its text. Without scripts there is no field, and
/// everything is shown.
enum ReportFilter {
    static let script: StaticString = """
        (() => {
          const field = document.createElement("input");
          field.type = "search";
          field.placeholder = "Filter by path";
          field.setAttribute("aria-label", field.placeholder);
          const rows = document.querySelectorAll(".story > li, section > .paths > li, tbody > tr");
          field.oninput = () => {
            const text = field.value.toLowerCase();
            for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(text);
          };
          document.querySelector("nav").append(field);
        })();
        """

    /// The SHA-256 of `script`, which the page's Content-Security-Policy admits and nothing else.
    static let hash = "sha256-p/4mGK7kPKgr6YloUgb8CBJ4m0tROVJjvWqTJMRPUFE="
}
