import { UsageError } from "../../core/index.ts";
import type { ApiKey } from "../accounts/account.ts";
import type { GatewaySettings } from "../options.ts";
import { makeReadyKeys, type ReadyKeys, readyAccountsOf, refuseUnknown } from "../ready-accounts.ts";
import type { SharedParts, SharedState } from "./shared-state.ts";

/**
 * Creates the ready-made accounts if this is the first replica, or takes over those of the others.
 *
 * @param parts empty; filled here.
 * @throws UsageError for key texts that differ from those of the other replicas.
 */
export function openShared(shared: SharedState, parts: SharedParts, settings: GatewaySettings): ReadyKeys {
  const taken = shared.run(() => {
    const ids = shared.readyKeys;
    if (ids === undefined) {
      const made = makeReadyKeys(parts.accounts, parts.clock, settings.limits, settings.keys);
      refuseUnknown(settings.keys, made);
      shared.publish();
      shared.add({ kind: "ready", keys: Object.fromEntries([...made].map(([name, { id }]) => [name, id])) });
      return made;
    }
    const known = new Map<string, ApiKey>();
    for (const [name, id] of Object.entries(ids)) {
      const key = parts.accounts.key(id);
      if (key !== undefined) known.set(name, key);
    }
    readyAccountsOf(known);
    for (const [name, text] of Object.entries(settings.keys)) {
      if (known.get(name)?.secret !== text)
        throw new UsageError(`keys: "${name}" differs from the key of the running replicas`, {
          hint: "Start all replicas with the same --keys.",
        });
    }
    return known;
  });
  shared.started();
  return taken;
}
