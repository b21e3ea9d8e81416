import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/o200k_base";
import { InternalError } from "../core/index.ts";
import type { LoadRun } from "../record/index.ts";
import { WORDS } from "./prompt-text.ts";

/** Takes about 0.6 s: this file is loaded after the load. */
const encoding = new Tiktoken(ranks);
const VOCABULARY = "o200k_base";
const VERSION = "1.0.21";

/** Checks that each word of a prompt is one token. @returns the tokenizer's identity, for the record. */
export function promptTokenizer(): NonNullable<LoadRun["tokenizer"]> {
  const wrong = WORDS.find((word) => encoding.encode(word).length !== 1 || encoding.encode(` ${word}`).length !== 1);
  if (wrong !== undefined) throw new InternalError(`"${wrong}" is not one token of ${VOCABULARY}`);
  return { package: "js-tiktoken", version: VERSION, vocabulary: VOCABULARY };
}
