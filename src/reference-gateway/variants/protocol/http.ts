import { type Variant, variant } from "../../change.ts";
import { CHUNKED, deliverRaw, PLAIN } from "../../delivery/deliver-raw.ts";
import { always, inference, remembered, type When, withBody } from "../../edits/when.ts";
import { type Apply, onParcel, wrap } from "../../edits/wrap.ts";
import type { Header, Parcel } from "../../pipeline/response.ts";

const headers = (change: (headers: readonly Header[]) => readonly Header[]): Apply =>
  onParcel(always, (parcel) => ({ ...parcel, headers: change(parcel.headers) }));

/** Optional white space around values (RFC 9112, 5); the length stays unpadded, because some parsers are strict there. */
const padded = (parcel: Parcel): Parcel => ({
  ...parcel,
  headers: parcel.headers.map(([name, value]) => [name, name === "Content-Length" ? value : `  ${value} \t`]),
});

/** Delays every response. */
const late = (byMs: (call: Parameters<When>[0]) => number): Apply =>
  wrap("seal", (next) => (response, call) => {
    const parcel = next(response, call);
    return { ...parcel, afterMs: parcel.afterMs + byMs(call) };
  });

/** HTTP settings that do not affect the content. */
export const HTTP_VARIANTS: readonly Variant[] = [
  variant(
    "http.lower-case-headers",
    "Header names are in lower case.",
    headers((all) => all.map(([name, value]) => [name.toLowerCase(), value])),
  ),
  variant(
    "http.upper-case-headers",
    "Header names are in upper case.",
    headers((all) => all.map(([name, value]) => [name.toUpperCase(), value])),
  ),
  variant(
    "http.padded-header-values",
    "Header values have white space around them.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      if (!withBody(call)) next(parcel, call, delivery);
      else deliverRaw(padded(parcel), call, delivery, parcel.body.kind === "steps" ? CHUNKED : PLAIN);
    }),
  ),
  variant(
    "http.headers-reversed",
    "Headers are in another order.",
    headers((all) => all.toReversed()),
  ),
  variant(
    "http.vendor-headers",
    "Responses have headers from servers and proxies in front.",
    headers((all) => [
      ...all,
      ["Server", "edge"],
      ["Via", "1.1 cache-ams"],
      ["X-Served-By", "cache-ams-3"],
      ["Strict-Transport-Security", "max-age=31536000"],
      ["Set-Cookie", "a=1; Path=/"],
      ["Set-Cookie", "b=2; Path=/"],
      ["Alt-Svc", 'h3=":443"'],
      ["Timing-Allow-Origin", "*"],
    ]),
  ),
  variant(
    "http.many-headers",
    "Responses have sixty extra headers.",
    headers((all) => [
      ...all,
      ...Array.from({ length: 60 }, (_none, at): Header => [`X-Extra-${at}`, "value ".repeat(12).trim()]),
    ]),
  ),
  variant(
    "http.no-optional-headers",
    "Responses have only the required headers.",
    headers((all) =>
      all.filter(([name]) => !/^(x-ratelimit-.*|x-request-id|request-id|vary|cache-control)$/i.test(name)),
    ),
  ),
  variant(
    "http.early-hints",
    "103 Early Hints precedes the response.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      delivery.response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
      next(parcel, call, delivery);
    }),
  ),
  variant(
    "http.processing",
    "102 Processing precedes the response.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      if (inference(call)) delivery.response.writeProcessing();
      next(parcel, call, delivery);
    }),
  ),
  variant(
    "http.reason-phrases",
    "Status lines have custom reason phrases.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      delivery.response.statusMessage = parcel.status < 300 ? "Fine" : "Sorry";
      next(parcel, call, delivery);
    }),
  ),
  variant(
    "http.slow-first-byte",
    "The first byte of every response takes 400 ms.",
    late(() => 400),
  ),
  variant(
    "http.slow-denials",
    "Errors take half a second.",
    late((call) => (call.refused === undefined ? 0 : 500)),
  ),
  variant(
    "http.jittery",
    "Responses take up to 150 ms, varying each time.",
    late((call) => (call.number * 37) % 150),
  ),
  variant(
    "http.noisy-latency",
    "Most responses are fast, but some take up to a third of a second.",
    late((call) => ((call.number * 37) % 101) ** 2 / 30),
  ),
  variant(
    "http.one-slow-second",
    "In the 40th second after the first request, every response takes a second longer.",
    late(
      (() => {
        const begun = remembered(() => performance.now());
        return (call) => (Math.floor((performance.now() - begun(call)) / 1_000) === 39 ? 1_000 : 0);
      })(),
    ),
  ),
  variant(
    "http.slow-list",
    "The model list takes a second.",
    late((call) => (call.endpoint === "models" ? 1_000 : 0)),
  ),
];
