import type { Share } from "../../budget/index.ts";
import { InternalError, UsageError } from "../../core/index.ts";
import type { Dialect, Mode } from "../../dialects/index.ts";
import type { ContinueOutcome } from "../../http/recorder/index.ts";
import type { Key, KeyName, ManagedAccount, ModelRole, Provisioner, Target, Upgradable } from "../../target/index.ts";
import type { Axes } from "../declare/axes.ts";
import { MissingFixture } from "../declare/need.ts";
import type { Reaches } from "../declare/reaches.ts";
import type { RequestSpec } from "../declare/request-spec.ts";
import { type LimitedAccount, type LimitKind, limitedFor } from "../fixtures/limited-account.ts";
import { type TokenLimitedAccount, tokenLimitedFor } from "../fixtures/token-limited-account.ts";
import type { Held } from "../response/held-request.ts";
import type { Response } from "../response/response.ts";
import type { SentTraffic } from "../traffic/sent-traffic.ts";
import type { Traffic } from "../traffic/traffic.ts";
import type { SendDefaults } from "../traffic/traffic-options.ts";
import { UpstreamProbe } from "../traffic/upstream-probe.ts";
import type { AfterOthers } from "./pool.ts";

export interface SessionOptions {
  readonly key?: Key | undefined;
  readonly others?: AbortSignal | undefined;
  readonly share?: Share | undefined;
  /** Whether requests in a dialect that the target does not serve use the one that it serves. */
  readonly anyDialect?: boolean;
  /** The limit that the check declares to reach. */
  readonly reaches?: Reaches | undefined;
  /** The instance it belongs to. */
  readonly by?: string | undefined;
  readonly afterOthers?: AfterOthers | undefined;
}

/** What a probe works with: its position on the axes, and the means to send. */
export class Session {
  readonly dialect: Dialect;
  readonly mode: Mode;
  /** The further axis of the instance; empty if it has none. */
  readonly case: string;
  readonly #traffic: Traffic;
  readonly #key: Key | undefined;
  readonly #others: AbortSignal | undefined;
  readonly #share: Share | undefined;
  readonly #anyDialect: boolean;
  readonly #by: string | undefined;
  readonly #reaches: Reaches | undefined;
  readonly #afterOthers: AfterOthers | undefined;

  /**
   * @param key of requests that name none; default `valid`.
   * @param others aborted when the checks that run in parallel with this one are done.
   * @param share the part of the budget reserved for it.
   */
  constructor(
    traffic: Traffic,
    axes: Axes,
    { key, others, share, by, reaches, afterOthers, anyDialect = false }: SessionOptions = {},
  ) {
    this.#traffic = traffic;
    this.#key = key;
    this.#others = others;
    this.#share = share;
    this.#anyDialect = anyDialect;
    this.#by = by;
    this.#reaches = reaches;
    this.#afterOthers = afterOthers;
    this.dialect = axes.dialect ?? "chat";
    this.mode = axes.mode ?? "non-streaming";
    this.case = axes.case ?? "";
  }

  get target(): Target {
    return this.#traffic.target;
  }

  get #defaults(): SendDefaults {
    return {
      endpoint: this.dialect,
      mode: this.mode,
      key: this.#key,
      share: this.#share,
      by: this.#by,
      reaches: this.#reaches,
      ...(this.#anyDialect && { anyDialect: true }),
    };
  }

  /** Dialects that the target serves: at least one, chat first. */
  get dialects(): readonly Dialect[] {
    return this.target.dialects;
  }

  /** Sends a request like any other client of the account: paced, and once more if something ambient stopped it. */
  send(request: RequestSpec = {}): Promise<Response> {
    return this.#traffic.send(request, this.#defaults);
  }

  /** The control request of a negative probe; one that was served in the last seconds also counts. */
  control(request: RequestSpec = {}): Promise<Response> {
    return this.#traffic.control(request, this.#defaults);
  }

  /** Sends immediately and does not wait for the end. */
  start(request: RequestSpec = {}): Held {
    return this.#traffic.start(request, this.#defaults);
  }

  /** Runs a scenario once per run: several checks may judge the same costly traffic. */
  once<T>(name: string, scenario: () => Promise<T>): Promise<T> {
    return this.#traffic.scenarios.once(name, scenario);
  }

  /** Whether a role has a model that the gateway knows in the dialect. */
  async hasModel(role: ModelRole, dialect: Dialect = this.dialect): Promise<boolean> {
    const served = this.#anyDialect && !this.dialects.includes(dialect) ? this.dialect : dialect;
    const { ok } = await this.#traffic.fixtures.findVerified(`model.${role}`, served);
    return ok;
  }

