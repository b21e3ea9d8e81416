import { seededRandom } from "../core/index.ts";

/**
 * Words without meaning, each of which is one token, alone and after a blank, in the vocabulary of `tokenizer.ts`: the text of a
 * prompt of n tokens is n of them, and nothing is counted while load is sent. All have the same width, so that it is cut out of a
 * longer text.
 */
export const WORDS: readonly string[] = (
  "test word time data code list type form name line text file read date page part " +
  "view case work user item info link size left next null true self main base node " +
  "path host load save open done call send post area arms back ball band bank best " +
  "body book city club cost deal edge face fact farm fire food game girl goal gold"
).split(" ");

/** Tokens of a block of a trace in the Mooncake format: prompts with the same ids of blocks begin with the same text. */
export const BLOCK_TOKENS = 512;

const WIDTH = 5;
/** Words that tell the texts of different ids apart: enough for 64 to the power of so many ids. */
const ID_WORDS = 6;
const LENGTH = 4_096;

const random = seededRandom(1);
const TEXT = Array.from({ length: LENGTH }, () => `${WORDS[Math.floor(random() * WORDS.length)]} `).join("");

/**
 * A text of so many tokens.
 *
 * @param id texts of different ids differ from one of their first six words on; without one it is always the same text.
 */
export function promptOf(tokens: number, id?: number): string {
  const start = id === undefined ? "" : wordsOf(id);
  const length = tokens * WIDTH - 1;
  const rest = Math.max(0, length - start.length);
  return start.slice(0, length) + TEXT.repeat(Math.ceil(rest / TEXT.length)).slice(0, rest);
}

/** A text of so many bytes. */
export function promptOfBytes(bytes: number, id?: number): string {
  return promptOf(tokensIn(bytes), id).slice(0, bytes);
}

/** Most tokens of a text of so many bytes. */
export function tokensIn(bytes: number): number {
  return Math.ceil((bytes + 1) / WIDTH);
}

/** An id as words, its lowest digit first: neighbouring ids differ in the first word. */
function wordsOf(id: number): string {
  let text = "";
  for (let left = id, digit = 0; digit < ID_WORDS; digit++, left = Math.floor(left / WORDS.length))
    text += `${WORDS[left % WORDS.length]} `;
  return text;
}
