"""report_page.py PAGE DIRECTORY: opens a report in headless Chromium, at the width of a phone and of a screen, light and dark,
and prints as JSON what the reader sees."""
import base64
import html
import json
import re
import subprocess
import sys

PROBE = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const page = new TextDecoder().decode(Uint8Array.from(atob("%s"), c => c.charCodeAt(0)));
const dark = page.replaceAll("(prefers-color-scheme: dark)", "all");
const found = {};
let left = 4;
function seen(element, view) {
  if (!element.checkVisibility()) return false;  // in a part that is folded
  for (let at = element; at; at = at.parentElement) {
    const style = view.getComputedStyle(at);
    if (style.display === "none" || style.visibility === "hidden" || style.clipPath !== "none") return false;
  }
  return true;
}
function boxes(document, view) {
  const all = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.data.trim() || node.parentElement.closest("svg, style") || !seen(node.parentElement, view)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) if (box.width > 0) all.push({text: node.data.trim().slice(0, 40), box});
  }
  return all;
}
function overlaps(all) {
  const found = [];
  all.sort((a, b) => a.box.top - b.box.top);
  for (let i = 0; i < all.length; i++)
    for (let j = i + 1; j < all.length && all[j].box.top < all[i].box.bottom - 4; j++) {
      const [a, b] = [all[i].box, all[j].box];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1) found.push(all[i].text + " / " + all[j].text);
    }
  return found;
}
function light(color) {
  const parts = color.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}
function faint(document, view) {
  const found = new Set();
  for (const element of document.querySelectorAll("h1, h2, h3, p, strong, span, dt, dd, th, td, code, caption, time")) {
    if (!element.textContent.trim() || !seen(element, view)) continue;
    let behind = element;
    while (behind && view.getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    const [a, b] = [light(view.getComputedStyle(element).color), light(view.getComputedStyle(behind).backgroundColor)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.add(element.tagName + "." + element.className + " " + ratio.toFixed(1));
  }
  return [...found];
}
// Returns how many rows for one path stay when the reader filters by a text that no row has, and how many for several paths;
// then the same two numbers without the filter.
function filtered(document) {
  const field = document.querySelector("nav input");
  if (!field) return null;
  return ["no row has this text", ""].flatMap(text => {
    field.value = text;
    field.dispatchEvent(new Event("input"));
    const rows = [...document.querySelectorAll(".story > li, tbody > tr")].filter(row => !row.hidden);
    const several = rows.filter(row => row.querySelector("details, .more")).length;
    return [rows.length - several, several];
  });
}
function look(name, frame, width) {
  const document = frame.contentDocument, view = frame.contentWindow;
  const all = boxes(document, view);
  found[name] = {
    figures: Object.fromEntries([...document.querySelectorAll("dd[id]")].map(e => [e.id, e.innerText])),
    parts: Object.fromEntries([...document.querySelectorAll("[id^=part-]")].map(e => [e.id.slice(5), e.innerText])),
    text: document.body.innerText,
    width: document.documentElement.scrollWidth,
    outside: all.filter(b => b.box.right > width + 0.5 || b.box.left < -0.5).map(b => b.text),
    overlaps: overlaps(all), faint: faint(document, view),
    unnamed: [...document.querySelectorAll("svg:not([aria-hidden])")].filter(s => !s.querySelector("title") || !s.querySelector("desc")).length,
    filtered: filtered(document),
    loose: [...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"))
      .filter(place => !document.getElementById(place.slice(1))),
  };
  if (--left === 0) {
    const out = window.document.createElement("pre");
    out.id = "found";
    out.textContent = JSON.stringify(found);
    window.document.body.replaceChildren(out);
  }
}
for (const [name, width, content] of [["phone", 360, page], ["phone, dark", 360, dark], ["screen", 1280, page], ["screen, dark", 1280, dark]]) {
  const frame = document.createElement("iframe");
  frame.style = "border: 0; height: 800px; width: " + width + "px";
  frame.onload = () => look(name, frame, width);
  frame.srcdoc = content;
  document.body.append(frame);
}
</script>"""


def main(page, directory):
    with open(page, "rb") as file:
        content = base64.b64encode(file.read()).decode()
    probe = directory + "/probe.html"
    with open(probe, "w") as file:
        file.write(PROBE % content)
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--user-data-dir=" + directory + "/profile", "--virtual-time-budget=10000", "--dump-dom", "file://" + probe]
    dom = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    found = re.search(r'<pre id="found">(.*?)</pre>', dom.stdout.decode(), re.S)
    if not found:
        sys.exit("nothing was found: %s" % dom.stderr.decode()[-2000:])
    print(json.dumps(json.loads(html.unescape(found[1]))))


if __name__ == "__main__":
    main(*sys.argv[1:])
