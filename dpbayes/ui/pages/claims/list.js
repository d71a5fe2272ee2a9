// Streamlit's table scrolls to the row that Python marks, but not when the table is new. This scrolls a new table.
const PATIENCE = 10_000; // milliseconds until a new table must have its rows
const seen = new WeakSet();

export default function ({ data }) {
  scroll(data, performance.now() + PATIENCE);
}

function scroll({ table, top }, end) {
  const rows = document.querySelector(`.st-key-${table} .dvn-scroller`);
  if (seen.has(rows) || performance.now() > end) return;
  if (rows) rows.scrollTop = top;
  if (rows && (rows.scrollTop || !top)) seen.add(rows);
  else setTimeout(() => scroll({ table, top }, end), 50);
}
