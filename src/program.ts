import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";

/** What `main.ts` starts. */
type Program = typeof import("./cli/index.ts");

/** The program in one file, as `scripts/bundle.mjs` makes it. */
export interface Bundle {
  readonly path: string;
  readonly text: string;
  /** Where V8's code of this text stands, made by this very Node. */
  readonly compiledPath: string;
}

/** How a bundle begins: its own digest, so that nothing has to be computed at a start. */
const DIGEST = /^\/\*([0-9a-f]{16,64})\*\//;

/** @throws if the bundle is missing, or the file is not one. */
export function readBundle(path: string): Bundle {
  // It is ASCII (esbuild escapes the rest), which is read in half the time.
  const text = readFileSync(path, "latin1");
  const digest = DIGEST.exec(text)?.[1];
  if (digest === undefined) throw new Error(`${path} is not a bundle of this program`);
  return { path, text, compiledPath: join(dirname(path), compiledName(digest)) };
}

/**
 * V8 compares only its version, its flags and the length of the text: Node 20.19.0 crashes on a cache made by 20.20.2, and a
 * changed text of the same length would go unnoticed. So the name identifies the text and the exact executable.
 */
function compiledName(digest: string): string {
  const { version, platform, arch, execPath } = process;
  const size = statSync(execPath, { throwIfNoEntry: false })?.size;
  return `cli-${digest}-${version}-${platform}-${arch}-${size}.v8`;
}

/** Reads the text, by V8's code of it where there is one that V8 takes. */
export function scriptOf({ path, text, compiledPath }: Bundle): Script {
  const cachedData = readIfThere(compiledPath);
  return new Script(text, { filename: path, ...(cachedData === undefined ? {} : { cachedData }) });
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    // Made by a build of a checkout only, for its own Node: the text alone is as good, and slower.
    return undefined;
  }
}

/** Runs the text, which is one function of what modules of the older kind are given. */
export function runProgram(script: Script, path: string): Program {
  const module = { exports: {} };
  const importModule = (specifier: string) => import(specifier);
  script.runInThisContext()(createRequire(path), module, module.exports, pathToFileURL(path).href, importModule);
  return module.exports as Program;
}
