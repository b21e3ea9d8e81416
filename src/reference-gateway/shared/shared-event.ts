import type { SavedAccount, SavedKey } from "../accounts/account.ts";
import type { Activity } from "../history.ts";

/** What one replica did that all of them have to know. Times are microseconds of the machine's monotonic clock. */
export type SharedEvent =
  /** Created, or changed by an operator. */
  | { readonly kind: "account"; readonly saved: SavedAccount }
  | { readonly kind: "key"; readonly saved: SavedKey; readonly isNew: boolean }
  /** Ids of the ready-made keys by their names. */
  | { readonly kind: "ready"; readonly keys: Readonly<Record<string, string>> }
  | { readonly kind: "rate"; readonly account: string; readonly atUs: number }
  | { readonly kind: "lease"; readonly account: string; readonly id: string; readonly expectedEndUs: number }
  | { readonly kind: "release"; readonly id: string }
  /** A reserved charge; negative when it ends. */
  | { readonly kind: "reserve"; readonly key: string; readonly microUsd: number }
  /** A charge, in each of the three tallies that count it. */
  | { readonly kind: "balance"; readonly account: string; readonly microUsd: number }
  | { readonly kind: "budget"; readonly key: string; readonly microUsd: number }
  | {
      readonly kind: "cap";
      readonly key: string;
      readonly microUsd: number;
      readonly day: number;
      readonly visibleAtUs: number;
    }
  | { readonly kind: "activity"; readonly row: Activity }
  | { readonly kind: "clock"; readonly shiftWallMs: number; readonly skipMs: number }
  /** A replica has ended and has nothing in flight. */
  | { readonly kind: "gone"; readonly replica: number };
