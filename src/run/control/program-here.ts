import { existsSync } from "node:fs";

/** Path of the program in a project that has it installed. */
const INSTALLED = "./node_modules/.bin/gauntlet";

/** How to call this program: by its path, which never fetches a package of the same name. */
export function programHere(): string {
  return existsSync(INSTALLED) ? INSTALLED : "gauntlet";
}
