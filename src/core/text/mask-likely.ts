/** Text that may be a key: long, one word, letters and digits. Paths and our own identifiers do not match. */
const LIKELY_SECRET = /(?<![\w/\\-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}(?![\w/\\-])/g;

/**
 * Masks what looks like a key, where no redactor knows the keys: in error messages about files, which may quote a misplaced
 * key, and in errors thrown by other code.
 */
export function maskLikely(text: string): string {
  return text.replace(LIKELY_SECRET, "[masked]");
}
