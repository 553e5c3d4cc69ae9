/// The only script of the page: a field that hides the rows that do not contain its text. A row that stands for
/// several paths stays. Without scripts there is no field, and everything is shown.
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
            for (const row of rows) {
              row.hidden = !row.querySelector("details, .more") && !row.textContent.toLowerCase().includes(text);
            }
          };
          document.querySelector("nav").append(field);
        })();
        """

    /// The SHA-256 of `script`, which the page's Content-Security-Policy admits and nothing else.
    static let hash = "sha256-feVA2QSnHdpw2NDgsWYSHJmr30WPpJreJSkrsYfUmDM="
}
