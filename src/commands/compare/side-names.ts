import { basename, extname } from "node:path";

/** Longer names, and names of several words, make sentences and headings unreadable: `A` and `B` with a legend do not. */
const MAX_CHARACTERS = 24;

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
 * Short names of both sides: their files without extension, the paths if these are the same, or the word in which their start
 * commands differ, which for the value of an option is `pace 20` or the value. If one command only adds an option, the other one is `plain`. `A` and `B` if
 * nothing short tells them apart.
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
    if (first !== second && isShort(first) && isShort(second)) return { a: first, b: second };
  }
  return { a: "A", b: "B" };
}

function fileName(path: string | undefined): string | undefined {
  return path === undefined ? undefined : basename(path, extname(path));
}

/** One word, or an option with its number: the number alone would say nothing. */
const isShort = (name: string): boolean => name.length <= MAX_CHARACTERS && /^\S+(?: [\d.:]+)?$/.test(name);

/** The words between the beginning and the end that two commands share. */
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
  const added = [first, second].map((words) => words.slice(start, words.length - shared));
  const [one = [], other = []] = added;
  if (Math.min(one.length, other.length) === 0 && added.some(([word]) => word?.startsWith("-")))
    return [nameOfAdded(one), nameOfAdded(other)];
  const option = start > 0 ? first[start - 1] : undefined;
  if (option?.startsWith("-")) return [nameOfAdded([option, ...one]), nameOfAdded([option, ...other])];
  const only = (words: readonly string[]) => (words.length === 1 ? words[0] : undefined);
  return [only(one), only(other)];
}

/** `no-usage` for `--mutation no-usage`; `pace 20`, because a number alone would say nothing. */
function nameOfAdded(words: readonly string[]): string {
  const [option, value, ...more] = words;
  if (option === undefined) return "plain";
  if (value === undefined || value.startsWith("-") || more.length > 0) return words.join(" ");
  return /^[\d.:]+$/.test(value) ? `${option.replace(/^-+/, "")} ${value}` : value;
}

const wordsOf = (command: string): string[] => command.split(/\s+/).filter((word) => word !== "");
