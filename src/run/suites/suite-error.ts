import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, isAbsolute, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CustomSuite } from "../../checks/index.ts";
import { maskLikely, messageOf } from "../../core/index.ts";

/** A place in a file; lines and columns begin with 1. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What our own code is loaded from: an error in a definition is thrown here, but the place to fix is in the suite. */
const OWN_CODE = fileURLToPath(new URL("../..", import.meta.url));

/** Begins the stack of a syntax error: the place, the line, and a mark below the column, which is blank at the end of a file. */
const MARKED_LINE = /^(\S.*):(\d+)\n.*\n( *)(?:\^|$)/m;
const FRAME = /^ +at (?:.*\()?(?:async )?((?:file:\/\/|\/|[A-Za-z]:[\\/]).*?):(\d+):(\d+)\)?$/gm;

/**
 * Says why the module of a suite cannot be loaded, after the place in it: `own-suite.ts:3:30: Unexpected token`.
 *
 * @param path absolute path of the module, which may also fail because of a module that it imports.
 */
export async function describeSuiteError(error: unknown, path: string): Promise<string> {
  const parsed = parseError(error);
  const message = maskLikely(parsed?.message ?? messageOf(error).split("\n", 1)[0] ?? "");
  const place =
    parsed?.place ?? importPlace(error) ?? thrownPlace(error, await sourceMapperFor(path)) ?? syntaxPlace(error, path);
  return `${place === undefined ? shownPath(path) : placeText(place)}: ${message}`;
}

/** The first place of a text in a file, as `file:line:column`; only the file if the text is not found. */
export function placeOfText(file: string, text: string | RegExp): string {
  const source = readFileSync(file, "utf8");
  return placeAt(file, source, typeof text === "string" ? source.indexOf(text) : source.search(text));
}

/** The last place of a text in a file, or the file. */
export function placeOfLast(file: string, text: string): string {
  const source = readFileSync(file, "utf8");
  return placeAt(file, source, source.lastIndexOf(text));
}

function placeAt(file: string, source: string, at: number): string {
  if (at < 0) return shownPath(file);
  const before = source.slice(0, at).split("\n");
  return placeText({ file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 });
}

const placeText = ({ file, line, column }: Place): string => `${shownPath(file)}:${line}:${column}`;

/** Relative to the working directory, unless it is somewhere else. */
function shownPath(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith("..") || isAbsolute(short) ? file : short;
}

const pathOf = (file: string): string => (file.startsWith("file:") ? fileURLToPath(file) : file);

/** A syntax error found by the loader of TypeScript, whose message ends with the place. Its columns begin with 0. */
function parseError(error: unknown): { readonly message: string; readonly place: Place } | undefined {
  const [, message, file, line, column] = /^ParseError: (.*?)\s*\n\s*(.*):(\d+):(\d+)$/s.exec(messageOf(error)) ?? [];
  if (message === undefined || file === undefined) return undefined;
  return { message, place: { file, line: Number(line), column: Number(column) + 1 } };
}

/** Where a module that does not exist is imported. */
function importPlace(error: unknown): Place | undefined {
  const [, name = "", from] =
    /^Cannot find (?:module|package) '(.*?)'(?: imported from (.*))?$/m.exec(messageOf(error)) ?? [];
  const stack = (error as { readonly requireStack?: readonly string[] } | undefined)?.requireStack;
  const file = from ?? stack?.[0];
  if (name === "" || file === undefined || !existsSync(file)) return undefined;
  const [, line, column] = /:(\d+):(\d+)$/.exec(placeOfText(file, basename(name))) ?? [];
  return line === undefined ? undefined : { file, line: Number(line), column: Number(column) };
}

/** Maps a place in the JavaScript that the loader generated back to the TypeScript source. */
type OriginalPlace = (place: Place) => Place;

/** @param path of the suite; only one in TypeScript needs the loader. */
async function sourceMapperFor(path: string): Promise<OriginalPlace> {
  if (!TYPESCRIPT.test(path)) return (place) => place;
  const { createJiti } = await import("jiti");
  return (place) => (TYPESCRIPT.test(place.file) ? originalPlace(place, createJiti) : place);
}

const TYPESCRIPT = /\.[cm]?ts$/;

/** The places in a suite that has been loaded, for messages of the run. */
export async function customSuiteOf(path: string): Promise<CustomSuite> {
  const original = await sourceMapperFor(path);
  return {
    placeOf(thrown) {
      const place = thrownPlace(thrown, original);
      return place === undefined ? undefined : placeText(place);
    },
    placeOfCheck: (id) => placeOfText(path, `"${id}"`),
  };
}

/** The innermost place of a stack in the user's own code. */
function thrownPlace(error: unknown, original: OriginalPlace): Place | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const marked = markedPlace(stack);
  if (marked !== undefined) return marked;
  for (const [, at = "", line, column] of stack.matchAll(FRAME)) {
    const file = pathOf(at);
    if (file.startsWith(OWN_CODE) || /[\\/]node_modules[\\/]/.test(file) || !existsSync(file)) continue;
    return original({ file, line: Number(line), column: Number(column) });
  }
  return undefined;
}

function markedPlace(text: string): Place | undefined {
  const [, at, line, indent = ""] = MARKED_LINE.exec(text) ?? [];
  if (at === undefined || !existsSync(pathOf(at))) return undefined;
  return { file: pathOf(at), line: Number(line), column: indent.length + 1 };
}

/** The generated JavaScript has the same lines as the TypeScript source, but different columns. */
function originalPlace(place: Place, createJiti: typeof import("jiti").createJiti): Place {
  const source = readFileSync(place.file, "utf8");
  const code = createJiti(import.meta.url, { sourceMaps: true }).transform({
    source,
    filename: place.file,
    ts: true,
    async: true,
  });
  const [, map] = /sourceMappingURL=data:[^,]*;base64,(\S+)/.exec(code) ?? [];
  if (map === undefined) return place;
  const entry = new SourceMap(JSON.parse(Buffer.from(map, "base64").toString())).findEntry(
    place.line - 1,
    place.column - 1,
  );
  if (!("originalLine" in entry)) return place;
  return { ...place, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}

/** Node prints the place of a syntax error only when the error ends the process, so a child imports the module. None of its code runs. */
function syntaxPlace(error: unknown, path: string): Place | undefined {
  if (!(error instanceof SyntaxError)) return undefined;
  const program = `import ${JSON.stringify(pathToFileURL(path).href)}`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    env: {},
    timeout: MAX_PARSE_MS,
  });
  return markedPlace(stderr);
}

const MAX_PARSE_MS = 10_000;
