import type { Account, ApiKey } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import type { GatewayClock } from "../gateway-clock.ts";
import type { History } from "../history.ts";
import type { Lease } from "../limiters/concurrency-limiter.ts";
import type { SharedEvent } from "./shared-event.ts";
import { type LoggedEvents, type SharedLog, StoreUnavailableError } from "./shared-log.ts";

/** The state that replicas share. */
export interface SharedParts {
  readonly accounts: AccountStore;
  readonly history: History;
  readonly clock: GatewayClock;
}

/**
 * How often a replica looks for replicas that were killed, ms: their requests in flight must not count forever. What it could not
 * write is tried again as often.
 */
const WATCH_MS = 200;

/** Milliseconds until an event of another replica is known to this one; `undefined`: never. */
type PropagationDelayMs = (event: SharedEvent, replica: number) => number | undefined;

/** What another replica has in flight. */
interface ReplicaInFlight {
  readonly leases: Map<string, Lease>;
  /** Micro-dollars by key. */
  readonly reserved: Map<string, number>;
}

/** Microseconds of a monotonic clock that all processes of the machine read alike. */
const machineUs = (): number => Number(process.hrtime.bigint() / 1_000n);

/**
 * The state of this replica, kept equal to that of the others: each decision is made in a transaction on the shared log, after the
 * events of all other replicas have been applied, and its own events are appended in the same transaction. Two replicas can
 * therefore never both admit the last request within a limit.
 */
export class SharedState {
  readonly replica: number;
  readonly #log: SharedLog;
  readonly #parts: SharedParts;
  readonly #propagationDelayMs: PropagationDelayMs;
  /** From our monotonic clock, without skips, to that of the machine. */
  readonly #offsetUs: number;
  readonly #others = new Map<number, ReplicaInFlight>();
  /** Versions of accounts and keys that all replicas know. */
  readonly #known = new Map<string, string>();
  /** Events that a mutation or a variant applies late. */
  #late: { readonly from: number; readonly event: SharedEvent; readonly atUs: number }[] = [];
  #added: SharedEvent[] | undefined;
  /** What has to be done as soon as the file is available again. */
  #postponed: (() => void)[] = [];
  #ready: Readonly<Record<string, string>> | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isClosed = false;

  constructor(log: SharedLog, parts: SharedParts, propagationDelayMs: PropagationDelayMs) {
    this.#log = log;
    this.replica = log.replica;
    this.#parts = parts;
    this.#propagationDelayMs = propagationDelayMs;
    this.#offsetUs = machineOffsetUs(parts.clock);
  }

  /** Call when the state of the other replicas has been taken over. */
  started(): void {
    this.#isStarted = true;
    this.#watch = setInterval(() => this.#whenAvailable(() => this.#catchUp()), WATCH_MS).unref();
  }

  /** Ids of the ready-made keys, once some replica has made them. */
  get readyKeys(): Readonly<Record<string, string>> | undefined {
    return this.#ready;
  }

