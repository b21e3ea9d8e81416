import type { RequestSpec } from "../../../src/checks/index.ts";
import type { Key } from "../../../src/target/index.ts";

/**
 * Other ways to send the same key. The scheme's name in another case and several spaces after it are legal (RFC 9110, 11.1 and
 * 11.4); clients of the messages dialect add the vendor's key header. A gateway may reject them, but whatever it serves belongs
 * to the account of the key.
 */
export function spellingsOf(key: Key): Readonly<Record<string, RequestSpec>> {
  const secret = key.reveal();
  return {
    "`bearer` in lower case": { authorization: `bearer ${secret}` },
    "two spaces after `Bearer`": { authorization: `Bearer  ${secret}` },
    "an x-api-key header next to the bearer key": { key, headers: [["x-api-key", secret]] },
    "an x-api-key header alone": { key: null, headers: [["x-api-key", secret]] },
  };
}
