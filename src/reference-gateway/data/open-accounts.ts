import { messageOf, UsageError } from "../../core/index.ts";
import type { ApiKey } from "../accounts/account.ts";
import type { GatewayClock } from "../gateway-clock.ts";
import type { GatewaySettings } from "../options.ts";
import { makeReadyKeys, type ReadyKeys, readyAccountsOf, refuseUnknown, withTokenLimit } from "../ready-accounts.ts";
import type { DataFile, SavedState } from "./data-file.ts";
import { type SavedParts, Saver } from "./saver.ts";

interface Opened {
  readonly readyKeys: ReadyKeys;
  /** Absent without a file. */
  readonly saver: Saver | undefined;
}

/**
 * Creates the ready-made accounts, or restores them from a file.
 *
 * @param parts empty; filled here.
 * @throws UsageError when the settings contradict the file, or it cannot be read or written.
 */
export function openAccounts(
  parts: SavedParts,
  clock: GatewayClock,
  { settings, file }: { readonly settings: GatewaySettings; readonly file: DataFile | undefined },
): Opened {
  const { tokens, keys } = settings;
  const make = () => makeReadyKeys(parts.accounts, clock, settings.limits, keys);
  const complete = (made: ReadyKeys) => {
    const all = tokens === undefined ? made : withTokenLimit(made, parts.accounts, tokens, keys);
    refuseUnknown(keys, all);
    return all;
  };
  if (file === undefined) return { readyKeys: complete(make()), saver: undefined };
  const saved = file.read();
  const isNew = Object.keys(saved.readyKeys).length === 0;
  const readyKeys = complete(isNew ? make() : restore(saved, parts, file.path));
  if (!isNew) {
    assertSameKeys(keys, readyKeys, file.path);
    if (settings.hasOwnLimits) readyKeys.get("valid")?.account.changeLimits(settings.limits, clock.monotonicUs());
  }
  const saver = new Saver(file, parts, readyKeys);
  try {
    // Readers of the ready line may rely on its keys, whatever happens next.
    saver.save();
  } catch (cause) {
    throw new UsageError(`data: ${file.path} cannot be written: ${messageOf(cause)}`, { cause });
  }
  return { readyKeys, saver };
}

function restore(saved: SavedState, { accounts, history }: SavedParts, path: string): ReadyKeys {
  try {
    for (const account of saved.accounts) accounts.restoreAccount(account);
    for (const key of saved.keys) accounts.restoreKey(key);
    const readyKeys = new Map<string, ApiKey>();
    for (const [name, id] of Object.entries(saved.readyKeys)) {
      const key = accounts.key(id);
      if (key !== undefined) readyKeys.set(name, key);
    }
    // Throws when one is missing.
    readyAccountsOf(readyKeys);
    for (const row of saved.history) history.add(row);
    return readyKeys;
  } catch (cause) {
    throw new UsageError(`data: ${path} is incomplete: ${messageOf(cause)}`, {
      hint: "Name another file; this one was changed by another program.",
      cause,
    });
  }
}

/** Clients have the keys of the file, so a start must not silently change them. */
function assertSameKeys(keyTexts: Readonly<Record<string, string>>, readyKeys: ReadyKeys, path: string): void {
  for (const [name, text] of Object.entries(keyTexts)) {
    if (readyKeys.get(name)?.secret === text) continue;
    throw new UsageError(`keys: "${name}" differs from the key in ${path}`, {
      hint: "Leave it out of the file of --keys, or name a new file with --data.",
    });
  }
}
