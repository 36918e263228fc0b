"use strict";
(() => {
  const entries = Array.from(document.querySelectorAll("details.host"), (element) => (
    { element, words: element.dataset.words }));
  const rows = Array.from(document.querySelectorAll("tbody tr"), (row) => (
    { row, entry: entries[row.dataset.entry], text: null }));
  const sections = Array.from(document.querySelectorAll("section.role, section.cluster"));
  const form = document.getElementById("search");
  // A page of one host has nothing to search in.
  if (!form) return;
  const field = document.getElementById("words");
  const role = document.getElementById("role");
  const state = document.getElementById("state");
  const count = document.getElementById("count");

  const textOf = (one) => {
    one.text ??= `${one.row.textContent.toLowerCase()} ${one.row.dataset.words} ${one.entry.words}`;
    return one.text;
  };

  const show = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const states = state.value.split(" ");
    const seen = new Set();
    let shown = 0;
    for (const one of rows) {
      const { row, entry } = one;
      const isChosen = (!role.value || row.dataset.role === role.value) && (!state.value || states.includes(row.dataset.state));
      row.hidden = !(isChosen && wanted.every((word) => textOf(one).includes(word)));
      if (!row.hidden) {
        seen.add(entry);
        shown += 1;
      }
    }
    for (const entry of entries) entry.element.hidden = !seen.has(entry);
    for (const section of sections) {
      section.hidden = !section.querySelector("details.host:not([hidden])");
    }
    count.textContent = `${shown} of ${rows.length} hosts`;
  };

  // A page of ten thousand hosts is not searched for each letter of a word.
  let waiting = 0;
  const soon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(show);
  };

  const all = (isOpen) => () => {
    for (const { element } of entries) {
      if (!element.hidden) element.open = isOpen;
    }
  };

  field.addEventListener("input", soon);
  role.addEventListener("change", show);
  state.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("open").addEventListener("click", all(true));
  document.getElementById("close").addEventListener("click", all(false));
  document.querySelector("tbody").addEventListener("click", (event) => {
    const row = event.target.closest("button")?.closest("tr");
    if (!row) return;
    const { element } = entries[row.dataset.entry];
    element.open = true;
    element.scrollIntoView({ block: "start" });
    element.querySelector("summary").focus({ preventScroll: true });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && field.value) {
      field.value = "";
      show();
    }
  });
  for (const { row } of rows) row.querySelector("button").disabled = false;
  form.hidden = false;
  show();
})();
