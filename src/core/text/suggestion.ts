import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { closest, distance } from "fastest-levenshtein";

/**
 * The known name that was probably meant.
 *
 * @returns `undefined` if none is close: a far-fetched guess is worse than none.
 */
export function nearestOf(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  if (names.length === 0) return undefined;
  const nearest = closest(name, names);
  // A third of the letters may differ; fewer in short names, to which every other name is close.
  const maxDistance = Math.max(1, Math.min(Math.floor(name.length * 0.4), Math.max(2, Math.floor(name.length / 3))));
  if (distance(name.toLowerCase(), nearest.toLowerCase()) <= maxDistance) return nearest;
  return names.find(
    (known) =>
      hasSwappedLetters(name, known) ||
      isBeginningOf(name, known) ||
      (known.length <= name.length + 2 && lacksLetters(name, known)),
  );
}

/** Whether two neighbouring letters are swapped: `auht` for `auth`. An edit distance counts that as two edits, too many for a short name. */
function hasSwappedLetters(name: string, known: string): boolean {
  const at = [...name].findIndex((letter, index) => letter !== known[index]);
  if (at === -1 || name.length !== known.length) return false;
  return `${known.slice(0, at)}${known[at + 1] ?? ""}${known[at]}${known.slice(at + 2)}` === name;
}

/** Whether a name of at least four letters is the beginning of a known one: `rate` of `ratePerS`. */
const isBeginningOf = (name: string, known: string): boolean => name.length >= 4 && known.startsWith(name);

/** Whether a name of at least four letters only lacks letters of a known one: `eror` of `errors`. */
function lacksLetters(name: string, known: string): boolean {
  if (name.length < 4 || name[0] !== known[0]) return false;
  let at = 0;
  for (const letter of known) if (letter === name[at]) at++;
  return at === name.length;
}

/** `Did you mean "conform"?` with a trailing space, or nothing. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestOf(name, known);
  return nearest === undefined ? "" : `Did you mean "${nearest}"? `;
}

/** The same for a path that does not exist: what was probably meant in its folder. */
export function didYouMeanPath(path: string): string {
  const folder = dirname(path);
  const nearest = nearestOf(basename(path), namesIn(folder));
  return nearest === undefined ? "" : `Did you mean "${join(folder, nearest)}"? `;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Does not exist either.
    return [];
  }
}
