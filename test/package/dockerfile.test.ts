import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const TEXT = readFileSync(root("Dockerfile"), "utf8");
const instructions = TEXT.replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => /^[A-Z]+ /.test(line));
const of = (name: string) => instructions.filter((line) => line.startsWith(`${name} `));

test("the linter finds nothing", () => {
  expect(validate(TEXT)).toEqual([]);
});

test("a mistake is found by the linter", () => {
  expect(validate(TEXT.replace("WORKDIR /src", "WORKDIRR /src"))).not.toEqual([]);
});

test("it has two stages of one pinned image, and what runs is not root", () => {
  const bases = of("FROM").map((line) => line.split(" ")[1]);
  expect(bases).toHaveLength(2);
  expect(new Set(bases).size).toBe(1);
  expect(bases[0]).toMatch(/^node:20\.\d+\.\d+-\w+-slim$/);
  expect(of("USER").at(-1)).toBe("USER 1000:1000");
  expect(instructions.indexOf(of("USER").at(-1) ?? "")).toBeGreaterThan(instructions.indexOf(of("FROM").at(-1) ?? ""));
});

test("what it copies exists, and is everything in the package", () => {
  const copied = of("COPY")
    .filter((line) => line.includes("--from=build"))
    .flatMap((line) => line.split(" ").slice(2, -1))
    .map((path) => path.replace("/src/", ""));
  for (const path of copied.filter((one) => !["node_modules", "dist"].includes(one)))
    expect(existsSync(root(path)), path).toBe(true);
  const { files } = JSON.parse(readFileSync(root("package.json"), "utf8")) as { files: string[] };
  const folders = files.filter((one) => !one.startsWith("!") && !one.endsWith(".md"));
  for (const one of folders)
    expect(
      copied.some((path) => one.startsWith(path)),
      one,
    ).toBe(true);
});
