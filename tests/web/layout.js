// What a person would complain of, found in the page as it stands: boxes that cover one another, controls without a name.
(() => {
  const CONTROLS = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[tabindex="0"]';
  const SLACK = 2; // pixels by which neighbours may touch

  const seen = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }) &&
    !element.closest(".c-hidden,.c-skip,[hidden],.q-notifications,.nicegui-error-popup");

  // The part of a box that its scrolling and clipping ancestors let through.
  const clipped = (box, element) => {
    let { left, top, right, bottom } = box;
    for (let parent = element; parent && parent !== document.body; parent = parent.parentElement) {
      const style = getComputedStyle(parent);
      if (parent !== element && (style.overflowX !== "visible" || style.overflowY !== "visible")) {
        const bounds = parent.getBoundingClientRect();
        left = Math.max(left, bounds.left); right = Math.min(right, bounds.right);
        top = Math.max(top, bounds.top); bottom = Math.min(bottom, bounds.bottom);
      }
    }
    return { left, top, right, bottom };
  };

  const named = (element) => {
    const words = (element.innerText || element.value || element.textContent || "").trim().slice(0, 40);
    return `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") || ""}"> ${words}`;
  };

  // What a picture cuts off is not seen; its own scissors are not the ones of a page.
  const cut = (element) => element instanceof SVGElement && element.closest("[clip-path]") !== null;

  // The upright box around slanted words of a picture is larger than they are.
  const slanted = (element) => element instanceof SVGGraphicsElement && Math.abs(element.getScreenCTM()?.b ?? 0) > 0.01;

  const boxes = () => {
    const found = [];
    const add = (box, element, kind) => {
      const part = clipped(box, element);
      if (part.right - part.left > SLACK && part.bottom - part.top > SLACK) found.push({ ...part, element, kind });
    };
    for (const element of document.querySelectorAll("body *")) {
      if (!seen(element) || slanted(element) || cut(element)) continue;
      const tag = element.tagName.toLowerCase();
      if (tag === "option" || tag === "script" || tag === "style") continue;
      if (element.matches(CONTROLS) && element.tagName !== "A" && !element.matches('[tabindex="0"]:not(button)'))
        add(element.getBoundingClientRect(), element, "control");
      for (const node of element.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE || !node.nodeValue.trim()) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) add(box, element, "text");
      }
    }
    return found;
  };

  const covers = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK + 1;

  const stuck = (element) => {
    for (let parent = element; parent; parent = parent.parentElement)
      if (["sticky", "fixed"].includes(getComputedStyle(parent).position)) return true;
    return false;
  };

  window.celosiaOverlaps = () => {
    const all = boxes().sort((a, b) => a.top - b.top);
    const told = [];
    for (let i = 0; i < all.length && told.length < 8; i++) {
      for (let j = i + 1; j < all.length && all[j].top < all[i].bottom; j++) {
        const [a, b] = [all[i], all[j]];
        if (a.element === b.element || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        if (!covers(a, b) || stuck(a.element) !== stuck(b.element)) continue;
        told.push(`${named(a.element)}  ⟷  ${named(b.element)}`);
      }
    }
    return told;
  };

  const shown = (element) => seen(element) && !element.disabled && element.getBoundingClientRect().width > 0;
  const stops = () => [...document.querySelectorAll(CONTROLS)].filter(
    (element) => element.tabIndex >= 0 && (shown(element) || element.classList.contains("c-skip")),
  );

  window.celosiaNameless = () => stops().filter((element) => {
    const label = element.getAttribute("aria-label") || element.getAttribute("title") || "";
    const by = (element.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id));
    const labels = [...(element.labels || []), ...by.filter(Boolean)].map((one) => one.textContent).join("");
    const own = element.matches("input,select,textarea") ? "" : element.textContent;
    return !(label + labels + own).trim();
  }).map(named);

  // Controls of one group of radio buttons are one stop.
  window.celosiaStops = () => {
    const groups = new Set();
    return stops().filter((element) => {
      if (element.type !== "radio") return true;
      if (groups.has(element.name)) return false;
      groups.add(element.name);
      return true;
    }).map((element, number) => { element.dataset.celosiaStop = number; return named(element); });
  };

  window.celosiaFocus = () => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const style = getComputedStyle(element);
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    return {
      stop: element.dataset.celosiaStop === undefined ? -1 : Number(element.dataset.celosiaStop),
      visible: outlined || style.boxShadow !== "none",
      name: named(element),
    };
  };
})();
