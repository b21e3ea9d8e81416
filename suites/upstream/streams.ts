import { type Check, defineCheck, type Response } from "../../src/checks/index.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { atLeast, atMost, isTrue } from "../../src/judging/index.ts";
import { assumeReachedProviders, NOTHING_RECEIVED, sendMarked, sendPlain, sendPlainNow, wordsOf } from "./marked.ts";

/** Events after which a stream stalls: the opening ones of either dialect, and some pieces of text. */
const BEFORE_STALL = 6;
/** How long a request may take to reach the provider, on a busy machine too, ms. */
const ARRIVES_MS = 10_000;
/** How long the events before the stall may take to reach the caller, ms. */
const REACHES_MS = 3_000;

const streamed = defineCheck({
  id: "upstream.streamed",
  title: "What a provider streams reaches the caller as it is sent",
  covers: ["UPSTREAM-STREAMED"],
  explains:
    "The provider sends some pieces of a reply and then nothing more. These should reach the caller within three seconds. A gateway that buffers the reply shows nothing until the end, which never comes.",
  needs: ["upstream"],
  across: { dialect: DIALECTS },
  cost: { requests: 3, waitS: 3 },
  async run(t) {
    const plain = await sendPlain(t, "streaming");
    if (!plain.response.admitted) return { plain, sent: NOTHING_RECEIVED, response: plain.response };
    const marker = t.upstream.marker();
    await t.upstream.setResponses(marker, { "*": { pieces: 40, break: { how: "stall", at: BEFORE_STALL } } });
    const request = { mode: "streaming", intent: "invalid", freshConnection: true } as const;
    const held = t.start(t.upstream.marked(marker, t.dialect, request));
    const sent = await t.upstream.until(
      marker,
      (seen) => seen.some((one) => one.sentEvents >= BEFORE_STALL),
      ARRIVES_MS,
    );
    const hasStarted = await Promise.race([held.started, t.wait(REACHES_MS).then(() => false)]);
    // If the gateway responds to this in the meantime, it was not busy with something else.
    if (!hasStarted) await sendMarked(t);
    await t.wait(INTO_MS);
    held.abort();
    return { plain, sent, response: await held.done };
  },
  judge({ plain, sent, response }, verdict) {
    assumeReachedProviders(verdict, plain);
    if (!sent.requests.some(({ sentEvents }) => sentEvents >= BEFORE_STALL))
      verdict.inconclusive("the provider sent nothing yet");
    const pieces = response.stream.pieces.length;
    verdict.should("UPSTREAM-STREAMED", pieces, atLeast(1), {
      in: response,
      because: "pieces of the reply that had arrived",
    });
  },
});

const INTO_MS = 400;

/** Events before the interruption: text has arrived by then. */
const BEFORE_BREAK = 7;
const BREAKS = ["reset", "close"] as const;

const brokenStream = defineCheck({
  id: "upstream.broken-stream",
  title: "A stream interrupted at the provider does not look complete",
  covers: ["UPSTREAM-BROKEN", "UPSTREAM-BLIND-RETRY", "UPSTREAM-REPLY"],
  explains:
    "The provider sends some pieces of a reply; then its connection is reset or closed. The caller must see that something is missing: an error in the stream, or a connection that ends before the message does, but not a normal ending. The gateway must not retry: it would get a different reply, which does not continue the first.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, case: BREAKS },
  schedule: { order: "exclusive", failsUpstream: true },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendPlainNow(t, "streaming");
    const how = t.case as (typeof BREAKS)[number];
    const script = { "*": { pieces: 40, gapMs: 20, break: { how, at: BEFORE_BREAK } } };
    return { plain, broken: await sendMarked(t, { mode: "streaming", intent: "invalid", repeats: false }, script) };
  },
  judge({ plain, broken }, verdict) {
    assumeReachedProviders(verdict, plain);
    const { response, upstream } = broken;
    const received = upstream.requests.length;
    if (received === 0) verdict.inconclusive(`the request reached no provider: ${response.summary}`);
    const { endMarkers, errors, text = "" } = response.stream;
    const seen = {
      in: response,
      because: `${errors.length} errors in the stream, ${endMarkers} end markers`,
    };
    const endsOf = ({ stream }: Response) => stream.endMarkers + stream.finishReasons.length;
    // A stream without the ending that complete streams have is recognisable as truncated.
    const isEnded = endsOf(response) > 0 || endsOf(plain.response) === 0;
    const looksWhole = response.complete && (response.status ?? 0) < 300 && errors.length === 0 && isEnded;
    verdict.should("UPSTREAM-BROKEN", looksWhole, false, {
      in: response,
      because: `ends like a whole reply: ${seen.because}`,
    });
    verdict.should("UPSTREAM-BLIND-RETRY", received, 1, { ...seen, because: "requests to providers" });
    verdict.must(
      "UPSTREAM-REPLY",
      WORDS.startsWith(text),
      isTrue("the beginning of the reply", JSON.stringify(text.slice(0, 200))),
      seen,
    );
  },
});

/** The reply that the interrupted streams begin. */
const WORDS = wordsOf(Array<number>(40).fill(6)).join("");

/** 32 MB: many times the buffers of two connections. */
const PIECES = 512;
const PIECE_BYTES = 65_536;
/** How long the caller reads nothing, ms. */
const BUSY_MS = 3_000;
/** Share of the reply that may have been read from the provider by then. */
const MAX_TAKEN = 0.75;

const backpressure = defineCheck({
  id: "upstream.backpressure",
  title: "A slow reader slows the provider down",
  covers: ["UPSTREAM-BACKPRESSURE"],
  explains:
    "The provider streams 32 MB as fast as it can; the caller begins to read and then stops for three seconds. The gateway should stop reading too, once its buffers are full. If it reads everything, it keeps it in memory: a few slow callers with long replies crash the process.",
  needs: ["upstream"],
  across: { dialect: DIALECTS },
  schedule: { resource: "large streams" },
  cost: { requests: 2, waitS: 3 },
  async run(t) {
    const plain = await sendPlain(t, "streaming");
    if (!plain.response.admitted) return { plain, taken: 0, received: 0, response: plain.response };
    const marker = t.upstream.marker();
    await t.upstream.setResponses(marker, { "*": { pieces: PIECES, pieceBytes: PIECE_BYTES } });
    const request = { mode: "streaming", intent: "invalid", freshConnection: true } as const;
    const held = t.start(t.upstream.marked(marker, t.dialect, request));
    await Promise.race([held.headed, t.wait(BUSY_MS)]);
    held.pause();
    await t.wait(BUSY_MS, "a gateway that reads ahead of its caller");
    const { requests } = await t.upstream.requests(marker);
    held.abort();
    const taken = Math.max(0, ...requests.map(({ sentEvents }) => sentEvents));
    return { plain, taken, received: requests.length, response: await held.done };
  },
  judge({ plain, taken, received, response }, verdict) {
    assumeReachedProviders(verdict, plain);
    if (received === 0 || response.status !== 200)
      verdict.inconclusive(`the stream did not begin: ${response.summary}`);
    const read = response.exchange.response?.body.receivedBytes ?? 0;
    if (read > (PIECES * PIECE_BYTES) / 4) verdict.inconclusive("this process read more than intended");
    verdict.should("UPSTREAM-BACKPRESSURE", Number((taken / PIECES).toFixed(2)), atMost(MAX_TAKEN), {
      in: response,
      because: `share of 32 MB that the gateway had taken, of which the caller had read ${(read / 1e6).toFixed(1)} MB`,
    });
  },
});

export const STREAMS: readonly Check[] = [streamed, brokenStream, backpressure];
