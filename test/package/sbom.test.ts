import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";

interface Component {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
}

test("the bill of materials names what is installed with the package, each with hash and licence, and nothing else", () => {
  const { stdout, stderr, status } = spawnSync("npm", ["run", "--silent", "sbom"], { cwd: ROOT, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const bill: { bomFormat: string; specVersion: string; components: Component[] } = JSON.parse(stdout);
  expect(bill).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5" });
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const versions = new Map(bill.components.map(({ name, version }) => [name, version]));
  for (const [name, version] of Object.entries(manifest.dependencies)) expect(versions.get(name), name).toBe(version);
  const lock: { packages: Record<string, { dev?: boolean; optional?: boolean }> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && dev !== true);
  const names = new Set(installed.map(([path]) => path.split("node_modules/").at(-1)));
  expect(bill.components.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
  expect(
    bill.components.filter(({ hashes = [], licenses = [] }) => hashes.length === 0 || licenses.length === 0),
  ).toEqual([]);
});
