import { escapedJson, GauntletError, isObject } from "../../core/index.ts";
import { composeClaimText } from "./compose-claim.ts";

/** Maximum number of places that are listed. */
const MAX_DIFFERENCES = 5;

/**
 * Where a claim differs from the one that follows from a record, each place with both values. Empty if they are the same, byte
 * for byte.
 *
 * @param text the claim as written.
 * @param dir folder of the run.
 */
export function claimDifferences(text: string, dir: string): string[] {
  let expected: string;
  try {
    expected = composeClaimText(dir);
  } catch (error) {
    // A damaged or changed record is a reason to reject the claim, not a mistake in using the command.
    if (!(error instanceof GauntletError)) throw error;
    return [error.message];
  }
  if (expected === text) return [];
  const found = [...differing(JSON.parse(text), JSON.parse(expected), "")];
  if (found.length === 0) return ["the same values are written differently: other spaces, or another order of fields"];
  const more = found.length - MAX_DIFFERENCES;
  return [...found.slice(0, MAX_DIFFERENCES), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** Where two JSON values differ, with both values. */
function* differing(claimed: unknown, computed: unknown, at: string): Generator<string> {
  if (isContainer(claimed) && isContainer(computed)) {
    for (const name of new Set([...Object.keys(claimed), ...Object.keys(computed)]))
      yield* differing(valueIn(claimed, name), valueIn(computed, name), `${at}/${escapedJson(name).slice(1, -1)}`);
  } else if (claimed !== computed) yield `${at}: the claim has ${shown(claimed)}, the record gives ${shown(computed)}`;
}

const isContainer = (value: unknown): value is object => isObject(value) || Array.isArray(value);
const valueIn = (container: object, name: string): unknown =>
  Object.entries(container).find(([key]) => key === name)?.[1];

/** Maximum length of a value in a message. */
const MAX_SHOWN_CHARACTERS = 100;

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : escapedJson(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
