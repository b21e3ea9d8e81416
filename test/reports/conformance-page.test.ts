import { expect, test } from "vitest";
import { type Evidence, FORMATS, readEvidence } from "../../reports/index.ts";
import type { CheckChange, Comparison, RunRecord } from "../../src/record/index.ts";
import { attribute, elementsIn, elementsOf, textOf } from "../support/readers.ts";
import { broken, exchangeLine, recordOf, result } from "../support/records.ts";
import { SAMPLES } from "../support/sample-records.ts";

const elementsOfPage = (record: RunRecord, evidence: (id: string) => Evidence | undefined = () => undefined) =>
  elementsOf([...FORMATS.html({ record, evidence }, "single").values()].join(""));

const textsOf = (page: ReturnType<typeof elementsOfPage>, tag: string) =>
  page.filter(({ tagName }) => tagName === tag).map(textOf);

test("the whole command is next to the verdict", () => {
  const page = elementsOfPage(
    recordOf([result("auth.one[chat]", "pass")], { command: "conform", arguments: ["auth", "--only", "auth.one"] }),
  );
  const [verdict] = page.filter((one) => attribute(one, "id") === "verdict");
  expect(verdict === undefined ? "" : textOf(verdict)).toContain(
    "gauntlet conform auth --only auth.one --target gauntlet.yaml --seed 7",
  );
});

test("a run of some suites says how many suites were selected", () => {
  const verdictOf = (notSelected: readonly string[]) => {
    const page = elementsOfPage(recordOf([result("auth.one[chat]", "pass")], { notSelected: [...notSelected] }));
    const [verdict] = page.filter((one) => attribute(one, "id") === "verdict");
    return verdict === undefined ? "" : textOf(verdict);
  };
  expect(verdictOf(["chat.one", "errors.one"])).toContain(
    "No requirement was violated. 1 of 3 suites was selected: auth.",
  );
  expect(verdictOf(["auth.two"])).toMatch(/No requirement was violated\.(?! \d)/);
});

test("a run of most suites names those that were not selected", () => {
  const suites = ["auth", "chat", "errors", "limits", "messages"].map((suite) => result(`${suite}.one`, "pass"));
  const [verdict] = elementsOfPage(recordOf(suites, { notSelected: ["models.one", "soak.one", "soak.two"] })).filter(
    (one) => attribute(one, "id") === "verdict",
  );
  expect(verdict && textOf(verdict)).toContain("5 of 7 suites were selected; not selected: models and soak.");
});

test("areas without a judged requirement are one collapsed line", () => {
  const page = elementsOfPage(recordOf([result("auth.one[chat]", "fail")]));
  const [layer] = page.filter((one) => attribute(one, "id") === "layer-specification");
  const parts = layer === undefined ? [] : elementsIn(layer).filter(({ tagName }) => tagName === "details");
  const [others] = parts.filter((part) => attribute(part, "class") === "not-judged");
  expect(others === undefined ? "" : textOf(others)).toMatch(/^\d+ areas without a judged requirement: .*limits/);
  expect(others === undefined ? undefined : attribute(others, "open")).toBeUndefined();
  const inside = others === undefined ? [] : elementsIn(others);
  const shown = parts.filter((part) => attribute(part, "class") === "area" && !inside.includes(part));
  expect(shown.map((area) => textOf(area).slice(0, 4))).toEqual(["auth"]);
});

test("the control request of a failure has its own command", () => {
  const requested = { endpoint: "chat", mode: "non-streaming", intent: "valid" };
  const evidence = (id: string) => readEvidence(exchangeLine(id, id === "x00002" ? { requested, control: true } : {}));
  const failed = result("auth.one[chat]", "fail", {
    findings: [broken({ control: "x00002", exchanges: ["x00001"] })],
    exchanges: ["x00001", "x00002"],
  });
  const commands = elementsOfPage(recordOf([failed]), evidence).filter(
    (one) => one.tagName === "pre" && textOf(one).startsWith("curl "),
  );
  expect(commands.map((one) => attribute(one, "aria-label"))).toEqual(
    expect.arrayContaining(["curl command with the key as a variable", "curl command for the control request"]),
  );
});

test("the navigation counts causes and results without a cause separately", () => {
  const navigationOf = (...checks: readonly RunRecord["checks"][number][]) => {
    const page = elementsOfPage(recordOf(checks));
    const [list] = page.filter((one) => attribute(one, "class") === "toc");
    const links = list === undefined ? [] : elementsIn(list).filter(({ tagName }) => tagName === "li");
    const ids = page.flatMap((one) => attribute(one, "id") ?? []);
    const targets = links.flatMap((one) =>
      elementsIn(one).flatMap((inner) => attribute(inner, "href")?.slice(1) ?? []),
    );
    expect(targets.filter((id) => !ids.includes(id))).toEqual([]);
    return links.map(textOf).filter((text) => /\d$/.test(text));
  };
  const failed = result("auth.one[chat]", "fail");
  const open = result("auth.two[chat]", "inconclusive");
  expect(navigationOf(failed)).toEqual(["Causes1"]);
  expect(navigationOf(failed, open)).toEqual(["Causes1", "Without a cause1"]);
  expect(navigationOf(open)).toEqual(["Undecided1"]);
});

