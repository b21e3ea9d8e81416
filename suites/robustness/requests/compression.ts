import { brotliDecompressSync } from "node:zlib";
import { type Check, defineCheck, type Response } from "../../../src/checks/index.ts";
import { DIALECTS } from "../../../src/dialects/index.ts";
import { aReply, that } from "../../../src/judging/index.ts";
import { AMPLE_TOKENS, LONG_TEXT } from "../../shared/requests/texts.ts";

const CODINGS: Readonly<Record<string, string>> = {
  gzip: "gzip",
  br: "br",
  both: "gzip, deflate, br",
  identity: "identity",
};

const MAX_DECODED_BYTES = 1_048_576;

const NOT_CODED = that("absent or identity", (value) => value === undefined || value === "identity");

const compression = defineCheck({
  id: "robustness.compression",
  title: "Responses decode as labelled, whatever the client accepts",
  covers: ["HTTP-CODING", "HTTP-ACCEPT-ENCODING", "JSON-TEXT"],
  explains:
    "Requests replies, streams, lists, denials and rejections with several values of Accept-Encoding. Each body must decode by its Content-Encoding and have its usual content: no label without coding, no coding without label, nothing coded twice, and nothing coded for a client that accepts only identity (RFC 9110, 12.5.3).",
  across: { dialect: DIALECTS, case: Object.keys(CODINGS) },
  cost: { requests: 5 },
  async run(t) {
    const headers = [["Accept-Encoding", CODINGS[t.case] ?? ""]] as const;
    return {
      reply: await t.send({ headers }),
      long: await t.send({
        headers,
        prompt: LONG_TEXT,
        ...(t.dialect === "messages" ? { maxTokens: AMPLE_TOKENS } : {}),
      }),
      stream: await t.send({ headers, mode: "streaming", intent: "invalid" }),
      list: await t.send({ headers, endpoint: "models" }),
      denied: await t.send({ headers, model: "unknown", intent: "denied" }),
      refused: await t.send({ headers, rawBody: "{", intent: "invalid" }),
    };
  },
  judge(responses, verdict, axes) {
    for (const [what, response] of Object.entries(responses)) {
      const seen = {
        in: response,
        at: "Content-Encoding",
        because: `${what}: ${response.header("content-encoding") ?? "no label"}`,
      };
      if (axes.case === "identity")
        verdict.should("HTTP-ACCEPT-ENCODING", response.header("content-encoding"), NOT_CODED, seen);
      verdict.must("HTTP-CODING", response.exchange.response?.body.decodeError, undefined, seen);
      verdict.must("HTTP-CODING", isStillCompressed(response), false, {
        ...seen,
        because: `${what}: the decoded body is still compressed`,
      });
      if (what !== "stream" && isLabelledJson(response))
        verdict.must("JSON-TEXT", response.json === undefined, false, { in: response, because: `${what} is not JSON` });
    }
    verdict.must("HTTP-CODING", responses.reply.admitted || responses.reply.requested.mode === "streaming", aReply, {
      in: responses.reply,
    });
  },
});

/** Whether a body is still compressed after its Content-Encoding was undone. Brotli has no signature, so decoding is tried. */
function isStillCompressed(response: Response): boolean {
  const { bytes, json } = response;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return true;
  if (json !== undefined || !isLabelledJson(response) || response.header("content-encoding") !== "br") return false;
  try {
    return brotliDecompressSync(bytes, { maxOutputLength: MAX_DECODED_BYTES }).length > 0;
  } catch {
    return false;
  }
}

function isLabelledJson(response: Response): boolean {
  return /json/i.test(response.header("content-type") ?? "") && response.bytes.length > 0;
}

export const COMPRESSION: readonly Check[] = [compression];
