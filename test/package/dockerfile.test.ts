import { readFileSync } from "node:fs";
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
  expect(bases[0]).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim@sha256:[0-9a-f]{64}$/);
  expect(of("USER").at(-1)).toBe("USER 1000:1000");
  expect(instructions.indexOf(of("USER").at(-1) ?? "")).toBeGreaterThan(instructions.indexOf(of("FROM").at(-1) ?? ""));
});

test("it holds the content of the package and its dependencies, and nothing else", () => {
  const copied = of("COPY").filter((line) => line.includes("--from=build"));
  expect(copied).toEqual(["COPY --from=build /package ./", "COPY --from=build /src/node_modules ./node_modules"]);
  const packed = of("RUN").find((line) => line.includes("npm pack")) ?? "";
  expect(packed).toMatch(/tar -xzf gateway-gauntlet-\*\.tgz -C \/package --strip-components=1/);
  expect(packed).toContain("npm prune --omit=dev");
  // npm makes the program executable at an installation, and tar does not.
  expect(packed).toContain("chmod 0755 /package/dist/src/main.js");
});
