import type { Share } from "../../budget/index.ts";
import { InternalError, UsageError } from "../../core/index.ts";
import type { Dialect, Mode } from "../../dialects/index.ts";
import type { ContinueOutcome } from "../../http/recorder/index.ts";
import type { Key, ModelRole, Target } from "../../target/index.ts";
import type { Axes } from "../declare/axes.ts";
import type { Reaches } from "../declare/reaches.ts";
import { assertKnownOptions, type RequestSpec } from "../declare/request-spec.ts";
import type { RunKind } from "../declare/schedule.ts";
import type { Fixtures } from "../fixtures/fixtures.ts";
import { type LimitedAccount, type LimitKind, limitedFor } from "../fixtures/limited-account.ts";
import { type TokenLimitedAccount, tokenLimitedFor } from "../fixtures/token-limited-account.ts";
import type { HeldRequest } from "../response/held-request.ts";
import type { Response } from "../response/response.ts";
import type { ScenarioRuns } from "../response/scenario-runs.ts";
import { LedgerProbe } from "../traffic/ledger-probe.ts";
import type { ReplyTimes } from "../traffic/reply-times.ts";
import type { SentTraffic } from "../traffic/sent-traffic.ts";
import type { Traffic } from "../traffic/traffic.ts";
import type { SendDefaults } from "../traffic/traffic-options.ts";
import { UpstreamProbe } from "../traffic/upstream-probe.ts";
import type { AfterOthers } from "./pool.ts";

export interface SessionOptions {
  /** Key of requests that name none; default `valid`. */
  readonly key?: Key | undefined;
  /** Aborted when the checks that run in parallel with this one are done. */
  readonly others?: AbortSignal | undefined;
  /** The part of the budget reserved for the check. */
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
  readonly run: RunKind;
  /** What the run has sent. */
  readonly sent: SentTraffic;
  readonly replyTimes: ReplyTimes;
  /** The target, and keys and accounts in states that the check uses up. */
  readonly fixtures: Fixtures;
  /** Traffic that several checks judge. */
  readonly scenarios: ScenarioRuns;
  readonly random: () => number;
  /** A text that occurs in no other prompt of any run. */
  readonly nonce: () => string;
  /** Time base of the exchanges, µs. */
  readonly nowUs: () => number;
  readonly #traffic: Traffic;
  readonly #options: SessionOptions;

  constructor(traffic: Traffic, axes: Axes, options: SessionOptions = {}) {
    this.#traffic = traffic;
    this.#options = options;
    this.dialect = axes.dialect ?? "chat";
    this.mode = axes.mode ?? "non-streaming";
    this.case = axes.case ?? "";
    this.run = traffic.run;
    this.sent = traffic.sent;
    this.replyTimes = traffic.replyTimes;
    this.fixtures = traffic.fixtures;
    this.scenarios = traffic.scenarios;
    this.random = traffic.random;
    this.nonce = traffic.nonce;
    this.nowUs = () => traffic.recorder.nowUs();
  }

  /** As known at this moment: provisioners add keys during the run. */
  get target(): Target {
    return this.fixtures.target;
  }

  get #defaults(): SendDefaults {
    const { key, share, by, reaches, anyDialect = false } = this.#options;
    return { endpoint: this.dialect, mode: this.mode, key, share, by, reaches, ...(anyDialect && { anyDialect }) };
  }

  /** Sends a request like any other client of the account: paced, and once more if something ambient stopped it. */
  send(request: RequestSpec = {}): Promise<Response> {
    assertKnownOptions(request);
    return this.#traffic.send(request, this.#defaults);
  }

  /** The control request of a negative probe; one that was served in the last seconds also counts. */
  control(request: RequestSpec = {}): Promise<Response> {
    assertKnownOptions(request);
    return this.#traffic.control(request, this.#defaults);
  }

  /** Sends immediately and does not wait for the end. */
  start(request: RequestSpec = {}): HeldRequest {
    assertKnownOptions(request);
    return this.#traffic.start(request, this.#defaults);
  }

  /** Whether a role has a model that the gateway knows in the dialect. */
  async hasModel(role: ModelRole, dialect: Dialect = this.dialect): Promise<boolean> {
    const served =
      this.#options.anyDialect === true && !this.target.dialects.includes(dialect) ? this.dialect : dialect;
    const { ok } = await this.fixtures.findVerified(`model.${role}`, served);
    return ok;
  }

  /** What is left of the run's budget. */
  get left(): { readonly requests: number; readonly outputTokens: number } {
    return this.#traffic.budget.left(this.#options.share);
  }

  /** The providers behind the gateway; the check must declare the need (`upstream`). */
  get upstream(): UpstreamProbe {
    return new UpstreamProbe(this.#traffic, this.dialect);
  }

  /** What the gateway recorded of requests and their cost; the check must declare the need (`ledger`). */
  get ledger(): LedgerProbe {
    return new LedgerProbe(this.#traffic, this.dialect);
  }

  /** Sends a valid request that waits for `100 Continue` before its body. */
  expectContinue(request: RequestSpec = {}): Promise<ContinueOutcome> {
    assertKnownOptions(request);
    return this.#traffic.expectContinue(request, this.#defaults);
  }

  /** For background checks: whether the others are still running. */
  get hasConcurrentChecks(): boolean {
    return this.#options.others?.aborted === false;
  }

  /**
   * Waits until the checks that run in parallel with this one are done, or wait in the same way: for actions that would disturb
   * them, such as upstream failures. If another check's failures cause models to be refused, waits for those models.
   */
  async afterOthers(): Promise<void> {
    const { afterOthers } = this.#options;
    await afterOthers?.();
    this.#traffic.signal.throwIfAborted();
    if (afterOthers !== undefined) await this.#traffic.recovered();
  }

  /** Waits, but ends early when the run is interrupted. @param what label for the progress display. */
  wait(ms: number, what = "the next request of a series"): Promise<void> {
    return this.#traffic.wait(ms, { what, by: this.#options.by });
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
    if (this.#options.reaches !== reaches)
      throw new InternalError(`the check does not declare \`reaches: "${reaches}"\``);
  }
}
