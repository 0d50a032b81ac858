// Everything of models and people goes in as text nodes, never as HTML.
const PAGE = 100;
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\uffff]/u;

const block = (id) => document.getElementById(id);
const index = block("item-index") === null ? null : JSON.parse(block("item-index").textContent);

function el(name, options = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  for (const child of children) {
    if (child === null || child === undefined) continue;
    if (child instanceof Node) made.append(child);
    else made.append(...pieces(String(child)));
  }
  return made;
}

// Characters that can't be seen (or that turn text around) are shown as their code.
function pieces(text) {
  if (!UNSEEN.test(text)) return [document.createTextNode(text)];
  const parts = [];
  let plain = "";
  for (const char of text) {
    if (!UNSEEN.test(char)) { plain += char; continue; }
    if (plain) parts.push(document.createTextNode(plain));
    plain = "";
    const mark = document.createElement("span");
    mark.className = "control";
    mark.textContent = "U+" + char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(mark);
  }
  if (plain) parts.push(document.createTextNode(plain));
  return parts;
}

const number = (value) => value.toFixed(3).replace("-", "−");
const words = (reason) => reason.replaceAll("_", " ");
const runName = (run) => index.runs[run].letter;

function read(id) {
  const found = block(id);
  return found === null ? null : JSON.parse(found.textContent);
}

function pairs(facts) {
  const made = el("dl", { class: "pairs" });
  for (const [name, value] of facts) made.append(el("dt", {}, name), el("dd", {}, value));
  return made;
}

function fold(title, children) {
  return el("details", { class: "fold" }, el("summary", {}, title), ...children);
}

function quoteView(quote) {
  if (!quote || !quote.text) return [];
  const found = { exact: "quote found to the letter", fuzzy: "quote found but for its form",
    missing: "quote not in the text" }[quote.match] || quote.match;
  return [" ", el("q", {}, quote.text), " ", el("span", { class: `match ${quote.match}` }, found)];
}
