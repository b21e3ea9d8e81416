import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/docs/generated-files.ts";
import { REPOSITORY, schemaId } from "../../scripts/docs/repository.ts";

/** Packages that run a script at installation: development tools. */
const SCRIPTED = ["node_modules/esbuild", "node_modules/protobufjs"];

test("it can only be published with a statement of where it was built", () => {
  const { publishConfig } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(publishConfig).toEqual({ access: "public", provenance: true });
});

test("its manifest says where the repository, its issues and its authors are", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const home = `https://github.com/${REPOSITORY}`;
  expect(manifest).toMatchObject({
    repository: { type: "git", url: `git+${home}.git` },
    homepage: `${home}#readme`,
    bugs: { url: `${home}/issues` },
    author: { name: expect.stringMatching(/\w/), url: expect.stringMatching(/^https:\/\/github\.com\/[\w.-]+$/) },
  });
});

test("every published schema has its own identifier", () => {
  const names = readdirSync(join(ROOT, "schemas"));
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) {
    const { $id } = JSON.parse(readFileSync(join(ROOT, "schemas", name), "utf8"));
    expect($id).toBe(schemaId(`schemas/${name}`));
    expect(existsSync(join(ROOT, new URL($id).pathname.split("/").slice(4).join("/")))).toBe(true);
  }
});

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

test("the lockfile pins every package by its content, from no other place than a registry", () => {
  const { lockfileVersion, packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const { "": own, ...rest } = packages as Record<string, Locked & Record<string, unknown>>;
  const locked = Object.entries(rest);
  expect(lockfileVersion).toBe(3);
  expect(locked.length).toBeGreaterThan(100);
  const loose = locked.filter(([, { integrity, link, resolved = "" }]) => {
    return link === true || !/^sha512-/.test(integrity ?? "") || /^(git|file|http:)/.test(resolved);
  });
  expect(loose.map(([path]) => path)).toEqual([]);
  // All packages that run code at installation are known; none of them is installed with the package itself.
  expect(locked.filter(([, one]) => one.hasInstallScript).map(([path]) => path)).toEqual(SCRIPTED);
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
    expect(own?.[kind]).toEqual(manifest[kind]);
    for (const range of Object.values(manifest[kind])) expect(range).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  }
});
