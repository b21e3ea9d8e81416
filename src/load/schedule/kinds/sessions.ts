import * as z from "zod";
import { optional } from "../../../target/index.ts";
import { type Lengths, longestOf } from "../../workload/lengths.ts";
import { lengthsSchema, resolveLengths, resolveMs, secondsSchema } from "../../workload/written-lengths.ts";
import { type ArrivalKind, writtenArrivals } from "../arrival-kind.ts";
import { evenSchedule } from "./constant.ts";
import { maxPoisson, poissonSchedule } from "./poisson.ts";
import { rate, seconds, whole } from "./written.ts";

/** Sessions arrive on a schedule; their later turns follow the responses. */
export interface SessionArrivals {
  readonly kind: "sessions";
  readonly ratePerS: number;
  readonly durationS: number;
  readonly spacing: "even" | "poisson";
  readonly turns: Lengths;
  readonly thinkMs: Lengths;
  /** A system prompt: `share` of the sessions use the same one, the others a unique one. */
  readonly sharedPrefix?: { readonly share: number; readonly tokens: number } | undefined;
  /** Name of the header with the session id. */
  readonly header: string;
}

export const sessions: ArrivalKind<SessionArrivals> = {
  plan({ ratePerS, durationS, spacing, turns, thinkMs }) {
    const each = longestOf(turns);
    const count = Math.ceil(ratePerS * durationS);
    return {
      requests: count * each,
      maxRequests: (spacing === "poisson" ? maxPoisson(count) : count) * each,
      // Response times come on top; they are unknown in advance.
      durationS: durationS + ((each - 1) * longestOf(thinkMs)) / 1_000,
      peakPerS: ratePerS * each,
    };
  },
  schedule: (arrivals, seed) =>
    arrivals.spacing === "even" ? evenSchedule(arrivals) : poissonSchedule(arrivals, seed),
  fixed: "made of sessions",
  notSimulated: "consists of sessions, whose turns arrive at times that depend on the responses",
  meanTokens({ turns, sharedPrefix }, { inputTokens, outputTokens }) {
    const before = (longestOf(turns) - 1) / 2;
    // Mean over the turns: earlier messages are sent again.
    const context = (sharedPrefix?.tokens ?? 0) + before * (inputTokens + outputTokens);
    return { inputTokens: context + inputTokens, outputTokens };
  },
};

export const sessionsInFile = () =>
  writtenArrivals({
    schema: z.strictObject({
      kind: z.literal("sessions"),
      ratePerS: rate.meta({ description: "Sessions that begin per second." }),
      durationS: seconds.meta({
        description: "Sessions begin within this time; sessions that have begun run to completion.",
      }),
      spacing: optional(z.enum(["even", "poisson"]), "How sessions arrive; default even."),
      turns: lengthsSchema.meta({ description: "Requests of a session." }),
      thinkS: optional(secondsSchema, "From the end of a reply to the next turn; default 0."),
      sharedPrefix: optional(
        z.strictObject({ share: z.number().min(0).max(1), tokens: whole }),
        "System prompt: this share of the sessions has the same one, each of the others its own.",
      ),
      header: optional(
        z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be the name of a header"),
        "Header with the id of the session; default X-Session-Id.",
      ),
    }),
    problemOfMix: (mix) =>
      mix.every(({ images, toolCalls }) => images === undefined && toolCalls === undefined)
        ? undefined
        : "has images or toolCalls: the turns of sessions are texts",
    resolve(written, fileOf): SessionArrivals {
      const { thinkS = 0, spacing = "even", header = "X-Session-Id", turns, ...own } = written;
      return { ...own, spacing, header, turns: resolveLengths(turns, fileOf), thinkMs: resolveMs(thinkS) };
    },
    namesTokens: true,
  });