/** The sample comparison with other parts. */
function compared(overrides: Partial<Comparison>): RunRecord {
  const { compare } = SAMPLES;
  if (compare?.comparison === undefined) throw new Error("no such sample");
  return { ...compare, comparison: { ...compare.comparison, ...overrides } };
}

test("each difference in the responses is one row, with all places where it was seen", () => {
  const seen = ["a", "b", "c", "d", "e"].map((where) => ({
    kind: "status" as const,
    where,
    what: "status",
    before: "401",
    now: "200",
  }));
  const page = elementsOfPage(
    compared({ drift: [...seen, { kind: "reason", where: "a", what: "reason", before: "x", now: "none" }] }),
  );
  const [table] = page.filter((one) => one.tagName === "table" && textOf(one).startsWith("Behaviour that differs"));
  const rows = table === undefined ? [] : elementsIn(table).filter(({ tagName }) => tagName === "tr");
  expect(rows.map((row) => textOf(row))).toEqual(["WhatBeforeNowWhere", "status401200abcand 2 morede", "reasonxnonea"]);
  expect(textsOf(page, "h3").some((text) => text.startsWith("Behaviour that differs (2)"))).toBe(true);
  expect(textsOf(page, "p").join(" ")).toContain("2 differences in the responses");
});

test("a comparison says that a new warning is a regression, and other runs that warnings do not decide", () => {
  const newWarning: CheckChange = { id: "auth.one", before: "pass", now: "warn", message: "" };
  const { comparison, counts, ...record } = compared({});
  if (comparison === undefined) throw new Error("no such sample");
  const checks = { ...comparison.checks, worse: [newWarning] };
  const warned = { ...record, counts: { ...counts, warn: 3 } };
  const pageOf = (one: RunRecord) => textsOf(elementsOfPage(one), "li").join("\n");
  const ofComparison = pageOf({ ...warned, comparison: { ...comparison, checks } });
  expect(ofComparison).toContain(
    "3 check instances warned, 1 of them newly. Of the warnings, only new ones are regressions.",
  );
  expect(ofComparison).not.toContain("do not change the verdict");
  expect(pageOf({ ...warned, command: "conform" })).toContain("Warnings do not change the verdict.");
});

test("the page of two stored runs names the run whose time and duration it shows", () => {
  const side = { label: "staging", runId: "1", startedAt: "2026-11-20T08:00:00.000Z", command: "conform" };
  const page = elementsOfPage(compared({ kind: "stored", a: { ...side, name: "old" }, b: { ...side, name: "new" } }));
  const header = page.find(({ tagName }) => tagName === "header");
  expect(header === undefined ? "" : textOf(header)).toContain("second run (new): ");
  expect(textsOf(page, "dt")).toEqual(expect.arrayContaining(["Started (new)", "Duration (new)"]));
  expect(textsOf(page, "dd")).toContain("gauntlet compare old new");
  expect(textsOf(page, "dd").filter((text) => text.includes("2026-11-20 08:00:00 UTC"))).toHaveLength(2);
});

test("text in backquotes is code, wherever a sentence of ours stands", () => {
  const reason = "an instance did not read `Retry-After: 1`";
  const failed = result("auth.one[chat]", "fail", {
    message: reason,
    findings: [
      broken({ subject: reason, expected: { kind: "condition", text: "sent `once`" }, pointer: undefined }),
      broken({ subject: `${reason} and ${"x".repeat(180)} \`cut here and there`, requirements: ["AUTH-4"] }),
    ],
  });
  const undecided = result("auth.two[chat]", "inconclusive", { message: reason, undecided: reason });
  const page = elementsOfPage(
    recordOf([failed, undecided, result("auth.three[chat]", "blocked", { message: "needs `keys.revoked`" })]),
  );
  const [main] = page.filter(({ tagName }) => tagName === "main");
  if (main === undefined) throw new Error("no main part");
  const shown = elementsIn(main).filter(({ tagName }) => ["p", "li", "td", "h3", "h4", "summary"].includes(tagName));
  expect(shown.map(textOf).filter((text) => text.includes("`"))).toEqual([]);
  expect(textsOf(page, "code")).toEqual(expect.arrayContaining(["Retry-After: 1", "once", "keys.revoked"]));
});
