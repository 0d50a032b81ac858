const FACT_LABELS = { present: "✓", partial: "◐", missing: "○", incorrect: "✕" };
const BASES = { data: "derived from the data", recall: "recalled, not derived from the data" };

function factTables(judgment) {
  const ofTruth = new Map(judgment.fact_verdicts.map((verdict) => [verdict.fact_id, [verdict]]));
  const ofAnswer = verdictsById(judgment);
  const sides = [
    ["truth", "Facts of the truth, held against the answer", ofTruth, factVerdictView],
    ["answer", "Facts of the answer, held against the truth", ofAnswer, verdictView],
  ];
  return sides
    .map(([side, ...rest]) => [judgment.facts.filter((fact) => fact.side === side), ...rest])
    .filter(([facts]) => facts.length)
    .map(([facts, title, of, draw]) => el("div", { class: "claims" }, el("h4", {}, title),
      el("ol", {}, ...facts.map((fact) => factView(fact, of.get(fact.id) || [], draw)))));
}

function factView(fact, verdicts, draw) {
  const text = el("p", { class: "claim" }, el("code", {}, fact.id));
  for (const part of ["condition", "trend", "conclusion"]) {
    if (fact[part]) {
      text.append(" ", el("span", { class: "part" },
        el("span", { class: "soft" }, `${part} `), fact[part]));
    }
  }
  const made = el("li", {}, text, ...verdicts.map(draw));
  if (!verdicts.length) made.append(el("p", { class: "verdict soft" }, "no verdict"));
  return made;
}

function factVerdictView(verdict) {
  const mark = verdict.label ? `${FACT_LABELS[verdict.label] || ""} ${verdict.label}`
    : `? ${words(verdict.unscored_reason)}`;
  const made = el("p", { class: "verdict" },
    el("span", { class: `label ${verdict.label ? `fact-${verdict.label}` : "missing"}` }, mark));
  if (verdict.basis) made.append(el("span", { class: "soft" }, ` ${BASES[verdict.basis]}`));
  made.append(...quoteView(verdict.quote));
  return made;
}

// The letters that were read, beside the options where the input has them.
function choiceView(judgment, subject) {
  const choice = judgment.choice;
  if (choice === null) return [];
  const options = (subject && subject.options) || {};
  const letters = [...new Set([...Object.keys(options), ...choice.right, ...choice.chosen])].sort();
  const list = letters.map((letter) => {
    const [chosen, right] = [choice.chosen.includes(letter), choice.right.includes(letter)];
    const said = [chosen && "chosen", right && "right"].filter(Boolean).join(", ");
    const kind = chosen === right ? (chosen ? "hit" : "") : (chosen ? "wrong" : "missed");
    return el("li", { class: kind }, el("strong", {}, letter), " ", options[letter] || "",
      said ? el("span", { class: "said" }, said) : null);
  });
  const note = choice.chosen.length ? [] : [el("p", { class: "note" }, "The answer chooses none.")];
  return [el("h4", {}, `Choice among ${choice.options} options`),
    el("ul", { class: "options" }, ...list), ...note];
}

// One bar for each valid value, as probable as the model found it.
function probabilityView(judgment) {
  const found = judgment.probabilities;
  if (found === null) return [];
  const rows = Object.entries(found).sort(([one], [two]) =>
    one.localeCompare(two, undefined, { numeric: true }));
  const table = el("table", { class: "probabilities" }, el("caption", {}, "Probability of each value"));
  table.append(el("tbody", {}, ...rows.map(([value, probability]) => el("tr", {},
    el("th", { scope: "row" }, value), el("td", {}, bar(probability)),
    el("td", { class: "n" }, number(probability))))));
  return [table];
}

function bar(share) {
  const space = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(space, "svg");
  const full = document.createElementNS(space, "rect");
  for (const [name, value] of [["viewBox", "0 0 100 8"], ["preserveAspectRatio", "none"],
    ["aria-hidden", "true"], ["class", "share"]]) made.setAttribute(name, value);
  full.setAttribute("width", String(100 * Math.min(1, Math.max(0, share))));
  full.setAttribute("height", "8");
  made.append(full);
  return made;
}
