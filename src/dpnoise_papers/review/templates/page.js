"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const form = one("#search"), found = one("#found"), zoom = one("#zoom"), home = one("#overview");
  const ROMAN = { i: 1, ii: 2, iii: 3, iv: 4, v: 5, vi: 6, vii: 7, viii: 8, ix: 9, x: 10 };
  const KIND = { fig: "figure", eq: "equation", thm: "theorem" };
  const NAMED = /(table|figure|fig|theorem|thm|lemma|section|equation|eq|remark|algorithm|corollary|proposition)s?[.\s-]*\(?(\d+[a-d]?|[ivx]+)(?![\w.]\w)\)?/g;

  // What readers call by several names, as one word.
  const SAME = [
    [/offset[- ]symmetric(?:[- ]gaussian)?s?(?:[- ]tails?)?/g, "osgt"], [/\b(?:dp[- ]?)?coordinate[- ]descent\b|\bdpcd\b/g, "dp-cd"],
    [/\b(?:dp[- ]?)?principal[- ]components?(?:[- ]analysis)?\b/g, "dp-pca"], [/\btaxis?\b|\bcabs?\b|\btrips\b/g, "trip"],
    [/\bi\.n\.i\.d\.?/g, "inid"], [/\bi\.i\.d\.?/g, "iid"], [/\bvariances\b/g, "variance"], [/\bheat[- ]maps?\b/g, "heat-map"],
    [/\bnmses?\b|\bnormali[sz]ed mean squared? errors?\b/g, "nmse"], [/\bdata ?sets?\b/g, "dataset"],
  ];

  // Words of a text: 'Table II', 'table 2' and 'table-2' are one and the same word.
  function words(text) {
    const lower = text.toLowerCase().replace(/(\d),(?=\d{3}(?!\d))/g, "$1");
    const plain = SAME.reduce((known, [names, word]) => known.replace(names, ` ${word} `), lower).replace(/[−–]/g, "-").replace(/ε/g, "epsilon").replace(/δ/g, "delta");
    const named = plain.replace(NAMED, (_, kind, number) => ` ${KIND[kind] || kind}-${ROMAN[number] || number} `);
    return named.split(/[^\w.%+-]+/).map((word) => word.replace(/^[.-]+(?!\d)|[.-]+$/g, "")).filter(Boolean);
  }
  const number = (word) => (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?%?$/.test(word) ? parseFloat(word) : NaN);
  function meets(wanted, word) {
    if (word === wanted || number(word) === number(wanted)) return true;
    if (/^[a-z]+-\d+$/.test(wanted)) return word.startsWith(wanted) && /^[a-d]$/.test(word.slice(wanted.length));
    if (!word.startsWith(wanted)) return wanted.length > 3 && isNaN(number(wanted)) && word.includes(wanted);
    return isNaN(number(wanted)) || !isNaN(number(word));
  }

  // Whether two words differ by one letter, by two of a long word; numbers never do.
  function nearly(wanted, word) {
    if (wanted.length < 5 || !isNaN(number(wanted)) || /\d/.test(wanted)) return false;
    const most = wanted.length > 8 ? 2 : 1, other = word.slice(0, wanted.length + most);
    if (Math.abs(other.length - wanted.length) > most) return false;
    let row = [...Array(other.length + 1).keys()];
    for (let i = 1; i <= wanted.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= other.length; j += 1) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (wanted[i - 1] !== other[j - 1]));
      }
      row = next;
    }
    return row[other.length] <= most;
  }

  let index;
  function claims() {
    index = index || all(".claim").map((node) => {
      const text = (selector) => (one(selector, node) || { textContent: "" }).textContent;
      const numbers = words(`${text(".p")} ${text(".o")}`), said = text("h3");
      const { label, paper, verdict } = node.dataset, view = node.closest(".view");
      const causes = all(".because", node).map((cause) => cause.textContent);
      const texts = [label, text(".place"), said, text(".quote"), paper, verdict, view.dataset.caption, ...causes];
      const rest = texts.map(words).flat();
      return { node, said, numbers, all: [...numbers, ...rest, node.id], ...node.dataset };
    });
    return index;
  }
  function list(query) {
    const wanted = words(query.get("q") || "");
    const chosen = ["paper", "verdict", "kind"].filter((key) => query.get(key));
    const rank = (claim) => (wanted.some((word) => claim.numbers.includes(word)) ? 0 : 1);
    const open = claims().filter((claim) => chosen.every((key) => claim[key] === query.get(key))
      && (!query.get("cause") || claim.cause.split(" ").includes(query.get("cause"))));
    const where = (meet) => open.filter((claim) => wanted.every((word) => claim.all.some((other) => meet(word, other))));
    const exact = where(meets), hits = exact.length ? exact : where((word, other) => meets(word, other) || nearly(word, other));
    hits.sort((a, b) => rank(a) - rank(b));
    one("#found-hint").textContent = exact.length ? "" : hits.length
      ? "No claim has these words; these have words that are nearly the same."
      : "Try a number as it is printed (22.21), an item (Table II), a paper, a verdict, or one word of a statement.";
    one("#found-title").textContent = `${hits.length} ${hits.length === 1 ? "claim" : "claims"} found`;
    one("#found-claims").replaceChildren(...hits.map((claim) => {
      const row = document.createElement("li"), link = document.createElement("a");
      link.href = `#${claim.node.id}`;
      link.append(one(".badge", claim.node).cloneNode(true), ` ${claim.said} `);
      const place = document.createElement("small");
      const numbers = [".p", ".o"].map((side) => one(side, claim.node).textContent.trim());
      place.textContent = `${claim.paper}, ${claim.label} · printed ${numbers[0]} · ours ${numbers[1]}`;
      link.append(place);
      row.append(link);
      return row;
    }));
    const items = wanted.length ? all(".view.item").filter((view) => (!query.get("paper") || view.dataset.paper === query.get("paper"))
      && wanted.every((word) => words(`${one("h1", view).textContent} ${view.id.replace("/", " ")}`).some((other) => meets(word, other)))) : [];
    one("#found-items").replaceChildren(...items.slice(0, 24).map((view) => {
      const link = document.createElement("a"), paper = document.createElement("small");
      link.href = `#${view.id}`;
      paper.textContent = view.dataset.paper;
      link.append(`${one("h1", view).textContent} `, paper);
      return link;
    }));
  }

  function show(view) {
    all(".view.on").forEach((other) => other.classList.remove("on"));
    view.classList.add("on");
    all("img[data-same]", view).forEach((image) => { image.src = (document.getElementById(image.dataset.same) || {}).src || ""; });
  }
  function route() {
    const hash = decodeURIComponent(location.hash.slice(1));
    document.documentElement.classList.toggle("everything", hash === "all");
    all(".here").forEach((node) => node.classList.remove("here"));
    if (hash.startsWith("?")) {
      const query = new URLSearchParams(hash.slice(1));
      [...form.elements].forEach((field) => { if (field !== document.activeElement) field.value = query.get(field.name) || ""; });
      list(query);
      return show(found);
    }
    if (hash === "all") all("img[data-same]").forEach((image) => image.parentNode.remove());
    const target = (hash && document.getElementById(hash)) || home, view = target.closest(".view") || home;
    show(view);
    document.title = `${(one("h1", view) || {}).textContent} – dpnoise`;
    if (target === view) return scrollTo(0, 0);
    target.classList.add("here");
    target.scrollIntoView({ block: "start" });
    target.focus({ preventScroll: true });
  }
  function ask() {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim()));
    const hash = String(query) ? `#?${query}` : "#overview";
    history[location.hash.startsWith("#?") ? "replaceState" : "pushState"](null, "", hash);
    route();
  }
  form.addEventListener("input", ask);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = one("#found-claims a") || one("#found-items a");
    if (first) location.hash = first.hash;
  });
  addEventListener("hashchange", route);
  addEventListener("popstate", route);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    form.q.focus();
  });
  addEventListener("click", (event) => {
    const button = event.target.closest(".zoom");
    if (event.target === zoom) zoom.close();
    if (!button) return;
    const image = one("img", button);
    Object.assign(one("img", zoom), { src: image.src, alt: image.alt });
    zoom.showModal();
  });
  route();
})();
