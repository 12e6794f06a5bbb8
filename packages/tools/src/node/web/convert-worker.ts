/** The worker thread that converts one page. */
import { parentPort, workerData } from "node:worker_threads";
import * as E from "fp-ts/lib/Either.js";
import Turndown from "turndown";

export interface Page {
  readonly html: string;
  readonly format: "markdown" | "text";
}
export type Converted = E.Either<string, string>;

/** The part of a DOM element that a row needs. */
interface Row {
  readonly children: { readonly length: number };
  readonly closest: (name: string) => { readonly querySelector: (name: string) => unknown } | null;
}

const invisible: readonly Turndown.TagName[] = ["script", "style", "noscript", "template", "iframe", "object", "title"];

const cell = (content: string): string =>
  `| ${content
    .trim()
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|")} `;

/** Writes a row, and the separator line that Markdown requires below the first row of a table. */
const row = (content: string, node: Row): string => {
  const isFirst = node.closest("table")?.querySelector("tr") === node;
  const rule = isFirst ? `\n${"| --- ".repeat(node.children.length)}|` : "";
  return `\n${content}|${rule}`;
};

const markdown = (): Turndown => {
  const service = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.addRule("cell", { filter: ["td", "th"], replacement: cell });
  service.addRule("row", { filter: "tr", replacement: (content, node) => row(content, node as unknown as Row) });
  service.addRule("section", { filter: ["thead", "tbody", "tfoot"], replacement: (content) => content });
  return service;
};

/** Converts to plain text, block by block. */
const plain = (): Turndown => {
  const service = new Turndown();
  service.escape = (text) => text;
  const isBlock = /^(?:P|DIV|H[1-6]|UL|OL|TABLE|BLOCKQUOTE|PRE|SECTION|ARTICLE|HEADER|FOOTER|MAIN|NAV|ASIDE)$/;
  service.addRule("line", { filter: ["br"], replacement: () => "\n" });
  service.addRule("item", { filter: ["li", "tr"], replacement: (content) => `\n${content.trim()}` });
  service.addRule("cell", { filter: ["td", "th"], replacement: (content) => `${content.trim()} ` });
  service.addRule("inside", {
    filter: (node) => !["BR", "LI", "TR", "TD", "TH"].includes(node.nodeName),
    replacement: (content, node) => (isBlock.test(node.nodeName) ? `\n\n${content}\n\n` : content),
  });
  return service;
};

const { html, format } = workerData as Page;
const service = format === "markdown" ? markdown() : plain();
service.addRule("invisible", { filter: [...invisible], replacement: () => "" }); // Turndown tries the last rule first.
const answer: Converted = E.right(service.turndown(html));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(answer);
