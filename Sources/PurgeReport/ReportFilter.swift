/// The only script of the page: a field that hides the rows that do not contain its text. A row that does not list all its paths
/// stays. Without scripts there is no field, and everything is shown.
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
              row.hidden = !row.querySelector(".remark") && !row.textContent.toLowerCase().includes(text);
            }
          };
          document.querySelector("nav").append(field);
        })();
        """

    /// The SHA-256 of `script`, which the page's Content-Security-Policy admits and nothing else.
    static let hash = "sha256-nqTiE40BeHqOPyrUuq/7lhiV5UgCLuTdxkpRHAxo3vI="
}
