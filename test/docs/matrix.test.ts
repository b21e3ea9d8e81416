import { existsSync, readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { readClaims } from "../../src/claims/index.ts";
import { attribute, elementsOf } from "../support/readers.ts";

const MATRIX = join(ROOT, "docs/matrix");
/** Longer names are cut in some places. */
const MAX_NAME = 55;
const page = readFileSync(join(MATRIX, "index.html"), "utf8");
const claims = readClaims(readdirSync(join(MATRIX, "claims")).map((name) => join(MATRIX, "claims", name)));

test("the published matrix has the claims of all gateways, none of which contradicts itself, and says that each was verified", () => {
  const names = claims.map(({ claim }) => claim.gateway.name);
  expect(names).toEqual(
    expect.arrayContaining([
      "embedded reference gateway",
      "hardcap",
      "inferrail",
      "litellm",
      "litellm-without-database",
      "portkey",
    ]),
  );
  expect(names.filter((name) => name.startsWith("embedded reference gateway with "))).toHaveLength(1);
  expect(page.match(/yes: recomputed from the record, byte for byte/g)).toHaveLength(claims.length);
  expect(page.match(/not verified/)?.[0]).toBeUndefined();
  for (const { claim } of claims) expect(claim.harness).toMatchObject({ dirty: false, commit: expect.any(String) });
});

test("a violated MUST of every claim has its evidence on the page, and every link leads somewhere", () => {
  const elements = elementsOf(page);
  const ids = new Set(elements.flatMap((element) => attribute(element, "id") ?? []));
  const targets = elements.flatMap((element) => attribute(element, "href") ?? []);
  expect(targets.filter((href) => !ids.has(href.slice(1)) && !existsSync(join(MATRIX, href)))).toEqual([]);
  const labels = elements.flatMap((element) => attribute(element, "aria-label") ?? []);
  const missing = claims.flatMap(({ claim }) =>
    claim.profiles.flatMap(({ requirements }) =>
      requirements
        .filter(({ level, result }) => result === "broken" && level === "MUST")
        .map(({ id }) => `${id} of ${claim.gateway.name.slice(0, MAX_NAME)}`)
        .filter((start) => !labels.some((label) => label.startsWith(start))),
    ),
  );
  expect(missing).toEqual([]);
});

test("each badge states what the claim of its gateway states", () => {
  const badges = readdirSync(MATRIX).filter((name) => name.endsWith(".svg"));
  const titles = badges.map((name) => /<title>(.*)<\/title>/.exec(readFileSync(join(MATRIX, name), "utf8"))?.[1] ?? "");
  const words = {
    conformant: "conformant",
    "not-conformant": "not conformant",
    partial: "partial",
    "not-claimed": "not claimed",
  };
  const expected = claims.flatMap(({ claim }) =>
    claim.profiles.map(({ name, result }) => [claim.gateway.name.slice(0, MAX_NAME), name, words[result]] as const),
  );
  expect(titles).toHaveLength(expected.length);
  for (const [gateway, profile, word] of expected)
    expect(
      titles.filter(
        (title) => title.startsWith(gateway) && title.includes(` ${word} `) && title.includes(`: ${profile} v`),
      ),
    ).not.toEqual([]);
});

test("the published matrix contains no paths, host names or keys of the machine that made it", () => {
  const files = readdirSync(MATRIX, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(html|json|md|svg)$/.test(name),
  );
  for (const name of files) {
    const text = readFileSync(join(MATRIX, name), "utf8");
    expect(text.match(/(?<![\w.:/])\/(tmp|work|root|home|Users)\/[^\s"'<]*/)?.[0]).toBeUndefined();
    // A short name may be a part of a word.
    if (hostname().length > 4) expect(text).not.toContain(hostname());
    expect(text).not.toMatch(/\b(sk|gk|pk)-[0-9a-f]{24,}/);
  }
});
