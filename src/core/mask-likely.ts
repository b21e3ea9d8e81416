/** Text that may be a key: long, one word, letters and digits. Paths and identifiers of ours are not of that kind. */
const LIKELY_SECRET = /(?<![\w/\\-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}(?![\w/\\-])/g;

/**
 * Hides what looks like a key, where no redactor knows the keys: in complaints about files, in which one may stand in the
 * wrong place, and in errors that somebody else's code throws.
 */
export function maskLikely(text: string): string {
  return text.replace(LIKELY_SECRET, "[masked]");
}
