import type { Session } from "../../../src/checks/index.ts";
import { Key } from "../../../src/target/index.ts";

/** A key that was never issued, in the form of the valid one. */
export function nonexistentKey(t: Session): Key {
  return new Key(
    "nonexistent",
    fabricatedKey(t.target.keys.valid.reveal(), () => t.random()),
  );
}

/**
 * An invented key in the form of a valid one: same length, same prefix up to the last `-` or `_` of its head, same kinds of
 * characters. It was never issued.
 */
export function fabricatedKey(good: string, random: () => number): string {
  const head = /^[A-Za-z0-9]{1,8}(?:[-_][A-Za-z0-9]{1,8})?[-_]/.exec(good)?.[0] ?? "";
  const tail = [...good.slice(head.length)].map((character) => like(character, random)).join("");
  const invented = head + tail;
  // A key of one or two characters may be unchanged.
  return invented === good ? `${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}` : invented;
}

function like(character: string, random: () => number): string {
  const sets = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"];
  const set = sets.find((candidate) => candidate.includes(character));
  return set === undefined ? character : (set[Math.floor(random() * set.length)] ?? character);
}

/** The same letters with upper and lower case swapped. */
export function swappedCase(key: string): string {
  return [...key].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");
}
