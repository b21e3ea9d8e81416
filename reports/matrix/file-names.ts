import { createHash } from "node:crypto";

/** Longest part of a name that a file keeps. */
const MAX_CHARACTERS = 48;

/**
 * A part of a file name for each text: lower-case letters, digits and hyphens. Two different texts never get the same one, and a
 * text that its file name does not represent completely is followed by the beginning of its hash.
 */
export function fileNames(texts: readonly string[]): ReadonlyMap<string, string> {
  const slugs = [...new Set(texts)].map((text) => [text, slugOf(text)] as const);
  const times = new Map<string, number>();
  for (const [, slug] of slugs) times.set(slug, (times.get(slug) ?? 0) + 1);
  return new Map(
    slugs.map(([text, slug]) => {
      const isWhole = /^[A-Za-z0-9 ._-]+$/.test(text) && text.length <= MAX_CHARACTERS;
      // A text that ends like a hash could otherwise get the name of another one with its hash.
      const isPlain = isWhole && slug !== "" && times.get(slug) === 1 && !/-[0-9a-f]{12}$/.test(slug);
      return [text, isPlain ? slug : [slug, hashOf(text)].filter((part) => part !== "").join("-")];
    }),
  );
}

const slugOf = (text: string): string =>
  text
    .slice(0, MAX_CHARACTERS)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);
