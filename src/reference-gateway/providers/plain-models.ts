import { type Random, seededRandom } from "../../core/index.ts";
import { lastUserText } from "../pipeline/read/inference-request.ts";
import type { Provider } from "./plan.ts";
import { textPlan } from "./text-plan.ts";

const AT_ONCE = { firstMs: 0, paceMs: 0 };

/** Repeats the last user message verbatim. */
export const echoFast: Provider = (request) => textPlan(request, lastUserText(request), AT_ONCE);

/** Repeats the last user message in capitals: a second model whose replies differ from those of the first. */
export const shoutFast: Provider = (request) => textPlan(request, lastUserText(request).toUpperCase(), AT_ONCE);

/** Repeats all its input, one line per turn, so that a lost turn or system prompt is visible. */
export const transcript: Provider = (request) => {
  const lines = request.turns.filter((turn) => turn.role !== "system").map((turn) => `${turn.role}: ${turn.text}`);
  if (request.system !== undefined) lines.unshift(`system: ${request.system}`);
  return textPlan(request, lines.join("\n"), AT_ONCE);
};

/** Words of one to four bytes per character, to expose a gateway that splits characters. */
const WORDS = [
  ..."amber basil cedar delta ember fjord grove haven inlet jetty knoll ledge mango north ocean pearl".split(" "),
  ..."naïve café über señor Ωmega кот 東京 雪 🚀 🌊".split(" "),
];

/** A long reply of numbered words at an even pace. */
export const echoStream: Provider = (request, { pieces, paceMs }, random) =>
  textPlan(request, numberedWords(pieces, seededBy(lastUserText(request), random)), { firstMs: paceMs, paceMs });

/** A reply that takes `slowMs`. */
export const slow: Provider = (request, { slowMs }, random) => {
  const pieces = 20;
  const paceMs = slowMs / pieces;
  return textPlan(request, numberedWords(pieces, seededBy(lastUserText(request), random)), { firstMs: paceMs, paceMs });
};

/** @returns text of exactly `count` pieces. */
export function numberedWords(count: number, random: Random): string {
  const words: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    words.push(`${number}-${WORDS[Math.floor(random() * WORDS.length)] ?? ""}`);
  }
  return words.join(" ");
}

/** Random numbers that only depend on the prompt and the seed, so that the same prompt gets the same reply. */
function seededBy(text: string, random: Random): Random {
  let hash = Math.floor(random() * 4_294_967_296);
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  return seededRandom(hash);
}
