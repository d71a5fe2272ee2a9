// Streamlit has made an entry of the browser's history for a page that Python turned to, still with the settings of the
// page before. This writes the page's own settings into that entry, where Streamlit itself would make one more.
const PATIENCE = 10_000; // milliseconds until the page must have got its entry
let last = null;

export default function ({ data, setTriggerValue }) {
  if (data.order === last) return; // drawn once more
  last = data.order;
  write(data, setTriggerValue, performance.now() + PATIENCE);
}

function write(data, tell, end) {
  if (data.order !== last || performance.now() > end) return;
  if (location.pathname.endsWith(`/${data.page}`)) {
    history.replaceState(history.state, "", location.pathname + (data.query && `?${data.query}`));
    tell("written", data.order);
  } else setTimeout(() => write(data, tell, end), 10);
}
