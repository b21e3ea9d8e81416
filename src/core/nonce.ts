/** The form of our unique texts: the last two characters are a checksum of the others. */
const NONCE = /gx([0-9a-f]+n[0-9a-z]+)([0-9a-z]{2})z/g;
const CHECKS = 36 ** 2;

/**
 * A text that occurs in one prompt only.
 *
 * @param tag lower-case hex, of a run. @param serial lower-case letters and digits, of a request of that run.
 */
export function nonceOf(tag: string, serial: string): string {
  const own = `${tag}n${serial}`;
  return `gx${own}${checkOf(own)}z`;
}

/** The unique texts in a text. A text that a model misspelt does not count: it would look like that of another request. */
export function noncesIn(text: string): string[] {
  return [...text.matchAll(NONCE)].filter(([, own = "", check]) => checkOf(own) === check).map(([nonce]) => nonce);
}

/** FNV-1a, as two characters. */
function checkOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash >>> 0) % CHECKS).toString(36).padStart(2, "0");
}
