import { basename, extname } from "node:path";

/** Longer names do not fit into the heading of a column. */
const MAX_CHARACTERS = 40;

export interface SideNames {
  readonly a: string;
  readonly b: string;
}

/** What the command line says about a side. */
interface Side {
  /** Target file, or folder of a stored run. */
  readonly path?: string | undefined;
  /** Command that starts the build. */
  readonly start?: string | undefined;
}

/**
 * Short names of both sides: their files without extension, the paths if these are the same, or the part in which their start
 * commands differ. `A` and `B` if nothing tells them apart.
 */
export function sideNames(a: Side, b: Side): SideNames {
  const candidates: readonly (readonly [a: string | undefined, b: string | undefined])[] = [
    [fileName(a.path), fileName(b.path)],
    [a.path, b.path],
    differingParts(a.start, b.start),
    [fileName(a.path) ?? a.start, fileName(b.path) ?? b.start],
  ];
  for (const [first, second] of candidates) {
    if (first === undefined || second === undefined) continue;
    const names = { a: shortened(first), b: shortened(second) };
    if (names.a !== names.b && names.a !== "" && names.b !== "") return names;
  }
  return { a: "A", b: "B" };
}

function fileName(path: string | undefined): string | undefined {
  return path === undefined ? undefined : basename(path, extname(path));
}

/** The end of a long name tells more than its beginning, which both sides often share. */
function shortened(name: string): string {
  return name.length > MAX_CHARACTERS ? `…${name.slice(1 - MAX_CHARACTERS)}` : name;
}

/** The words between the beginning and the end that two commands share, with the option before them. */
function differingParts(a: string | undefined, b: string | undefined): [string | undefined, string | undefined] {
  if (a === undefined || b === undefined) return [undefined, undefined];
  const [first, second] = [wordsOf(a), wordsOf(b)];
  let start = 0;
  while (start < Math.min(first.length, second.length) && first[start] === second[start]) start++;
  let shared = 0;
  while (
    shared < Math.min(first.length, second.length) - start &&
    first[first.length - 1 - shared] === second[second.length - 1 - shared]
  )
    shared++;
  // `--pace 20` instead of `20`.
  const isValue = start > 0 && first[start - 1]?.startsWith("-") === true;
  const from = isValue ? start - 1 : start;
  const part = (words: readonly string[]) => words.slice(from, words.length - shared).join(" ");
  return [part(first), part(second)];
}

const wordsOf = (command: string): string[] => command.split(/\s+/).filter((word) => word !== "");