  /** Requests in flight on other replicas, over all accounts. */
  get inFlightOnOthers(): number {
    return [...this.#others.values()].reduce((sum, { leases }) => sum + leases.size, 0);
  }

  /**
   * Decides something with the state of all replicas; what it adds becomes known to all. May be nested.
   *
   * @throws StoreUnavailableError if the file is locked or cannot be written; then nothing was decided.
   */
  run<T>(decide: () => T): T {
    if (this.#added !== undefined || this.#isClosed) return decide();
    let decided: { readonly value: T } | undefined;
    this.#log.transaction((news) => {
      this.#learn(news);
      const added: SharedEvent[] = [];
      this.#added = added;
      try {
        for (const act of this.#postponed.splice(0)) act();
        decided = { value: decide() };
      } finally {
        this.#added = undefined;
      }
      return added;
    });
    if (decided === undefined) throw new Error("a transaction ended without a decision");
    return decided.value;
  }

  /** Does something now or, if the file is unavailable, as soon as it is available again, in the order of the calls. */
  eventually(act: () => void): void {
    try {
      this.run(act);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      this.#postponed.push(act);
    }
  }

  /** Adds an event that this replica has already applied. Times are those of our clock. */
  add(event: SharedEvent): void {
    if (this.#isClosed) return;
    this.run(() => {
      this.#added?.push(toMachineTime(event, this.#offsetUs));
      this.#note(event);
    });
  }

  /** Adds all accounts and keys that were created or changed here since the last call. */
  publish(): void {
    this.run(() => {
      for (const account of this.#parts.accounts.accounts)
        if (this.#known.get(account.id) !== account.version) this.add({ kind: "account", saved: account.saved });
      for (const key of this.#parts.accounts.keys)
        if (this.#known.get(key.id) !== key.version)
          this.add({ kind: "key", saved: key.saved, isNew: !this.#known.has(key.id) });
    });
  }

  /** Ends this replica for the others. */
  close(): void {
    if (this.#isClosed) return;
    clearInterval(this.#watch);
    // Without the file, the others notice that the process has ended.
    const gone = { kind: "gone", replica: this.replica } as const;
    this.#whenAvailable(() => {
      // An event that running replicas never receive must not reach replicas that start later, either.
      if (this.#propagationDelayMs(gone, this.replica) !== undefined) this.add(gone);
      this.#log.remove(this.replica);
    });
    this.#isClosed = true;
    this.#log.close();
  }

  #whenAvailable(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
    }
  }

  #catchUp(): void {
    if (this.#postponed.length > 0) this.run(() => undefined);
    this.#removeKilled();
  }

  /** A replica that was killed cannot say so. */
  #removeKilled(): void {
    if (this.#added !== undefined) return;
    for (const { replica, pid } of this.#log.replicas()) {
      if (replica === this.replica || isRunning(pid)) continue;
      if (this.#propagationDelayMs({ kind: "gone", replica }, this.replica) === undefined) continue;
      this.run(() => {
        if (!this.#log.remove(replica)) return;
        this.#release(replica);
        this.add({ kind: "gone", replica });
      });
    }
  }

  #learn(news: readonly LoggedEvents[]): void {
    const nowUs = machineUs();
    for (const { replica, events } of news) {
      for (const event of events) {
        // A replica that starts takes over everything.
        const afterMs = this.#isStarted ? this.#propagationDelayMs(event, this.replica) : 0;
        if (afterMs === undefined) continue;
        if (afterMs <= 0) this.#apply(event, replica);
        else this.#late.push({ from: replica, event, atUs: nowUs + afterMs * 1_000 });
      }
    }
    if (this.#late.length === 0) return;
    const due = this.#late.filter(({ atUs }) => atUs <= nowUs);
    this.#late = this.#late.filter(({ atUs }) => atUs > nowUs);
    for (const { event, from } of due) this.#apply(event, from);
  }

  #apply(event: SharedEvent, from: number): void {
    const { accounts, history, clock } = this.#parts;
    const offsetUs = this.#offsetUs;
    switch (event.kind) {
      case "account": {
        const { rpm, inFlight, balanceMicroUsd } = event.saved;
        const account = accounts.account(event.saved.id) ?? accounts.restoreAccount(event.saved);
        if (account.limits.rpm !== rpm || account.limits.inFlight !== inFlight)
          account.changeLimits({ rpm, inFlight }, clock.monotonicUs());
        account.balanceMicroUsd = balanceMicroUsd;
        break;
      }
      case "key": {
        const key = accounts.key(event.saved.id) ?? accounts.restoreKey(event.saved);
        key.capMicroUsd = event.saved.capMicroUsd ?? undefined;
        key.budgetMicroUsd = event.saved.budgetMicroUsd ?? undefined;
        key.revoked = event.saved.revoked;
        break;
      }
      case "ready":
        this.#ready = event.keys;
        break;
      case "rate":
        accounts.account(event.account)?.limiter.count(event.atUs - offsetUs);
        break;
      case "lease": {
        const lease = accounts.account(event.account)?.concurrency.take(event.expectedEndUs - offsetUs);
        if (lease !== undefined) this.#heldBy(from).leases.set(event.id, lease);
        break;
      }
      case "release":
        this.#heldBy(from).leases.get(event.id)?.release();
        this.#heldBy(from).leases.delete(event.id);
        break;
      case "reserve":
        this.#reserve(from, event);
        break;
      case "balance": {
        const account = accounts.account(event.account);
        if (account !== undefined) account.balanceMicroUsd -= event.microUsd;
        break;
      }
      case "budget":
        accounts.key(event.key)?.spend.chargeLifetime(event.microUsd);
        break;
      case "cap": {
        const { microUsd, day, visibleAtUs } = event;
        accounts.key(event.key)?.spend.chargeDay(microUsd, day, visibleAtUs - offsetUs, clock.monotonicUs());
        break;
      }
      case "activity":
        history.add(event.row);
        break;
      case "clock":
        clock.shiftWall(event.shiftWallMs);
        clock.skipMonotonic(event.skipMs);
        break;
      case "gone":
        this.#release(event.replica);
        break;
    }
    this.#note(event);
  }

  #reserve(from: number, { key: id, microUsd }: SharedEvent & { readonly kind: "reserve" }): void {
    const key = this.#parts.accounts.key(id);
    if (key === undefined) return;
    reserveFor(key, microUsd);
    const { reserved } = this.#heldBy(from);
    reserved.set(id, (reserved.get(id) ?? 0) + microUsd);
  }

  /** Ends everything that a replica had in flight. */
  #release(replica: number): void {
    const { leases, reserved } = this.#heldBy(replica);
    for (const lease of leases.values()) lease.release();
    for (const [id, microUsd] of reserved) {
      const key = this.#parts.accounts.key(id);
      if (key !== undefined) reserveFor(key, -microUsd);
    }
    this.#others.delete(replica);
  }

  #heldBy(replica: number): ReplicaInFlight {
    const known = this.#others.get(replica) ?? { leases: new Map(), reserved: new Map() };
    this.#others.set(replica, known);
    return known;
  }

  /** Remembers that all replicas know the current version of what an event is about. */
  #note(event: SharedEvent): void {
    const { accounts } = this.#parts;
    const subject: Account | ApiKey | undefined =
      "saved" in event
        ? (accounts.account(event.saved.id) ?? accounts.key(event.saved.id))
        : "account" in event
          ? accounts.account(event.account)
          : "key" in event
            ? accounts.key(event.key)
            : undefined;
    if (subject !== undefined) this.#known.set(subject.id, subject.version);
  }
}

/** Reserves a charge of a key, or ends a reservation if negative. */
function reserveFor(key: ApiKey, microUsd: number): void {
  key.account.reservedMicroUsd += microUsd;
  key.spend.reserve(microUsd);
}

/** Microseconds from a gateway's monotonic clock to that of the machine. */
export function machineOffsetUs(clock: GatewayClock): number {
  return machineUs() - (clock.monotonicUs() - clock.monotonicShiftMs * 1_000);
}

function toMachineTime(event: SharedEvent, offsetUs: number): SharedEvent {
  switch (event.kind) {
    case "rate":
      return { ...event, atUs: event.atUs + offsetUs };
    case "lease":
      return { ...event, expectedEndUs: event.expectedEndUs + offsetUs };
    case "cap":
      return { ...event, visibleAtUs: event.visibleAtUs + offsetUs };
    default:
      return event;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
