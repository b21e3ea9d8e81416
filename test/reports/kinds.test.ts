import { expect, test } from "vitest";
import { ALL_FORMATS, FORMATS, type Format } from "../../reports/index.ts";
import { runRecordSchema } from "../../src/record/index.ts";
import {
  ctrfProblems,
  elementsOf,
  llmDProblems,
  markdownElements,
  readJunit,
  readMetrics,
  sarifProblems,
  textOf,
  xmlProblems,
} from "../support/readers.ts";
import { SAMPLES } from "../support/sample-records.ts";

const KINDS = Object.entries(SAMPLES);

/** Problems of a rendering, according to third-party code. */
const READERS: Readonly<Record<Format, (text: string) => unknown>> = {
  html: (text) => {
    const ids = elementsOf(text).flatMap(({ attrs }) =>
      attrs.filter(({ name }) => name === "id").map(({ value }) => value),
    );
    const links = elementsOf(text).flatMap(({ attrs }) =>
      attrs.filter(({ name }) => name === "href").map(({ value }) => value.slice(1)),
    );
    const shown = elementsOf(text)[0];
    const odd = /NaN|undefined|Infinity|\[object/.exec(shown === undefined ? "" : textOf(shown));
    return [
      ...ids.filter((id, index) => ids.indexOf(id) !== index),
      ...links.filter((id) => !ids.includes(id)),
      ...(odd ?? []),
    ];
  },
  junit: async (text) => [...(await xmlProblems(text)), ...(readJunit(text) === undefined ? ["unread"] : [])],
  ctrf: (text) => [ctrfProblems(text)].filter((problem) => problem !== ""),
  sarif: (text) => [sarifProblems(text)].filter((problem) => problem !== ""),
  // A column of figures is aligned, and an only cause is open; nothing else of ours has an attribute.
  markdown: (text) =>
    markdownElements(text).flatMap(({ attrs, tagName }) =>
      attrs.filter(({ name, value }) => value !== "text-align:right" && `${tagName} ${name}` !== "details open"),
    ),
  comment: (text) =>
    markdownElements(text).flatMap(({ attrs }) => attrs.filter(({ value }) => value !== "text-align:right")),
  annotations: (text) =>
    text
      .trimEnd()
      .split("\n")
      .filter((line) => !/^::(error|warning|notice) title=/.test(line)),
  events: (text) =>
    text
      .trimEnd()
      .split("\n")
      .filter((line) => typeof JSON.parse(line).event !== "string"),
  openmetrics: (text) =>
    readMetrics(text).filter(({ metrics }) => metrics.some(({ value }) => !Number.isFinite(Number(value)))),
  "llm-d": (text) => text.split(/(?<=^\})\n/m).flatMap((one) => (one === "" ? [] : llmDProblems(one))),
};

test.each(KINDS.flatMap(([kind, record]) => ALL_FORMATS.map((format) => [format, kind, record] as const)))(
  "%s: %s",
  async (format, _kind, record) => {
    expect(runRecordSchema.safeParse(record).success).toBe(true);
    const text = [...FORMATS[format]({ record, evidence: () => undefined }, "single").values()].join("");
    expect(text.length > 0).toBe(format !== "llm-d" || record.load !== undefined);
    expect(await READERS[format](text)).toEqual([]);
  },
);

test("a waived failure is red nowhere, and hidden nowhere", () => {
  const record = SAMPLES["failures"];
  if (record === undefined) throw new Error("no such sample");
  const source = { record, evidence: () => undefined };
  const waived = "errors.shape[chat]";
  const junit = readJunit([...FORMATS.junit(source, "single").values()].join(""));
  expect(junit?.suites.flatMap(({ cases }) => cases).find(({ name }) => name === waived)?.status).toBe("SKIP");
  const sarif = JSON.parse([...FORMATS.sarif(source, "single").values()].join(""));
  const entry = sarif.runs[0].results.find(({ message }: { message: { text: string } }) =>
    message.text.startsWith(waived),
  );
  expect(entry.suppressions).toHaveLength(1);
  for (const format of ["html", "markdown"] as const) {
    expect([...FORMATS[format](source, "single").values()].join("").includes("known since March"), format).toBe(true);
  }
});
