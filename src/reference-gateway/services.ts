import type { AccountStore } from "./accounts/account-store.ts";
import type { Saver } from "./data/saver.ts";
import type { Scheduler } from "./delivery/scheduler.ts";
import type { GatewayClock } from "./gateway-clock.ts";
import type { History } from "./history.ts";
import type { TokenCounts } from "./limiters/token-limiter.ts";
import type { Model } from "./providers/model-table.ts";
import type { ProviderSettings } from "./providers/plan.ts";
import type { Upstream } from "./relay/upstream.ts";
import type { SharedState } from "./shared/shared-state.ts";
import type { TrafficLog } from "./traffic-log.ts";

/** What all requests of one gateway share. */
export interface Services {
  readonly clock: GatewayClock;
  readonly accounts: AccountStore;
  readonly models: ReadonlyMap<string, Model>;
  readonly scheduler: Scheduler;
  readonly history: History;
  readonly traffic: TrafficLog;
  /** Saves accounts, keys and the history. Absent: they are in memory only. */
  readonly saver: Saver | undefined;
  /** The state that replicas of this gateway share. Absent: there is only this one. */
  readonly shared: SharedState | undefined;
  readonly providers: ProviderSettings;
  /** Real providers instead of the simulated ones. */
  readonly upstream: Upstream | undefined;
  /** What counts toward a token limit, for accounts that have one. */
  readonly tokenCounts: TokenCounts;
  readonly seed: number;
  /** Milliseconds until a charge appears in a key's tallies. */
  readonly settlingLagMs: number;
  /** Unix seconds at which the gateway started; the `created` of its models. */
  readonly startedS: number;
}
