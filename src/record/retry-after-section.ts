import { z } from "zod";
import { count, dialect, quantiles } from "./load-values.ts";

const retryOutcome = z.enum([
  /** Admitted when it came back after its Retry-After. */
  "sufficient",
  /** Denied again although nobody else had been admitted meanwhile. */
  "insufficient",
  /** Denied again because others took what became free. */
  "contended",
  /** No usable Retry-After, or the run ended first. */
  "untested",
]);

/** How the Retry-After of a run's denials was kept, and what it was worth. */
export const retryAfterSchema = z.strictObject({
  /** What the clients of the run do with a denial: wait for its Retry-After, ignore it, or send nothing again. */
  clients: z.enum(["compliant", "ignoring", "none"]),
  /** Per reason, dialect and mode. */
  groups: z.array(
    z.strictObject({
      reason: z.string(),
      dialect,
      stream: z.boolean(),
      denials: count,
      present: count,
      usable: count,
      sufficient: count,
      insufficient: count,
      contended: count,
      /** Requests that were sent during the wait that a denial asked for, and those of them that were admitted. */
      earlyProbes: count,
      earlyAdmitted: count,
      retryAfterWaitMs: quantiles,
      /** From the denial to the attempt that was admitted. */
      actualMs: quantiles,
    }),
  ),
  /** Waits that were tested with room for the request, and those of them after which it was admitted. */
  tested: count,
  sufficient: count,
  /** sufficient / tested; `null` when fewer than 30 were tested: that is no share. */
  sufficientShare: z.number().nullable(),
  /** A bounded sample of denials, for the scatter of asked against actual waits. */
  samples: z.array(
    z.strictObject({
      phase: z.string(),
      /** Seconds from the beginning of the run. */
      atS: z.number(),
      reason: z.string(),
      dialect,
      stream: z.boolean(),
      /** The header as sent; absent when there was none. */
      header: z.string().optional(),
      retryAfterWaitMs: z.number().nullable(),
      /** From the denial to the attempt that was admitted; `null` when none was. */
      actualMs: z.number().nullable(),
      outcome: retryOutcome,
    }),
  ),
  /** The harness's own clients. Where they are `compliant` the first two must be 0. */
  client: z.strictObject({
    earlySends: count,
    forbiddenRetries: count,
    retries: count,
    gaveUp: count,
    uncertain: count,
  }),
  /** Many compliant clients at once: whether they recover or come back as a herd. */
  fleet: z
    .strictObject({
      clients: count,
      recovered: count,
      recoveryS: z.number().nullable(),
      attempts: count,
      /** Most attempts within 100 ms, as a share of all clients. */
      herdShare: z.number(),
    })
    .nullable(),
});

export type RetryAfterFigures = z.infer<typeof retryAfterSchema>;
export type RetryOutcome = z.infer<typeof retryOutcome>;
