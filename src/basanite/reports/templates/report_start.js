function option(select_, value, text) {
  const made = el("option", { value });
  made.textContent = text;
  select_.append(made);
}

function fillTools() {
  const all = (column) => new Set(index.items.flatMap((item) => item[column].flat()).filter(Boolean));
  for (const reason of [...all("reasons")].sort()) option(tools.status, `reason:${reason}`, words(reason));
  const marks = all("marks");
  for (const [mark, text] of Object.entries(MARKS)) if (marks.has(mark)) option(tools.mark, mark, text);
  const agents = new Set(index.items.map((item) => item.agent).filter(Boolean));
  for (const agent of [...agents].sort()) option(tools.agent, `:${agent}`, agent);
  tools.agent.parentElement.hidden = agents.size < 2;
  tools.mark.parentElement.hidden = !marks.size;
  tools.run.parentElement.hidden = index.runs.length < 2;
  block("item-tools").hidden = false;
  block("item-keys").hidden = false;
}

// Each item's link is made of its id; where two items share an id, the second has a number.
function linkItems() {
  index.items.forEach((item, position) => {
    const plain = `item-${encodeURIComponent(item.id.replace(/[\ud800-\udfff]/gu, "\ufffd"))}`;
    let link = plain;
    for (let n = 2; links.has(link); n += 1) link = `${plain}~${n}`;
    item.link = link;
    links.set(link, position);
  });
}

function followLink() {
  let name = location.hash.slice(1);
  if (!name.startsWith("item-")) return;
  if (!links.has(name)) {
    try {
      name = `item-${encodeURIComponent(decodeURIComponent(name.slice(5)))}`;
    } catch {
      return; // no link of this page
    }
  }
  if (links.has(name)) show(links.get(name));
}

// A count in the table of reasons leads to the items that it counts.
function onFilterLink(event) {
  const link = event.target.closest("a[data-status]");
  if (link === null) return;
  for (const name of TOOLS) tools[name].value = "";
  tools.run.value = link.dataset.run;
  tools.status.value = link.dataset.status;
  if (!tools.status.value) tools.status.value = "";
  select();
}

// The numbers above are over all items; a page can't bear the texts of any number of them.
function sayWhatIsLeftOut() {
  const said = [];
  if (index.more) said.push(`This list holds the first ${index.items.length} items; there are more.`);
  if (index.brief) said.push(`Of ${index.brief} judgments it shows the scores only.`);
  if (!said.length) return;
  const box = block("item-cut");
  box.append(...said.map((text) => `${text} `), "All tables and plots are over all items; ",
    el("code", {}, "basanite export RUN --format jsonl"), " gives everything.");
  box.hidden = false;
}

function startItems() {
  sayWhatIsLeftOut();
  linkItems();
  fillTools();
  let waiting = 0;
  tools.search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(select, 150);
  });
  for (const name of TOOLS.slice(1)) tools[name].addEventListener("change", select);
  list.addEventListener("keydown", onKey);
  document.addEventListener("click", onFilterLink);
  more.addEventListener("click", () => {
    const next = drawn;
    draw();
    list.children[next].firstChild.focus();
  });
  select();
  followLink();
  addEventListener("hashchange", followLink);
}

document.querySelectorAll("table.sortable").forEach(sortable);
if (index !== null && list !== null) startItems();
