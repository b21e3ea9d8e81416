import * as z from "zod";
import { count, dialect, quantiles } from "./load-values.ts";

const retryOutcome = z.enum([
  /** Admitted when retried after its Retry-After. */
  "sufficient",
  /** Denied again although no other request had been admitted in between. */
  "insufficient",
  /** Denied again because others took what became free. */
  "contended",
  /** No usable Retry-After, or the run ended first. */
  "untested",
]);

/** Whether clients waited for the Retry-After of the run's denials, and whether the waits sufficed. */
export const retryAfterSchema = z.strictObject({
  /** What the clients of the run do after a denial: wait for its Retry-After, ignore it, or send nothing again. */
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
      /** Requests that were sent before a denial's Retry-After had passed, and those of them that were admitted. */
      earlyProbes: count,
      earlyAdmitted: count,
      retryAfterWaitMs: quantiles,
      /** From the denial to the attempt that was admitted. */
      actualMs: quantiles,
    }),
  ),
  /** Waits that were tested with capacity for the request, and those of them after which it was admitted. */
  tested: count,
  sufficient: count,
  /** sufficient / tested; `null` if fewer than 30 were tested, too few for a share. */
  sufficientShare: z.number().nullable(),
  /** A bounded sample of denials, for the scatter plot of requested and actual waits. */
  samples: z.array(
    z.strictObject({
      phase: z.string(),
      /** Seconds from the start of the run. */
      atS: z.number(),
      reason: z.string(),
      dialect,
      stream: z.boolean(),
      /** The header as sent; absent if there was none. */
      header: z.string().optional(),
      retryAfterWaitMs: z.number().nullable(),
      /** From the denial to the attempt that was admitted; `null` if none was. */
      actualMs: z.number().nullable(),
      outcome: retryOutcome,
    }),
  ),
  /** The harness's own clients. If they are `compliant`, the first two must be 0. */
  client: z.strictObject({
    earlySends: count,
    forbiddenRetries: count,
    retries: count,
    aborted: count,
    uncertain: count,
  }),
  /** Many compliant clients together: whether they recover or return as a herd. */
  fleet: z
    .strictObject({
      clients: count,
      recovered: count,
      recoveryS: z.number().nullable(),
      attempts: count,
      /** Maximum number of attempts within 100 ms, as a share of all clients. */
      herdShare: z.number(),
    })
    .nullable(),
});

export type RetryAfterFigures = z.infer<typeof retryAfterSchema>;
export type RetryOutcome = z.infer<typeof retryOutcome>;
