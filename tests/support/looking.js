// What is wrong with how a page lies on the screen, as sentences; an empty list where nothing is. It changes nothing.
() => {
  const ROUNDING = 1.5; // pixels by which boxes may miss each other
  const faults = new Set();
  const root = document.documentElement;
  const clips = new Map(); // an element to the part of the window through which its content is seen

  const quote = (text) => `“${text.replace(/\s+/g, " ").trim().slice(0, 60)}”`;
  const name = (element) => element.tagName.toLowerCase() + [...element.classList].map((one) => `.${one}`).join("");
  const place = (element) => [element.parentElement, element].filter(Boolean).map(name).join(" > ");
  const style = (element) => getComputedStyle(element);
  const isForReadersOnly = (element) => element.closest(".hidden, .skip") !== null; // of screens: said, not shown
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !isForReadersOnly(element);

  // What is asked of elements again and again, of each once; `inherited` is what is true of an element where it is of one around it.
  function once(ask) {
    const known = new Map();
    return (element) => known.get(element) ?? (known.set(element, ask(element)), known.get(element));
  }
  const inherited = (ask) => {
    const found = once((element) => ask(element) || (element.parentElement !== null && element.parentElement !== root && found(element.parentElement)));
    return found;
  };
  const isClipping = once((element) => style(element).overflowX !== "visible" || style(element).overflowY !== "visible");
  const isScrolling = once((element) => [style(element).overflowX, style(element).overflowY].some((one) => one === "auto" || one === "scroll"));
  const isScrolled = inherited(isScrolling);
  const isShortened = inherited((element) => style(element).webkitLineClamp !== "none" || style(element).textOverflow === "ellipsis"); // with dots that say so

  // The boxes of a stretch of text, one a line; without those that have no room.
  function boxes(node, start, end) {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    return [...range.getClientRects()].filter((box) => box.width > 0.5 && box.height > 0.5);
  }

  // The window through which the content of an element is seen: that of all who clip it.
  function clip(element) {
    if (!element || element === root) return { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
    if (!clips.has(element)) {
      const outer = clip(element.parentElement);
      const box = element.getBoundingClientRect();
      const inner = isClipping(element) && element !== document.body
        ? { left: Math.max(outer.left, box.left), top: Math.max(outer.top, box.top), right: Math.min(outer.right, box.right), bottom: Math.min(outer.bottom, box.bottom) }
        : outer;
      clips.set(element, inner);
    }
    return clips.get(element);
  }

  const seen = (box, element) => {
    const part = clip(element);
    const found = { left: Math.max(box.left, part.left), top: Math.max(box.top, part.top), right: Math.min(box.right, part.right), bottom: Math.min(box.bottom, part.bottom) };
    return found.right - found.left > 0.5 && found.bottom - found.top > 0.5 ? found : null;
  };

  // --- words in the order in which they are read ---

  const PHRASES = new Set("A ABBR B CODE DEL EM I INS KBD MARK Q S SMALL SPAN STRONG SUB SUP TIME VAR".split(" "));
  const WHOLE = /^[“"'(]*\p{Lu}?[\p{Ll}'’]{2,15}[”"').,;:!?]*$/u; // a plain word, for which there is always room
  const isPhrase = (node) => node.nodeType === Node.ELEMENT_NODE && PHRASES.has(node.tagName);

  // The words of a paragraph in order, null where something else stands between them.
  function* wordsOf(paragraph) {
    for (const node of paragraph.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) yield* wordsIn(node);
      else if (isPhrase(node) && isShown(node)) yield* wordsOf(node);
      else if (node.nodeType === Node.ELEMENT_NODE) yield null;
    }
  }

  function* wordsIn(node) {
    const { whiteSpaceCollapse, textWrapMode } = style(node.parentElement);
    const keepsLines = whiteSpaceCollapse !== "collapse";
    const isOneWord = textWrapMode === "nowrap";
    for (const match of node.data.matchAll(isOneWord ? /\S.*\S|\S/gs : /\S+/g)) {
      const before = node.data.slice(0, match.index).match(/\s*$/)[0];
      const lines = boxes(node, match.index, match.index + match[0].length);
      for (const [at, box] of lines.entries()) {
        yield { text: match[0], box, size: parseFloat(style(node.parentElement).fontSize), isGlued: at === 0 && match.index === 0, goesOn: at > 0 && match.index > 0, isRest: at > 0, breaks: keepsLines && before.includes("\n") };
      }
    }
  }

  const isOnLine = (one, other) => Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.4 * Math.min(one.height, other.height);

  function lookAtParagraph(paragraph) {
    const words = [...wordsOf(paragraph)];
    const known = words.filter(Boolean);
    if (known.length < 2) return;
    const box = paragraph.getBoundingClientRect();
    const own = style(paragraph);
    const right = box.right - parseFloat(own.paddingRight) - parseFloat(own.borderRightWidth);
    const start = Math.min(...known.map((word) => word.box.left));
    const startsLeft = ["start", "left", "-webkit-auto"].includes(own.textAlign) && own.writingMode === "horizontal-tb";
    if (own.writingMode !== "horizontal-tb") return;
    for (let at = 1; at < words.length; at += 1) {
      const [before, word] = [words[at - 1], words[at]];
      if (word?.goesOn && WHOLE.test(word.text) && !isShortened(paragraph)) faults.add(`${quote(word.text)} in ${place(paragraph)} is broken within the word`);
      if (!before || !word || (word.isRest && isShortened(paragraph))) continue; // its dots have the box of a word
      const told = `${quote(`${before.text} ${word.text}`)} in ${place(paragraph)}`;
      if (isOnLine(before.box, word.box)) {
        const gap = word.box.left - before.box.right;
        if (gap < -ROUNDING) faults.add(`${told}: the second word stands left of the first one`);
        else if (gap > 1.5 * Math.max(word.size, before.size) && startsLeft) faults.add(`${told}: ${Math.round(gap)} pixels lie between them`);
      } else if (word.box.top < before.box.top) {
        faults.add(`${told}: the second word stands above the first one`);
      } else if (startsLeft && word.box.left > start + 2 * word.size) {
        faults.add(`${told}: the second word begins a line ${Math.round(word.box.left - start)} pixels from its start`);
      } else if (!word.breaks && !word.isRest && !word.isGlued && startsLeft) {
        let end = at; // what has no space before it goes along
        while (words[end + 1]?.isGlued && isOnLine(words[end].box, words[end + 1].box)) end += 1;
        const needed = words[end].box.right - word.box.left + 0.6 * word.size;
        if (right - before.box.right > needed + 6) faults.add(`${told}: the second word begins a line, and had room on the one before`);
      }
    }
  }

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const paragraphs = new Set();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style, select, datalist, svg, noscript") || !isShown(parent)) continue;
    let paragraph = parent;
    while (isPhrase(paragraph) && paragraph.parentElement) paragraph = paragraph.parentElement;
    // Spans that are laid out side by side, as numbers in a head are, are no sentence; what stands between words is.
    if (paragraph.tagName !== "PRE" && [...paragraph.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim())) paragraphs.add(paragraph);
    for (const box of boxes(node, 0, node.length)) texts.push({ node, parent, box });
  }
  paragraphs.forEach(lookAtParagraph);

  // --- nothing lies over other text, and nothing is cut off ---

  const drawn = [];
  for (const { node, parent, box } of texts) {
    const part = seen(box, parent);
    if (part) drawn.push({ node, parent, ...part });
    if (!part || part.right < box.right - ROUNDING || part.left > box.left + ROUNDING || part.bottom < box.bottom - 4) {
      const cutter = isScrolled(parent) || isShortened(parent) ? undefined : ancestors(parent).find(isClipping);
      if (cutter) faults.add(`${quote(node.data)} in ${place(parent)} is cut off by ${name(cutter)}`);
    } else if ((box.right > root.clientWidth + ROUNDING || box.left < -ROUNDING) && !isScrolled(parent)) {
      faults.add(`${quote(node.data)} in ${place(parent)} stands outside of the window`);
    }
  }

  function ancestors(element) {
    const found = [];
    for (let one = element; one && one !== root; one = one.parentElement) found.push(one);
    return found;
  }

  drawn.sort((one, other) => one.top - other.top);
  for (let at = 0; at < drawn.length; at += 1) {
    for (let next = at + 1; next < drawn.length && drawn[next].top < drawn[at].bottom - 3; next += 1) {
      const [one, other] = [drawn[at], drawn[next]];
      if (one.node === other.node) continue;
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 2 && high > 3) faults.add(`${quote(one.node.data)} in ${place(one.parent)} and ${quote(other.node.data)} in ${place(other.parent)} lie over each other`);
    }
  }

  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg, select") || !isClipping(element) || isScrolling(element) || isShortened(element) || !isShown(element)) continue;
    if (["INPUT", "TEXTAREA"].includes(element.tagName)) continue; // what is typed scrolls
    if (element.scrollWidth > element.clientWidth + ROUNDING) faults.add(`${place(element)} hides ${element.scrollWidth - element.clientWidth} pixels of its width`);
    if (element.scrollHeight > element.clientHeight + ROUNDING) faults.add(`${place(element)} hides ${element.scrollHeight - element.clientHeight} pixels of its height`);
  }
  if (root.scrollWidth > root.clientWidth) faults.add(`the page is ${root.scrollWidth} pixels wide in a window of ${root.clientWidth}`);
  return [...faults];
}
