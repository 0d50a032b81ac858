const LABELS = { entailed: "✓", neutral: "–", contradicted: "✕" };
const LINKS = { entailed: "by", neutral: "to", contradicted: "by", missing: "against" };

// One item, made when it is opened.
function itemBody(position) {
  const subject = read(`s-${position}`);
  const judgments = index.runs.map((_, run) => read(`j-${run}-${position}`));
  const body = el("div", { class: "item-body" });
  if (subject === null) {
    body.append(el("p", { class: "callout warn" }, "The run holds no text of this item."));
  } else if ("message" in subject) {
    body.append(el("p", { class: "callout bad" }, `Row ${subject.row}: ${subject.message}`));
  } else {
    body.append(subjectView(subject, judgments));
  }
  judgments.forEach((judgment, run) => {
    if (judgment !== null) body.append(judgmentView(judgment, run, subject));
  });
  return body;
}

function subjectView(subject, judgments) {
  const view = el("div", {}, el("h3", { class: "question" }, subject.question));
  const spans = quotedSpans(judgments);
  view.append(el("div", { class: "pair" },
    textBox("Answer", subject.answer, spans.get("answer")),
    textBox("Ground truth", subject.truth, spans.get("truth"))));
  if (spans.size) {
    view.append(el("p", { class: "note" },
      "Marked: words that judges quote. Their verdicts stand below."));
  }
  const contexts = subject.contexts || [];
  if (contexts.length) {
    view.append(fold(`Retrieved passages (${contexts.length})`, contexts.map((context, n) =>
      textBox(`context ${n}` + (context.doc_id ? ` · ${context.doc_id}` : ""), context.text,
        spans.get(`context:${n}`)))));
  }
  const facts = [["task", subject.task], ["agent", subject.agent], ["trial", subject.trial],
    ...Object.entries(subject.human || {}).map(([name, value]) => [
      `${name} (${name.toLowerCase().startsWith("author") ? "author" : "human"} label)`,
      typeof value === "string" ? value : JSON.stringify(value)])];
  view.append(pairs(facts.filter(([, value]) => value)));
  return view;
}

function judgmentView(judgment, run, subject) {
  const title = el("h3", {}, el("span", { class: "letter" }, runName(run)), " ",
    index.runs[run].title);
  const view = el("div", { class: "judgment" }, title, scoreList(judgment));
  if (judgment.message) view.append(el("p", { class: "callout bad" }, judgment.message));
  if (judgment.brief) {
    view.append(el("p", { class: "note" }, "Claims, facts and replies are left out of this page."));
  }
  for (const note of judgment.notes) view.append(el("p", { class: "note" }, note));
  view.append(...choiceView(judgment, subject), ...probabilityView(judgment));
  view.append(...factTables(judgment), ...claimTables(judgment));
  if (judgment.replies.length) {
    const failed = judgment.replies.filter((reply) => reply.error).length;
    const count = `Raw replies (${judgment.replies.length}${failed ? `, ${failed} failed` : ""})`;
    view.append(fold(count, judgment.replies.map(replyView)));
  }
  view.append(el("p", { class: "note" }, usageText(judgment)));
  return view;
}

function scoreList(judgment) {
  const made = el("ul", { class: "scores" });
  for (const [name, score] of Object.entries(judgment.scores)) {
    const scored = score.value !== null;
    let text = scored ? number(score.value) : words(score.unscored_reason);
    if (scored && score.low !== null && score.high !== null) {
      text += ` [${number(score.low)}, ${number(score.high)}]`;
    }
    const kind = (name === judgment.primary ? "primary " : "") + (scored ? "" : "missing");
    made.append(el("li", { class: kind }, el("span", {}, words(name)), " ",
      el("strong", {}, text)));
  }
  return made;
}

function claimTables(judgment) {
  const of = verdictsById(judgment);
  return [["answer", "Claims of the answer"], ["truth", "Claims of the truth"]]
    .map(([side, title]) => [title, judgment.claims.filter((claim) => claim.side === side)])
    .filter(([, claims]) => claims.length)
    .map(([title, claims]) => el("div", { class: "claims" }, el("h4", {}, title),
      el("ol", {}, ...claims.map((claim) => claimView(claim, of.get(claim.id) || [])))));
}

function claimView(claim, verdicts) {
  const text = el("p", { class: "claim" }, el("code", {}, claim.id), " ", claim.text);
  if (claim.triplet) text.append(el("span", { class: "soft" }, ` (${claim.triplet.join(" | ")})`));
  const made = el("li", {}, text, ...verdicts.map(verdictView));
  if (!verdicts.length) made.append(el("p", { class: "verdict soft" }, "no verdict"));
  return made;
}

function verdictsById(judgment) {
  const of = new Map();
  for (const verdict of judgment.verdicts) {
    if (!of.has(verdict.claim_id)) of.set(verdict.claim_id, []);
    of.get(verdict.claim_id).push(verdict);
  }
  return of;
}

function verdictView(verdict) {
  const kind = verdict.label || "missing";
  const mark = verdict.label ? `${LABELS[verdict.label] || ""} ${verdict.label}`
    : `? ${words(verdict.unscored_reason)}`;
  return el("p", { class: "verdict" }, el("span", { class: `label ${kind}` }, mark),
    el("span", { class: "soft" }, ` ${LINKS[kind] || "by"} the ${words(verdict.against).replace(":", " ")}`),
    ...quoteView(verdict.quote));
}

function replyView(reply) {
  const facts = [reply.role, reply.finish_reason && `finish: ${reply.finish_reason}`,
    reply.cached && "from the cache"].filter(Boolean).join(" · ");
  const made = el("div", { class: reply.error ? "reply failed" : "reply" },
    el("h4", {}, facts));
  if (reply.error) {
    const detail = reply.detail ? `: ${reply.detail}` : "";
    made.append(el("p", { class: "bad" }, `not used, ${words(reply.error)}${detail}`));
  }
  made.append(el("pre", { tabindex: "0" }, reply.text || "(empty)"));
  return made;
}

function usageText(judgment) {
  const used = judgment.usage;
  const parts = [`score mode: ${judgment.score_mode}`];
  if (judgment.probability_mass !== null) {
    parts.push(`probability mass on valid labels ${number(judgment.probability_mass)}`);
  }
  if (used.calls || used.cached_calls) {
    parts.push(`${used.calls} call${used.calls === 1 ? "" : "s"}, ${used.cached_calls} from the cache`);
    parts.push(used.calls && used.calls_without_usage >= used.calls ? "tokens not reported"
      : `${used.prompt_tokens} + ${used.completion_tokens} tokens`);
    parts.push(`${used.seconds.toFixed(1)} s in calls`);
  }
  return parts.join(" · ");
}
