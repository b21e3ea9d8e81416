import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Outcome } from "../../judging/index.ts";
import { Histogram, type StoredHistogram } from "../../metrics/index.ts";
import type { JudgedPhase } from "../../record/index.ts";
import { ttftUs } from "./ttft.ts";

type TurnFigures = NonNullable<JudgedPhase["sessions"]>["turns"][number];
type TurnCounts = Pick<TurnFigures, "turn" | "requests" | "admitted" | "denied" | "failed" | "invalid">;

/** What a worker reports about a turn. */
export interface StoredTurn extends TurnCounts {
  readonly requestBytes: number;
  readonly response: StoredHistogram;
  readonly ttft: StoredHistogram;
}

/** Later turns are counted together with this one. */
const LAST_TURN = 10;

/** One turn over all sessions; latencies are those of admitted requests. */
class TurnTally {
  readonly #turn: number;
  readonly #counts = { requests: 0, admitted: 0, denied: 0, failed: 0, invalid: 0 };
  readonly #response = new Histogram();
  readonly #ttft = new Histogram();
  #requestBytes = 0;

  constructor(turn: number) {
    this.#turn = turn;
  }

  ended(exchange: LoadExchange, outcome: Outcome): void {
    const { prepared, dueUs, endUs } = exchange;
    this.#counts.requests++;
    this.#counts[outcome === "unfinished" ? "failed" : outcome]++;
    this.#requestBytes += prepared.bytes.length;
    if (outcome !== "admitted") return;
    this.#response.record(endUs - dueUs);
    const ttft = ttftUs(exchange);
    if (ttft !== undefined) this.#ttft.record(ttft);
  }

  store(): StoredTurn {
    return {
      turn: this.#turn,
      ...this.#counts,
      requestBytes: this.#requestBytes,
      response: this.#response.store(),
      ttft: this.#ttft.store(),
    };
  }

  merge({ requestBytes, response, ttft, ...counts }: StoredTurn): void {
    for (const name of ["requests", "admitted", "denied", "failed", "invalid"] as const)
      this.#counts[name] += counts[name];
    this.#requestBytes += requestBytes;
    this.#response.merge(Histogram.restore(response));
    this.#ttft.merge(Histogram.restore(ttft));
  }

  close(): TurnFigures {
    const { requests } = this.#counts;
    return {
      turn: this.#turn,
      ...this.#counts,
      meanRequestBytes: requests === 0 ? 0 : this.#requestBytes / requests,
      responseMs: this.#response.quantilesMs(),
      ttftMs: this.#ttft.quantilesMs(),
    };
  }
}

/** The turns of sessions, each counted separately up to the tenth. */
export class TurnTallies {
  readonly #turns = new Map<number, TurnTally>();

  ended(turn: number, exchange: LoadExchange, outcome: Outcome): void {
    this.#of(turn).ended(exchange, outcome);
  }

  #of(requested: number): TurnTally {
    const turn = Math.min(requested, LAST_TURN);
    const known = this.#turns.get(turn) ?? new TurnTally(turn);
    this.#turns.set(turn, known);
    return known;
  }

  store(): StoredTurn[] {
    return [...this.#turns.values()].map((tally) => tally.store());
  }

  merge(turns: readonly StoredTurn[]): void {
    for (const stored of turns) this.#of(stored.turn).merge(stored);
  }

  close(): TurnFigures[] {
    return [...this.#turns.values()].map((tally) => tally.close()).sort((a, b) => a.turn - b.turn);
  }
}
