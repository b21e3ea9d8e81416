// `npm run --silent sbom`: prints the CycloneDX bill of materials of what is installed with the package.
//
// npm's own `--omit dev` omits packages that a development dependency uses as well (zod, yaml, jiti). So everything is listed,
// and the lockfile says what belongs to the package.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (file) => JSON.parse(readFileSync(join(root, file), "utf8"));
const npm = spawnSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
  shell: process.platform === "win32",
});
if (npm.status !== 0) {
  process.stderr.write(`gauntlet: npm sbom failed: ${npm.stderr}\n`);
  process.exit(npm.status ?? 5);
}
const bill = JSON.parse(npm.stdout);
const installed = new Set(
  Object.entries(read("package-lock.json").packages)
    .filter(([path, { dev }]) => path !== "" && dev !== true)
    .map(([path, { version }]) => `${path.split("node_modules/").at(-1)}@${version}`),
);
const own = bill.metadata.component["bom-ref"];
bill.metadata.component.name = read("package.json").name;
bill.components = bill.components.filter(({ name, version }) => installed.has(`${name}@${version}`));
const kept = new Set([own, ...bill.components.map((component) => component["bom-ref"])]);
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
