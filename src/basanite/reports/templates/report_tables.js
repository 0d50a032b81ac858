// Tables whose heads sort them. Without a script they stand in the order of the run.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.hasAttribute("data-unsorted")) return;
    const button = el("button", { type: "button", class: "sorter" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending" ? true
        : head.getAttribute("aria-sort") === "ascending" ? false : column === 0;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sortRows(table.tBodies[0], column, up);
    });
  });
}

function sortRows(body, column, up) {
  const keys = new Map([...body.rows].map((row) => [row, sortKey(row.cells[column])]));
  const rows = [...body.rows].sort((one, two) => {
    const [left, right] = [keys.get(one), keys.get(two)];
    // What has no value stays at the end, whichever way the others go.
    if (left === null || right === null) return (left === null) - (right === null);
    const order = typeof left === "number" ? left - right
      : left.localeCompare(right, undefined, { numeric: true });
    return up ? order : -order;
  });
  body.append(...rows);
}

function sortKey(cell) {
  const value = cell.dataset.value;
  if (value === undefined) return cell.textContent.trim();
  return value === "" ? null : Number(value);
}
