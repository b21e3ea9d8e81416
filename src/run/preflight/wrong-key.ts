import { type Response, Traffic } from "../../checks/index.ts";
import { ConfigError } from "../../core/index.ts";
import type { Key, KeyName } from "../../target/index.ts";
import type { Permit } from "../control/index.ts";
import type { Advice } from "./advice.ts";
import { describeResponse } from "./gateway-message.ts";

/**
 * Makes sure that the gateway accepts a key, so that no verdict and no measurement is about a wrong key.
 *
 * @param key default: that of `keys.valid`.
 * @throws ConfigError if the gateway rejects it in every plain request.
 */
export async function assertKeyAccepted(traffic: Traffic, key: Key = traffic.target.keys.valid): Promise<void> {
  const { source } = traffic.target;
  // The embedded gateway creates its own keys: if it rejects one, that is a defect.
  if (source === "embedded") return;
  const rejection = await traffic.fixtures.keys.rejection(key);
  if (rejection === undefined) return;
  const path = pathOf(key);
  const said = traffic.recorder.redactor.redactValue(describeResponse(rejection));
  const message = `the gateway rejects the key in ${path} (${said}).`;
  const hint = "Check the variable or the file that it names: it must hold an active key of this gateway.";
  throw new ConfigError([{ file: source, path, message, hint }]);
}

/** The same for commands that do not run checks. */
export async function assertKeysAccepted(
  { target, budget }: Pick<Permit, "target" | "budget">,
  keys: readonly Key[],
): Promise<void> {
  if (target.source === "embedded") return;
  await using traffic = new Traffic({ target, budget, seed: 1, signal: new AbortController().signal });
  for (const key of new Set(keys)) await assertKeyAccepted(traffic, key);
}

/** The advice about a rejected key that only some checks need. */
export function rejectedKeyAdvice(name: KeyName, rejection: Response): Advice {
  return {
    cause: `the gateway rejects the key in keys.${name} (${describeResponse(rejection)})`,
    next: "The checks that need it are blocked. Name an active key there, or remove the entry.",
  };
}

/** Where the target file names a key. */
function pathOf({ name }: Key): string {
  return name.includes(".") ? name : `keys.${name}`;
}
