import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(new URL("../../package.json", import.meta.url));
const manifest = JSON.parse(readFileSync(FILE, "utf8"));

/**
 * Owner and name of this repository on GitHub. `repository.url` in package.json is the one place to change it; `npm run generate`
 * then writes it everywhere else.
 */
export const REPOSITORY: string =
  /^git\+https:\/\/github\.com\/([\w.-]+\/[\w.-]+)\.git$/.exec(manifest.repository.url)?.[1] ?? "";
if (REPOSITORY === "") throw new Error("package.json: repository.url must be git+https://github.com/OWNER/NAME.git");

const HOME = `https://github.com/${REPOSITORY}`;

/** The identifier of a published schema, which is also an address that serves it. */
export const schemaId = (path: string): string => `https://raw.githubusercontent.com/${REPOSITORY}/main/${path}`;

/** package.json with the fields that follow from its `repository`. */
export function packageManifest(): string {
  const derived = {
    ...manifest,
    author: { name: "The Gauntlet authors", url: HOME.slice(0, HOME.lastIndexOf("/")) },
    homepage: `${HOME}#readme`,
    bugs: { url: `${HOME}/issues` },
  };
  return `${JSON.stringify(derived, null, 2)}\n`;
}
