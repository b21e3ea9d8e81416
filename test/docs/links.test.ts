import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { REPOSITORY } from "../../scripts/docs/repository.ts";
import { temporaryFolder } from "../support/gauntlet.ts";
import { deadLinks } from "../support/markdown.ts";

const pages = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

test.each(pages)("every link of %s leads somewhere", (page) => {
  expect(deadLinks(ROOT, page)).toEqual([]);
});

test.each([
  ["a missing file", "[a](no-such-file.md)"],
  ["a missing anchor", "[a](#no-such-heading)"],
  ["a file outside the folder", "[a](../README.md)"],
  ["a malformed address", "[a](https://[)"],
  ["a missing file of our repository", `[a](https://github.com/${REPOSITORY}/blob/main/no-such-file.md)`],
  ["an address of our repository that names no file of it", `[a](https://github.com/${REPOSITORY}/wiki)`],
])("%s is a dead link", (_what, link) => {
  using folder = temporaryFolder();
  const alive = `[b](page.md#title) [c](https://example.com) [d](https://github.com/${REPOSITORY}/blob/main/README.md)`;
  writeFileSync(join(folder.path, "page.md"), `# Title\n\n${link} ${alive}\n`);
  expect(deadLinks(folder.path, "page.md")).toHaveLength(1);
});

test.each(pages)("every test file that %s names exists", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const named = [...text.matchAll(/\btest\/[\w/-]+\.test\.ts/g)].map(([path]) => path);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
