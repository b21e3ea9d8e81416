import { isObject } from "../../../core/index.ts";
import { type Variant, variant } from "../../change.ts";
import { parcelHeader } from "../../edits/replies/response-edits.ts";
import { always, type When } from "../../edits/when.ts";
import { type Apply, onParcel, wrap } from "../../edits/wrap.ts";
import { headerOf } from "../../pipeline/response.ts";

/** Non-streaming bodies only: events of a stream stay on one line. */
const text = (change: (text: string, value: unknown) => string): Apply =>
  wrap(
    "json",
    (next) => (value, call) =>
      call.wantsStream && call.refused === undefined ? next(value, call) : change(next(value, call), value),
  );

const everywhere = (change: (text: string) => string): Apply =>
  wrap("json", (next) => (value, call) => change(next(value, call)));

const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

const typed = (contentType: string, when: When = always): Apply =>
  onParcel(when, (parcel) =>
    headerOf(parcel.headers, "Content-Type")?.startsWith("application/json") === true
      ? parcelHeader("Content-Type", contentType)(parcel)
      : parcel,
  );

/** The same value with the members of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

/** The same value with an extra member in every object that is not the caller's own map. */
function extended(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((item) => extended(item, depth + 1));
  if (!isObject(value) || depth > 4) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    name === "input" ? member : extended(member, depth + 1),
  ]);
  return { ...Object.fromEntries(members), x_extra: { nested: [1, null, "two"] } };
}

/** Other ways to write the same JSON. */
export const JSON_VARIANTS: readonly Variant[] = [
  variant(
    "json.problem-type",
    "Errors have content type application/problem+json.",
    typed("application/problem+json", (call) => call.refused !== undefined),
  ),
  variant(
    "json.pretty",
    "JSON bodies are indented.",
    text((_text, value) => JSON.stringify(value, null, 2)),
  ),
  variant(
    "json.tabs-and-crlf",
    "JSON bodies are indented with tabs and have CRLF line endings.",
    text((_text, value) => JSON.stringify(value, null, "\t").replaceAll("\n", "\r\n")),
  ),
  variant(
    "json.white-space-around",
    "JSON bodies have white space before and after them.",
    text((own) => `\n  ${own}\n\n`),
  ),
  variant(
    "json.ascii",
    "Non-ASCII characters are escaped.",
    everywhere((own) => own.replace(/[\u0080-\uffff]/g, escaped)),
  ),
  variant(
    "json.ascii-in-capitals",
    "Non-ASCII characters are escaped with upper-case hex digits.",
    everywhere((own) => own.replace(/[\u0080-\uffff]/g, (letter) => `\\u${escaped(letter).slice(2).toUpperCase()}`)),
  ),
  variant(
    "json.slashes-escaped",
    "Slashes and angle brackets are escaped.",
    everywhere((own) => own.replaceAll("/", "\\/").replace(/[<>&]/g, escaped)),
  ),
  variant(
    "json.reordered",
    "Object members are in another order.",
    text((_text, value) => JSON.stringify(reversed(value))),
  ),
  variant(
    "json.extra-fields",
    "Every object has an extra member.",
    wrap("json", (next) => (value, call) => next(extended(value), call)),
  ),
  variant(
    "json.numbers-with-point",
    "Counts are written with a decimal point.",
    text((own) => own.replace(/("\w*tokens":\d+)(?=[,}])/g, "$1.0")),
  ),
  variant("json.type-without-charset", "The content type has no charset.", typed("application/json")),
  variant(
    "json.type-in-capitals",
    "The content type is in upper case, with quotes.",
    typed('Application/JSON; Charset="UTF-8"'),
    ["COMPAT-CONTENT-TYPE"],
  ),
];
