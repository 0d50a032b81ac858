const TOOLS = ["search", "run", "status", "mark", "agent", "order"];
const MARKS = { contradicted: "contradicted claims", missing: "missing facts",
  incorrect: "incorrect facts", partial: "partial facts", wrong_choice: "a wrong choice",
  quote: "quotes not in the text", no_verdict: "claims or facts without a verdict" };
const tools = Object.fromEntries(TOOLS.map((name) => [name, block(`item-${name}`)]));
const list = block("item-list");
const more = block("item-more");
const links = new Map();
let shown = [];
let drawn = 0;

function valueText(item, run) {
  const value = item.values[run];
  return value === null ? words(item.reasons[run] || "unscored") : number(value);
}

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
    if (head.getAttribute("aria-expanded") === "true") closeRow(made);
    else openRow(made, position);
  });
  return made;
}

function openRow(made, position) {
  made.firstChild.setAttribute("aria-expanded", "true");
  if (made.children.length === 1) made.append(itemBody(position), itemFoot(position));
  history.replaceState(null, "", `#${index.items[position].link}`);
}

function closeRow(made) {
  made.firstChild.setAttribute("aria-expanded", "false");
  while (made.children.length > 1) made.lastChild.remove();
}

function itemFoot(position) {
  const step = (by, text) => {
    const made = el("button", { type: "button" }, text);
    made.disabled = shown[shown.indexOf(position) + by] === undefined;
    made.addEventListener("click", () => goOn(position, by));
    return made;
  };
  return el("div", { class: "item-foot" }, step(-1, "← Previous"), step(1, "Next →"),
    el("a", { href: `#${index.items[position].link}` }, "Link to this item"));
}

// Closes an item and opens the one before or after it.
function goOn(position, by) {
  const place = shown.indexOf(position);
  const next = shown[place + by];
  if (place < 0 || next === undefined) return;
  closeRow(list.children[place]);
  show(next);
}

function show(position) {
  if (!shown.includes(position)) {
    for (const name of TOOLS) tools[name].value = "";
    select();
  }
  const place = shown.indexOf(position);
  while (drawn <= place) draw();
  const made = list.children[place];
  openRow(made, position);
  made.firstChild.focus({ preventScroll: true });
  made.scrollIntoView({ block: "start" });
}

function onKey(event) {
  const made = event.target.closest(".items > li");
  if (made === null || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = [...list.children].indexOf(made);
  if (event.key === "n" || event.key === "p") {
    goOn(shown[place], event.key === "n" ? 1 : -1);
  } else if (event.target === made.firstChild && /^Arrow(Up|Down)$/.test(event.key)) {
    const next = list.children[place + (event.key === "ArrowDown" ? 1 : -1)];
    if (next !== undefined) next.firstChild.focus();
  } else {
    return;
  }
  event.preventDefault();
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

// A column of an item: of all runs, or of the one that is chosen.
function chosen(item, column) {
  return tools.run.value === "" ? item[column] : [item[column][Number(tools.run.value)]];
}

function keeps(item) {
  const [status, mark] = [tools.status.value, tools.mark.value];
  const unscored = chosen(item, "values").some((value) => value === null);
  if (status === "scored" && unscored) return false;
  if (status === "unscored" && !unscored) return false;
  if (status.startsWith("reason:") && !chosen(item, "reasons").includes(status.slice(7))) return false;
  if (mark && !chosen(item, "marks").flat().includes(mark)) return false;
  return !tools.agent.value || item.agent === tools.agent.value.slice(1);
}

function rank(item) {
  const apart = tools.order.value === "apart";
  const known = (apart ? item.values : chosen(item, "values")).filter((value) => value !== null);
  if (apart) return known.length < 2 ? Infinity : Math.min(...known) - Math.max(...known);
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
