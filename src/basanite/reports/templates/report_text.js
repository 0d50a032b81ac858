// Which words of which text the judges of all runs quote: text to list of quotes.
function quotedSpans(judgments) {
  const spans = new Map();
  const add = (run, id, verdict, text) => {
    const quote = verdict.quote;
    if (!quote || !quote.span) return;
    if (!spans.has(text)) spans.set(text, []);
    const [start, end] = quote.span;
    const label = verdict.label || "missing";
    spans.get(text).push({ start, end, label, said: `${runName(run)} ${id} ${words(label)}` });
  };
  judgments.forEach((judgment, run) => {
    if (judgment === null) return;
    for (const verdict of judgment.verdicts) add(run, verdict.claim_id, verdict, verdict.against);
    for (const verdict of judgment.fact_verdicts) add(run, verdict.fact_id, verdict, "answer");
  });
  return spans;
}

function textBox(title, text, spans) {
  if (!text.trim()) {
    return el("div", { class: "box" }, el("h4", {}, title),
      el("p", { class: "text soft" }, "(nothing but white space)"));
  }
  return el("div", { class: "box" }, el("h4", {}, title),
    el("p", { class: "text" }, ...(spans ? marked(text, spans) : [text])));
}

// Quotes may overlap: the text is cut at each of their ends, and each piece knows its quotes.
function marked(text, spans) {
  const place = places(text);
  const limit = Math.min(index.limit, place.length - 1);
  const known = spans.map((span) => ({ ...span, end: Math.min(span.end, limit) }))
    .filter((span) => span.start >= 0 && span.start < span.end);
  const cuts = [...new Set([0, place.length - 1, ...known.flatMap(({ start, end }) => [start, end])])];
  cuts.sort((one, two) => one - two);
  const parts = [];
  for (let at = 0; at + 1 < cuts.length; at += 1) {
    const piece = text.slice(place.at(cuts[at]), place.at(cuts[at + 1]));
    const over = known.filter(({ start, end }) => start <= cuts[at] && end >= cuts[at + 1]);
    parts.push(over.length ? markOf(piece, over) : piece);
  }
  return parts;
}

function markOf(piece, over) {
  const labels = [...new Set(over.map(({ label }) => label))];
  const kind = labels.length === 1 ? `by-${labels[0]}` : "by-several";
  return el("mark", { class: kind, title: over.map(({ said }) => said).join(", ") }, piece);
}

// Spans count characters as Python does; JavaScript counts some of them twice.
function places(text) {
  if (!/[\ud800-\udfff]/.test(text)) return { length: text.length + 1, at: (n) => n };
  const starts = [];
  let at = 0;
  for (const char of text) {
    starts.push(at);
    at += char.length;
  }
  starts.push(at);
  return { length: starts.length, at: (n) => starts[n] };
}
