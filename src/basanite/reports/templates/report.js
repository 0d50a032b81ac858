"use strict";
(() => {
  // Everything of models and people goes in as text nodes, never as HTML.
  const PAGE = 100;
  const LABELS = { entailed: "✓", neutral: "–", contradicted: "✕" };
  const LINKS = { entailed: "by", neutral: "to", contradicted: "by", missing: "against" };
  const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\uffff]/u;

  const block = (id) => document.getElementById(id);
  const index = JSON.parse(block("item-index").textContent);
  const tools = Object.fromEntries(
    ["search", "status", "agent", "order"].map((name) => [name, block(`item-${name}`)]));
  const list = block("item-list");
  const more = block("item-more");
  let shown = [];
  let drawn = 0;

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

  function valueText(item, run) {
    const value = item.values[run];
    return value === null ? words(item.reasons[run] || "unscored") : number(value);
  }

  // ---- one item, made when it is opened ------------------------------------------------

  function itemBody(position) {
    const subject = read(`s-${position}`);
    const body = el("div", { class: "item-body" });
    if (subject === null) {
      body.append(el("p", { class: "callout warn" }, "The run holds no text of this item."));
    } else if ("message" in subject) {
      body.append(el("p", { class: "callout bad" }, `Row ${subject.row}: ${subject.message}`));
    } else {
      body.append(subjectView(subject));
    }
    index.runs.forEach((_, run) => {
      const judgment = read(`j-${run}-${position}`);
      if (judgment !== null) body.append(judgmentView(judgment, run));
    });
    return body;
  }

  function read(id) {
    const found = block(id);
    return found === null ? null : JSON.parse(found.textContent);
  }

  function subjectView(subject) {
    const view = el("div", {}, el("h3", { class: "question" }, subject.question));
    view.append(el("div", { class: "pair" },
      textBox("Answer", subject.answer), textBox("Ground truth", subject.truth)));
    const contexts = subject.contexts || [];
    if (contexts.length) {
      view.append(fold(`Retrieved passages (${contexts.length})`, contexts.map((context, n) =>
        textBox(`context ${n}` + (context.doc_id ? ` · ${context.doc_id}` : ""), context.text))));
    }
    const facts = [["task", subject.task], ["agent", subject.agent], ["trial", subject.trial],
      ...Object.entries(subject.human || {}).map(([name, value]) => [
        `${name} (${name.toLowerCase().startsWith("author") ? "author" : "human"} label)`,
        typeof value === "string" ? value : JSON.stringify(value)])];
    view.append(pairs(facts.filter(([, value]) => value)));
    return view;
  }

  function textBox(title, text) {
    const shownText = text.trim() ? el("p", { class: "text" }, text)
      : el("p", { class: "text soft" }, "(nothing but white space)");
    return el("div", { class: "box" }, el("h4", {}, title), shownText);
  }

  function pairs(facts) {
    const made = el("dl", { class: "pairs" });
    for (const [name, value] of facts) made.append(el("dt", {}, name), el("dd", {}, value));
    return made;
  }

  function fold(title, children) {
    return el("details", { class: "fold" }, el("summary", {}, title), ...children);
  }

  function judgmentView(judgment, run) {
    const title = el("h3", {}, el("span", { class: "letter" }, runName(run)), " ",
      index.runs[run].title);
    const view = el("div", { class: "judgment" }, title, scoreList(judgment));
    if (judgment.message) view.append(el("p", { class: "callout bad" }, judgment.message));
    for (const note of judgment.notes) view.append(el("p", { class: "note" }, note));
    view.append(...claimTables(judgment));
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
    const of = new Map();
    for (const verdict of judgment.verdicts) {
      if (!of.has(verdict.claim_id)) of.set(verdict.claim_id, []);
      of.get(verdict.claim_id).push(verdict);
    }
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

  function verdictView(verdict) {
    const kind = verdict.label || "missing";
    const mark = verdict.label ? `${LABELS[verdict.label] || ""} ${verdict.label}`
      : `? ${words(verdict.unscored_reason)}`;
    const made = el("p", { class: "verdict" }, el("span", { class: `label ${kind}` }, mark),
      el("span", { class: "soft" }, ` ${LINKS[kind] || "by"} the ${words(verdict.against).replace(":", " ")}`));
    const quote = verdict.quote;
    if (quote && quote.text) {
      const found = { exact: "quote found to the letter", fuzzy: "quote found but for its form",
        missing: "quote not in the text" }[quote.match] || quote.match;
      made.append(" ", el("q", {}, quote.text), " ",
        el("span", { class: `match ${quote.match}` }, found));
    }
    return made;
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
      parts.push(`${used.calls} calls, ${used.cached_calls} from the cache`);
      parts.push(used.calls && used.calls_without_usage >= used.calls ? "tokens not reported"
        : `${used.prompt_tokens} + ${used.completion_tokens} tokens`);
      parts.push(`${used.seconds.toFixed(1)} s in calls`);
    }
    return parts.join(" · ");
  }

  // ---- the list ------------------------------------------------------------------------

  function row(position) {
    const item = index.items[position];
    const head = el("button", { type: "button", class: "item-head", "aria-expanded": "false" },
      el("span", { class: "item-id" }, item.id),
      el("span", { class: "item-task" }, [item.agent, item.task].filter(Boolean).join(" · ")),
      el("span", { class: "item-values" }, ...item.values.map((value, run) =>
        el("span", { class: value === null ? "value missing" : "value" },
          el("span", { class: "letter" }, runName(run)), " ", valueText(item, run)))));
    const made = el("li", {}, head);
    head.addEventListener("click", () => {
      const open = head.getAttribute("aria-expanded") === "true";
      head.setAttribute("aria-expanded", String(!open));
      if (open) made.lastChild.remove();
      else made.append(itemBody(position));
    });
    return made;
  }

  // What is searched is the text of the data blocks, so the query is escaped as they are.
  function needle(query) {
    return JSON.stringify(query).slice(1, -1).replaceAll("<", "\\u003c").toLowerCase();
  }

  function holds(position, wanted) {
    const item = index.items[position];
    if (`${item.id}\n${item.task}`.toLowerCase().includes(wanted)) return true;
    const ids = [`s-${position}`, ...index.runs.map((_, run) => `j-${run}-${position}`)];
    return ids.some((id) => {
      const found = block(id);
      return found !== null && found.textContent.toLowerCase().includes(wanted);
    });
  }

  function keeps(item) {
    const status = tools.status.value;
    const unscored = item.values.some((value) => value === null);
    if (status === "scored" && unscored) return false;
    if (status === "unscored" && !unscored) return false;
    if (status.startsWith("reason:") && !item.reasons.includes(status.slice(7))) return false;
    return !tools.agent.value || item.agent === tools.agent.value.slice(1);
  }

  function rank(item) {
    const known = item.values.filter((value) => value !== null);
    if (tools.order.value === "apart") {
      return known.length < 2 ? Infinity : Math.min(...known) - Math.max(...known);
    }
    if (!known.length) return Infinity;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return tools.order.value === "high" ? -mean : mean;
  }

  function select() {
    const query = tools.search.value.trim();
    const wanted = query ? needle(query) : "";
    shown = index.items.map((_, position) => position)
      .filter((position) => keeps(index.items[position]) && (!wanted || holds(position, wanted)));
    if (tools.order.value) {
      const ranks = new Map(shown.map((position) => [position, rank(index.items[position])]));
      shown.sort((one, two) => {
        const [left, right] = [ranks.get(one), ranks.get(two)];
        return left === right ? one - two : left - right;
      });
    }
    list.replaceChildren();
    drawn = 0;
    draw();
  }

  function draw() {
    const end = Math.min(drawn + PAGE, shown.length);
    list.append(...shown.slice(drawn, end).map(row));
    drawn = end;
    more.hidden = drawn >= shown.length;
    more.textContent = `Show ${Math.min(PAGE, shown.length - drawn)} more`;
    block("item-count").textContent =
      `${shown.length} of ${index.items.length} items` + (more.hidden ? "" : `, ${drawn} listed`);
  }

  function option(select_, value, text) {
    const made = el("option", { value });
    made.textContent = text;
    select_.append(made);
  }

  function start() {
    const reasons = new Set(index.items.flatMap((item) => item.reasons).filter(Boolean));
    for (const reason of [...reasons].sort()) option(tools.status, `reason:${reason}`, words(reason));
    const agents = new Set(index.items.map((item) => item.agent).filter(Boolean));
    for (const agent of [...agents].sort()) option(tools.agent, `:${agent}`, agent);
    tools.agent.parentElement.hidden = agents.size < 2;
    block("item-tools").hidden = false;
    let waiting = 0;
    tools.search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(select, 150);
    });
    for (const name of ["status", "agent", "order"]) tools[name].addEventListener("change", select);
    more.addEventListener("click", () => {
      const next = drawn;
      draw();
      list.children[next].firstChild.focus();
    });
    select();
  }

  start();
})();