  /** A new key for a state that the probe uses up; `undefined` if nobody can create one. */
  freshKey(state: `key.${KeyName}`): Promise<Key | undefined> {
    return this.#traffic.fixtures.freshKey(state);
  }

  /** What is left of the run's budget. */
  get left(): { readonly requests: number; readonly outputTokens: number } {
    return this.#traffic.budget.left(this.#share);
  }

  /** Whether a load run over the tiers follows the checks. */
  get loadFollows(): boolean {
    return this.#traffic.loadFollows;
  }

  /** Whether scenarios skip the steps that wait, for windows and for replies that take long. */
  get isQuick(): boolean {
    return this.#traffic.isQuick;
  }

  /** What the run has sent. */
  get sent(): SentTraffic {
    return this.#traffic.sent;
  }

  /** A new account whose limits can be raised; the check must declare the need (`upgrade`). */
  async upgradable(): Promise<Upgradable> {
    const { provisioner } = this.#traffic.fixtures;
    if (provisioner?.upgradable === undefined) throw new MissingFixture("upgrade", this.dialect);
    const account = await provisioner.upgradable();
    this.#traffic.fixtures.hide(account.key);
    return account;
  }

  /** A new account with a balance in micro-dollars, whose keys can be changed; the check must declare the need (`manage`). */
  async managed(balanceMicroUsd: number): Promise<ManagedAccount> {
    const { provisioner } = this.#traffic.fixtures;
    if (provisioner?.managed === undefined) throw new MissingFixture("manage", this.dialect);
    const account = await provisioner.managed(balanceMicroUsd);
    const { fixtures } = this.#traffic;
    return {
      ...account,
      async createKey(terms) {
        const key = await account.createKey(terms);
        fixtures.hide(key);
        return key;
      },
    };
  }

  /** The gateway's clock, if it can be shifted; the check must declare the need. */
  get clock(): Required<Pick<Provisioner, "shiftClock" | "readClock">> | undefined {
    const { shiftClock, readClock } = this.#traffic.fixtures.provisioner ?? {};
    return shiftClock === undefined || readClock === undefined ? undefined : { shiftClock, readClock };
  }

  /** The providers behind the gateway; the check must declare the need (`upstream`). */
  get upstream(): UpstreamProbe {
    return new UpstreamProbe(this.#traffic, this.dialect);
  }

  /** Sends a valid request that waits for `100 Continue` before its body. */
  expectContinue(request: RequestSpec = {}): Promise<ContinueOutcome> {
    return this.#traffic.expectContinue(request, this.#defaults);
  }

  /** Requests of a series that are sent together, so that slow replies do not delay the run; 1 if replies are immediate. */
  get parallelFactor(): number {
    return Math.round(this.#traffic.replyTimes.parallelFactor);
  }

  /** For background checks: whether the others are still running. */
  get hasConcurrentChecks(): boolean {
    return this.#others?.aborted === false;
  }

  /**
   * Waits until the checks that run in parallel with this one are done, or wait in the same way: for actions that would disturb
   * them, such as upstream failures. If another check's failures cause models to be refused, waits for those models.
   */
  async afterOthers(): Promise<void> {
    await this.#afterOthers?.();
    this.#traffic.signal.throwIfAborted();
    if (this.#afterOthers !== undefined) await this.#traffic.recovered();
  }

  nonce(): string {
    return this.#traffic.nonce();
  }

  /** Waits, but ends early when the run is interrupted. @param what label for the progress display. */
  wait(ms: number, what = "the next request of a series"): Promise<void> {
    return this.#traffic.wait(ms, { what, by: this.#by });
  }

  random(): number {
    return this.#traffic.random();
  }

  /** Time base of the exchanges, µs. */
  nowUs(): number {
    return this.#traffic.recorder.nowUs();
  }

  /** The account for a kind of limit check; the check must declare the need. */
  limited(kind: LimitKind): LimitedAccount {
    this.#assertDeclared(kind);
    const account = limitedFor(this.target, kind);
    if (account === undefined) throw new UsageError(`the target has no account for ${kind} checks`);
    return account;
  }

  /** The account of the declared token limit; the check must declare the need (`tokenLimits`). */
  tokenLimited(): TokenLimitedAccount {
    this.#assertDeclared("tokens");
    const account = tokenLimitedFor(this.target);
    if (account === undefined) throw new UsageError("the target has no account with a token limit");
    return account;
  }

  /** The planner can only block a check if it declares its limit. */
  #assertDeclared(reaches: Reaches): void {
    if (this.#reaches !== reaches) throw new InternalError(`the check does not declare \`reaches: "${reaches}"\``);
  }
}
