"use strict";
(() => {
  const hosts = Array.from(document.querySelectorAll("details.host"), (element) => (
    { element, words: element.dataset.words }));
  const sections = Array.from(document.querySelectorAll("section.role, section.cluster"));
  const form = document.getElementById("search");
  const field = document.getElementById("words");
  const only = document.getElementById("only");
  const count = document.getElementById("count");

  const show = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { element, words } of hosts) {
      const isKept = !(only && only.checked) || "kept" in element.dataset;
      element.hidden = !(isKept && wanted.every((word) => words.includes(word)));
      shown += element.hidden ? 0 : 1;
    }
    for (const section of sections) {
      section.hidden = !section.querySelector("details.host:not([hidden])");
    }
    count.textContent = `${shown} of ${hosts.length} hosts`;
  };

  // A page of ten thousand hosts is not searched for each letter of a word.
  let waiting = 0;
  const soon = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(show);
  };

  const all = (isOpen) => () => {
    for (const { element } of hosts) {
      if (!element.hidden) element.open = isOpen;
    }
  };

  field.addEventListener("input", soon);
  if (only) only.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("open").addEventListener("click", all(true));
  document.getElementById("close").addEventListener("click", all(false));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && field.value) {
      field.value = "";
      show();
    }
  });
  form.hidden = false;
  show();
})();
