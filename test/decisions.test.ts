/** The list at the head of docs/decisions.md leads to every decision but the newest. */
import { describe, expect, it } from "vitest";
import { textOf } from "./project.ts";

const page = textOf("docs/decisions.md");

/** As hosts of Git name the place of a heading. */
const placeOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

const headings = [...page.matchAll(/^## (?<heading>.+)$/gm)].map(({ groups }) => groups?.["heading"] ?? "");
const places = headings.map(placeOf);
const listed = [...page.matchAll(/^- \[.+\]\(#(?<place>[^)]+)\)$/gm)].map(({ groups }) => groups?.["place"] ?? "");

describe("the list of decisions", () => {
  it("has each once, from the first to the newest that it knows", () => {
    const known = places.slice(0, Math.max(...listed.map((place) => places.indexOf(place))) + 1);
    expect(listed.toSorted()).toEqual(known.toSorted());
  });

  it("leaves out no more than 40 new ones", () => {
    expect(places.length - listed.length, "give each its place in the list at the head").toBeLessThanOrEqual(40);
  });

  it("names headings that are told apart, each with its day", () => {
    expect(new Set(places).size).toBe(places.length);
    expect(headings.filter((heading) => !/^\d{4}-\d\d-\d\d: ./.test(heading))).toEqual([]);
  });
});
