/** What moves on a page by itself: animations, transitions, and scrolling that takes its time; from before it is loaded. */
import type { BrowserContext, Page } from "playwright-core";

const recorder = `(() => {
  const motions = (globalThis.motions = []);
  const note = (what, on) => motions.push(what + " of " + (on?.className || on?.tagName || "the page"));
  const listen = (root) => {
    for (const type of ["animationstart", "transitionrun"])
      root.addEventListener(type, ({ target, animationName, propertyName }) =>
        note(type + " " + (animationName ?? propertyName), target), true);
  };
  listen(document);
  const { attachShadow, animate } = Element.prototype;
  Element.prototype.attachShadow = function (init) {
    const root = attachShadow.call(this, init);
    listen(root);
    return root;
  };
  Element.prototype.animate = function (...of) {
    note("animate", this);
    return animate.apply(this, of);
  };
  for (const [on, names] of [[Element.prototype, ["scrollIntoView", "scroll", "scrollTo", "scrollBy"]], [globalThis, ["scroll", "scrollTo", "scrollBy"]]])
    for (const name of names) {
      const scroll = on[name];
      on[name] = function (...of) {
        const isSmooth = of.some((one) => one?.behavior === "smooth");
        const styled = getComputedStyle(this instanceof Element ? this : document.documentElement).scrollBehavior;
        if (isSmooth || (styled === "smooth" && of.every((one) => one?.behavior !== "instant"))) note(name, this);
        return scroll.apply(this, of);
      };
    }
})()`;

export const watchMotion = (context: BrowserContext): Promise<unknown> => context.addInitScript(recorder);

/** Returns what has moved so far. */
export const motionsIn = (page: Page): Promise<readonly string[]> => page.evaluate("motions");
