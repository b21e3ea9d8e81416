import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { FORMATS, renderTerminal } from "../../reports/index.ts";
import { HOSTILE, hostileSource } from "../support/hostile.ts";
import {
  attribute,
  ctrfProblems,
  elementsOf,
  markdownElements,
  readJunit,
  readMetrics,
  sarifProblems,
  xmlProblems,
} from "../support/readers.ts";

const SOURCE = hostileSource();

function render(format: keyof typeof FORMATS): string {
  return [...FORMATS[format](SOURCE, "single").values()].join("");
}

/** The first dangerous sequence (a control or a bidirectional mark), or nothing. Line feeds and tabs are harmless. */
function harmIn(text: string): string | undefined {
  const place = text.search(/[^\n\t\P{Cc}]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  return place < 0 ? undefined : JSON.stringify(text.slice(Math.max(0, place - 60), place + 20));
}

describe("a hostile record", () => {
  test("html: nothing of it becomes markup, an address or a command to the reader", () => {
    const page = render("html");
    expect(harmIn(page)).toBeUndefined();
    expect(Buffer.byteLength(page)).toBeLessThan(1_500_000);
    const elements = elementsOf(page);
    const names = new Set(elements.map(({ tagName }) => tagName));
    for (const name of ["img", "iframe", "object", "embed", "form", "base"]) expect(names).not.toContain(name);
    expect(elements.filter(({ tagName }) => tagName === "script")).toHaveLength(1);
    expect(elements.filter(({ tagName }) => tagName === "style")).toHaveLength(1);
    for (const element of elements) {
      for (const { name, value } of element.attrs) {
        expect(name).not.toMatch(/^on|^style$|^src$/);
        if (name === "href") expect(value).toMatch(/^#[\w-]+$/);
        if (name === "id") expect(value).toMatch(/^[\w-]+$/);
      }
      if (element.tagName === "meta") expect(attribute(element, "http-equiv")).not.toBe("refresh");
    }
    const policy = elements
      .map((element) => attribute(element, "content"))
      .find((content) => content?.includes("script-src"));
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+';/);
  });

  test("junit: well-formed XML, and another reader finds every case", async () => {
    const xml = render("junit");
    expect(harmIn(xml)).toBeUndefined();
    expect(await xmlProblems(xml)).toEqual([]);
    const read = readJunit(xml);
    expect((read?.total ?? 0) + (read?.skipped ?? 0)).toBe(SOURCE.record.checks.length + 1);
  });

  test("ctrf and sarif: fit their schemas, with a reasonable size", () => {
    const [ctrf, sarif] = [render("ctrf"), render("sarif")];
    expect(ctrfProblems(ctrf)).toBe("");
    expect(sarifProblems(sarif)).toBe("");
    for (const text of [ctrf, sarif]) {
      expect(harmIn(text)).toBeUndefined();
      expect(Buffer.byteLength(text)).toBeLessThan(300_000);
    }
  });

  test("markdown: only the elements that we wrote, no links, no images", () => {
    const text = render("markdown");
    expect(harmIn(text)).toBeUndefined();
    const own = ["h2", "p", "details", "summary", "code", "ul", "li", "strong", "blockquote", "pre"];
    const allowed = [...own, "table", "thead", "tbody", "tr", "th", "td"];
    const elements = markdownElements(text);
    expect(elements.filter(({ tagName }) => !allowed.includes(tagName)).map(({ tagName }) => tagName)).toEqual([]);
    // Columns of figures are right-aligned.
    const attributes = elements.flatMap(({ attrs }) => attrs.map(({ name, value }) => `${name}=${value}`));
    expect(attributes.filter((one) => one !== "style=text-align:right")).toEqual([]);
    expect(text.includes("@everyone")).toBe(false);
  });

  test("annotations: every line is one of our commands; hostile text starts none", () => {
    const lines = render("annotations").trimEnd().split("\n");
    for (const line of lines) {
      expect(line).toMatch(/^::(error|warning|notice) title=[^:,]*::/);
      expect(line.slice(line.indexOf("::", 2) + 2)).not.toMatch(/%(?!25)/);
      expect(line).not.toMatch(/[\r\n]/);
      expect(harmIn(line)).toBeUndefined();
    }
  });

  test("events: one line of JSON per event", () => {
    const lines = render("events").split("\n");
    expect(lines.pop()).toBe("");
    expect(lines).toHaveLength(SOURCE.record.checks.length + 2);
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty("event");
    expect(lines.join("").search(/[\p{Cc}\p{Zl}\p{Zp}]/u)).toBe(-1);
  });

  test("openmetrics: labels hold it, and the end marker is last", () => {
    const text = render("openmetrics");
    expect(harmIn(text)).toBeUndefined();
    expect(text.split("\n").filter((line) => line.startsWith("# EOF"))).toHaveLength(1);
    expect(text.split("\n").every((line) => line === "" || /^(# |gauntlet_)/.test(line))).toBe(true);
    expect(readMetrics(text).every(({ name, type }) => name.startsWith("gauntlet_") && type === "GAUGE")).toBe(true);
  });

  test("terminal: no hostile escape sequence gets through", () => {
    const text = renderTerminal(SOURCE.record, {
      colors: pc.createColors(false),
      evidence: SOURCE.evidence,
      folder: "runs/x",
    });
    expect(harmIn(text)).toBeUndefined();
    expect(text.split("\n").some((line) => line.startsWith("::") || line.startsWith("##vso"))).toBe(false);
    expect(harmIn(HOSTILE)).toBeDefined();
  });
});
