import { type Behaviour, CHUNKED, chunk, denial, EVENTS_TYPE, head, reply, whole } from "../behaviour.ts";

const deep = (open: string, close: string, depth = 1_000_000) => open.repeat(depth) + close.repeat(depth);
const says = (body: string | Buffer, ...fields: string[]): Pick<Behaviour, "respond"> => ({
  respond: (socket) => void socket.write(whole(body, "200 OK", ...fields)),
});
const streams = (body: string | Buffer): Pick<Behaviour, "respond"> => ({
  respond: (socket) =>
    void socket.write(
      Buffer.concat([Buffer.from(head("200 OK", EVENTS_TYPE, CHUNKED)), chunk(body), Buffer.from("0\r\n\r\n")]),
    ),
});

/** Content that no JSON library would write. */
export const CONTENTS: readonly Behaviour[] = [
  { name: "json.a-million-lists-deep", ...says(deep("[", "]")) },
  { name: "json.a-million-objects-deep", ...says(`${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_000)}`) },
  { name: "json.deep-inside-a-reply", ...says(reply().replace('"hello"', deep("[", "]", 100_000))) },
  { name: "json.deep-and-cut", ...says("[".repeat(2_000_000)) },
  { name: "json.two-million-lists", ...says(`[${"[],".repeat(2_000_000)}[]]`) },
  {
    name: "json.half-a-million-choices",
    ...says(reply().replace(/"choices":\[/, `"choices":[${"{},".repeat(500_000)}`)),
  },
  {
    name: "json.numbers-beyond-range",
    harmless: true,
    ...says(
      reply()
        .replace(/"(\w+_tokens)":\d+/g, '"$1":1e999')
        .replace('"index":0', '"index":-1e-999'),
    ),
  },
  {
    name: "json.counts-that-are-fractions",
    harmless: true,
    ...says(reply().replace(/"(\w+_tokens)":\d+/g, '"$1":1.5')),
  },
  { name: "json.counts-below-zero", harmless: true, ...says(reply().replace(/"(\w+_tokens)":\d+/g, '"$1":-7')) },
  {
    name: "json.counts-of-thirty-digits",
    harmless: true,
    ...says(reply().replace(/"(\w+_tokens)":\d+/g, '"$1":123456789012345678901234567890')),
  },
  {
    name: "json.duplicate-names",
    harmless: true,
    ...says(reply().replace("{", '{"choices":1,"content":null,"usage":"x",')),
  },
  {
    name: "json.proto",
    harmless: true,
    ...says(
      reply().replace(
        "{",
        '{"__proto__":{"error":{"message":"x"},"admin":true},"constructor":{"prototype":{"data":[]}},"toString":1,"hasOwnProperty":2,',
      ),
    ),
  },
  { name: "json.null", ...says("null") },
  {
    name: "json.every-field-of-another-type",
    ...says('{"choices":{"0":[]},"content":7,"usage":[null],"error":false,"data":"x","id":{},"type":[]}'),
  },
  { name: "text.nul", ...says("\0".repeat(100_000)) },
  {
    name: "text.invalid-utf8",
    ...says(
      Buffer.concat([
        Buffer.from('{"a":"'),
        Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
        Buffer.from('"}'),
      ]),
    ),
  },
  { name: "text.lone-surrogates", harmless: true, ...says(reply().replaceAll("hello", "\\ud800\\udfff\\udc00")) },
  { name: "text.controls", harmless: true, ...says(reply().replaceAll("hello", "\\u001b[31m\\u0007\\u009b2J\\u202e")) },
  {
    name: "text.brackets-and-blanks",
    ...says(`{"a":1}${"]".repeat(300_000)}x${" ".repeat(300_000)}x${"\t,".repeat(300_000)}x`),
  },
  {
    name: "events.blanks-and-colons",
    ...streams(
      `data: ${" ".repeat(300_000)}x\n\n:${":".repeat(300_000)}\n\nevent${" ".repeat(300_000)}:x\n\ndata: {"a":"${" ,]".repeat(100_000)}"}x\n\n`,
    ),
  },
  { name: "text.empty", ...says("") },
  {
    name: "text.html",
    ...says("<!doctype html><title>login</title><script>alert(1)</script>", "content-type: text/html"),
  },
  {
    name: "events.nul-and-odd-fields",
    ...streams("id: \0\nretry: 1e999\nevent: \u001b[2J\ndata: {\ndata: \0\n\n\r\r\r:\n:\ndata\ndata\n\n"),
  },
  { name: "events.deep-data", ...streams(`data: ${deep("[", "]", 300_000)}\n\ndata: [DONE]\n\n`) },
  { name: "events.end-only", ...streams("data: [DONE]\n\n".repeat(10_000)) },
  {
    name: "events.a-hundred-thousand-finish-reasons",
    ...streams(`data: {"choices":[${'{"finish_reason":"stop"},'.repeat(200_000)}{}]}\n\n`),
  },
  {
    name: "events.usage-beyond-range",
    ...streams(
      'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"usage":{"completion_tokens":1e999,"output_tokens":0.5}}\n\ndata: [DONE]\n\n',
    ),
  },
  {
    name: "key.repeated-eight-megabytes",
    respond: (socket, { key }) =>
      void socket.write(whole(`{"text":"${`${key} `.repeat(Math.floor(7_000_000 / (key.length + 1)))}"}`)),
  },
  {
    name: "key.in-every-header",
    respond: (socket, { key }) =>
      void socket.write(
        whole(
          reply({ note: key }),
          "200 OK",
          ...Array.from({ length: 300 }, (_, n) => `x-${key}-${n}: ${Buffer.from(`Bearer ${key}`).toString("base64")}`),
        ),
      ),
  },
  {
    name: "key.as-reason",
    respond: (socket, { key }) => void socket.write(denial("429 No", key, `retry-after: ${key}`, `server: ${key}`)),
  },
  {
    name: "key.as-event",
    respond: (socket, { key }) =>
      void socket.write(
        Buffer.concat([
          Buffer.from(head("200 OK", EVENTS_TYPE)),
          Buffer.from(`event: ${key}\nid: ${key}\ndata: {"error":{"message":"${key}","type":"${key}"}}\n\n`),
        ]),
        () => socket.end(),
      ),
  },
  {
    name: "models.id-of-seven-megabytes",
    respond: (socket) => void socket.write(whole(`{"data":[{"id":"${"m".repeat(7_000_000)}"}]}`)),
  },
  {
    name: "models.half-a-million",
    respond: (socket) => void socket.write(whole(`{"data":[${'{"id":"m"},'.repeat(500_000)}{"id":"\u001b[2J"}]}`)),
  },
];
