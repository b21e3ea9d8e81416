import { seededRandom } from "../../core/index.ts";
import type { JudgedRun } from "../../record/index.ts";

/** The tokenizer by which prompts have the requested number of tokens. A test counts them with this version of the package. */
export const PROMPT_TOKENIZER = {
  package: "js-tiktoken",
  version: "1.0.21",
  vocabulary: "o200k_base",
} as const satisfies JudgedRun["tokenizer"];

/**
 * Meaningless words, each of which is one token of `PROMPT_TOKENIZER`, both alone and after a space: a prompt of n tokens is n
 * words, and no run needs the tokenizer. All have the same width, so that prompts can be sliced from a longer text.
 */
export const WORDS: readonly string[] = (
  "test word time data code list type form name line text file read date page part " +
  "view case work user item info link size left next null true self main base node " +
  "path host load save open done call send post area arms back ball band bank best " +
  "body book city club cost deal edge face fact farm fire food game girl goal gold"
).split(" ");

/** Tokens per block of a trace in the Mooncake format: prompts with the same block ids start with the same text. */
export const BLOCK_TOKENS = 512;

const WIDTH = 5;
/** Number of words that distinguish texts with different ids: enough for 64 to the power of this many ids. */
const ID_WORDS = 6;
const LENGTH = 4_096;

const random = seededRandom(1);
const TEXT = Array.from({ length: LENGTH }, () => `${WORDS[Math.floor(random() * WORDS.length)]} `).join("");

/**
 * A text with this many tokens.
 *
 * @param id texts with different ids differ within their first six words; without an id, the text is always the same.
 */
export function promptOf(tokens: number, id?: number): string {
  const start = id === undefined ? "" : wordsOf(id);
  const length = tokens * WIDTH - 1;
  const rest = Math.max(0, length - start.length);
  return start.slice(0, length) + TEXT.repeat(Math.ceil(rest / TEXT.length)).slice(0, rest);
}

/** A text with this many bytes. */
export function promptOfBytes(bytes: number, id?: number): string {
  return promptOf(tokensIn(bytes), id).slice(0, bytes);
}

/** Maximum number of tokens in a text of this many bytes. */
export function tokensIn(bytes: number): number {
  return Math.ceil((bytes + 1) / WIDTH);
}

/** An id as words, least significant digit first: consecutive ids differ in the first word. */
function wordsOf(id: number): string {
  let text = "";
  for (let left = id, digit = 0; digit < ID_WORDS; digit++, left = Math.floor(left / WORDS.length))
    text += `${WORDS[left % WORDS.length]} `;
  return text;
}
