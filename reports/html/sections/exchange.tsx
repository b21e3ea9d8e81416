import { createHash } from "node:crypto";
import { shorten, visible } from "../../clean-text.ts";
import { type Evidence, outcomeOf, type RecordedBody } from "../../evidence/evidence.ts";
import { timedBlocks } from "../../evidence/stream-events.ts";
import { bytes, decimal, plural } from "../format.ts";
import { ScrollText } from "../parts.tsx";

/** Longest part of a body that is shown, UTF-16 units. The run folder has all of it. */
const MAX_BODY_CHARACTERS = 3_000;
const MAX_BLOCKS = 24;
const MAX_BLOCK_CHARACTERS = 400;
const MAX_HEADERS = 40;

interface ExchangeViewProps {
  readonly evidence: Evidence;
  readonly title: string;
  readonly against: Evidence | undefined;
  /** JSON pointers of findings: these header lines are marked. */
  readonly pointers: readonly string[];
}

/** One exchange: request and response, redacted when recorded. Lines that differ from the control request are marked. */
export function ExchangeView({ evidence, title, against, pointers }: ExchangeViewProps) {
  const { request, response, timeline } = evidence;
  const named = new Set(pointers.map((pointer) => pointer.toLowerCase()));
  const stream = response?.headers.some(
    ([name, value]) => name.toLowerCase() === "content-type" && /event-stream/i.test(value),
  );
  return (
    <div class="exchange">
      <h4>{title}</h4>
      <ScrollText kind="listing" label={`${title}: request`}>
        <Line text={`${request.method} ${request.url}`} />
        <Headers headers={request.headers} others={against?.request.headers} named={EMPTY} />
        {request.body === undefined ? null : <Body text={request.body} total={Buffer.byteLength(request.body)} />}
      </ScrollText>
      <ScrollText kind="listing" label={`${title}: response`}>
        <Line text={outcomeOf(evidence)} marked={named.has("status")} strong />
        {response === undefined ? null : (
          <>
            <Headers headers={response.headers} others={undefined} named={named} />
            {stream && response.body.text !== undefined && timeline.sentUs !== undefined ? (
              <Stream body={response.body} sentUs={timeline.sentUs} />
            ) : (
              <Body text={response.body.text ?? ""} base64={response.body.base64} total={response.body.bytes} />
            )}
          </>
        )}
      </ScrollText>
    </div>
  );
}

const EMPTY: ReadonlySet<string> = new Set();

interface HeadersProps {
  readonly headers: readonly (readonly [string, string])[];
  readonly others: readonly (readonly [string, string])[] | undefined;
  readonly named: ReadonlySet<string>;
}

/** Request ids, dates and lengths differ between any two responses and carry no information. */
function Headers({ headers, others, named }: HeadersProps) {
  const known = new Set(others?.map(([name, value]) => `${name.toLowerCase()}: ${value}`));
  return (
    <>
      {headers.slice(0, MAX_HEADERS).map(([name, value], index) => (
        <Line
          key={index}
          name={name}
          text={value}
          marked={
            named.has(name.toLowerCase()) ||
            [...named].some((pointer) => pointer === "action" && /action/i.test(name)) ||
            (others !== undefined && !known.has(`${name.toLowerCase()}: ${value}`))
          }
        />
      ))}
      {headers.length > MAX_HEADERS ? <Line text={`and ${headers.length - MAX_HEADERS} more headers`} /> : null}
    </>
  );
}

interface LineProps {
  readonly name?: string;
  readonly text: string;
  readonly marked?: boolean;
  readonly strong?: boolean;
}

/** A marked line also has a sign in front of it, so that colour is never the only cue. */
function Line({ name, text, marked = false, strong = false }: LineProps) {
  const shown = visible(shorten(text.replace(/[\r\n]+/g, " "), 500));
  const words =
    name === undefined ? (
      shown
    ) : (
      <>
        <span class="hname">{visible(shorten(name, 100))}:</span> {shown}
      </>
    );
  return (
    <span class={`line${strong ? " strong" : ""}${marked ? " differs" : ""}`}>
      {marked ? <span class="sign">› </span> : null}
      {words}
      {"\n"}
    </span>
  );
}

interface BodyProps {
  readonly text: string;
  readonly base64?: string | undefined;
  readonly total: number;
}

function Body({ text, base64, total }: BodyProps) {
  if (base64 !== undefined) {
    return <span class="content">{`\n${bytes(total)} that are not UTF-8, in base64:\n${shorten(base64, 400)}`}</span>;
  }
  if (text === "") return <span class="content quiet">{"\n(no body)"}</span>;
  const pretty = prettyJson(text);
  const cut = pretty.length > MAX_BODY_CHARACTERS;
  return (
    <>
      <span class="content">{`\n${visible(shorten(pretty, MAX_BODY_CHARACTERS))}`}</span>
      {cut ? <span class="quiet">{`\n${bytes(total)} in all, SHA-256 ${sha256(text)}`}</span> : null}
    </>
  );
}

/** Indented if it is JSON of a reasonable size; otherwise verbatim. */
function prettyJson(text: string): string {
  if (text.length > 20_000 || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    // Not JSON after all: show it verbatim.
    return text;
  }
}

function Stream({ body, sentUs }: { readonly body: RecordedBody; readonly sentUs: number }) {
  const blocks = timedBlocks(body, sentUs);
  const head = blocks.length > MAX_BLOCKS ? blocks.slice(0, MAX_BLOCKS - 6) : blocks;
  const tail = blocks.length > MAX_BLOCKS ? blocks.slice(-6) : [];
  const line = ({ text, atMs }: { text: string; atMs: number | undefined }, index: number) => (
    <span key={index} class="event">
      <span class="offset">{atMs === undefined ? "" : `+${decimal(atMs, 1)} ms`}</span>
      {visible(shorten(text, MAX_BLOCK_CHARACTERS))}
      {"\n"}
    </span>
  );
  return (
    <span class="content">
      {"\n"}
      {head.map(line)}
      {tail.length === 0 ? null : (
        <span class="quiet">{`… ${plural(blocks.length - head.length - tail.length, "event")} omitted …\n`}</span>
      )}
      {tail.map(line)}
      <span class="quiet">{`${plural(blocks.length, "event")}, ${bytes(body.bytes)}`}</span>
    </span>
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
