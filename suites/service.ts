import { type Check, defineCheck, type RequestSpec, type Response } from "../src/checks/index.ts";
import { DIALECTS, type Dialect, imagePart, MODES, toolsOf } from "../src/dialects/index.ts";
import { aReply, filledString, success, that } from "../src/judging/index.ts";
import { dialectOfEndpoint, ENDPOINTS, endpointOf } from "./auth/endpoints.ts";
import { isServed } from "./limits/denials.ts";
import { dialectOfCase } from "./shared/cases/dialect-of-case.ts";
import { leftWithoutText } from "./shared/judge/judge-reply.ts";
import { assumeControl, sendControl } from "./shared/requests/control-request.ts";
import { noise } from "./shared/requests/images.ts";
import { STRUCTURED_PROMPT, structuredFields } from "./shared/requests/structured-output.ts";

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

const endpointsExist = defineCheck({
  id: "service.endpoints",
  title: "The three endpoints exist under the base address",
  covers: ["BASE-1", "VER-1"],
  explains:
    "The base address ends in /v1 and everything is relative to it. A plain 404 or 405 for one of the three paths means that the path is missing there, or that the base address in the target file is wrong.",
  dialect: dialectOfEndpoint,
  across: { case: ENDPOINTS },
  cost: { requests: 1 },
  async run(t) {
    return { response: await t.send({ endpoint: endpointOf(t) }) };
  },
  judge({ response }, verdict) {
    const { status = 500 } = response;
    if (status >= 500) return verdict.inconclusive(response.summary);
    const there = that(
      "anything but a redirect, 404 or 405 for the path",
      () => status !== 405 && (status !== 404 || response.reason === "model_not_found") && !isRedirect(status),
    );
    verdict.must("BASE-1", response.status, there, { in: response, at: "status" });
    verdict.must("VER-1", response.status, there, { in: response, at: "status" });
  },
});

const generatesReplies = defineCheck({
  id: "service.replies",
  title: "A model and a conversation give a reply, streaming or non-streaming",
  covers: ["BASE-3", "BASE-2", "MSG-14"],
  explains:
    "Sends the plainest request of each dialect, streaming and non-streaming, several times. A reply must have text. On /messages streaming is not documented: a rejection there is recorded.",
  across: { dialect: DIALECTS, mode: MODES },
  cost: { requests: 5 },
  async run(t) {
    const control = await sendControl(t);
    const more: Response[] = [];
    for (let count = 0; count < 4; count++) more.push(await t.send({ freshConnection: count === 0 }));
    return { control, more };
  },
  judge({ control, more }, verdict, { dialect, mode }) {
    if (dialect === "messages" && mode === "streaming") {
      verdict.observe("MSG-14", control.control.summary, { in: control.control });
      assumeControl(verdict, control);
    }
    for (const response of [control.control, ...more]) {
      const seen = { in: response };
      if (!verdict.must("BASE-3", response.status, success, { ...seen, at: "status" })) continue;
      if (mode === "non-streaming") verdict.must("BASE-2", response.admitted, aReply, seen);
      if (!response.streamed) {
        if (!leftWithoutText(verdict, response))
          verdict.must("BASE-3", response.reply.text, filledString, { ...seen, at: response.reply.textPointer });
      } else if (response.stream.text === undefined)
        verdict.must("BASE-3", response.bytes.length === 0, false, { ...seen, because: "an empty stream" });
      else
        verdict.must("BASE-3", response.stream.outputs === 0, false, { ...seen, because: "a stream without output" });
    }
  },
});

const UNKNOWN_PATHS: Readonly<Record<string, RequestSpec>> = {
  get: { endpoint: "models", path: "/gauntlet/no-such-path" },
  post: { path: "/gauntlet/no-such-path" },
  "post-below-chat": { path: "/chat/completions/no-such-path" },
};

const unknownPath = defineCheck({
  id: "service.unknown-path",
  title: "An unknown path is a 404 that does not blame the model",
  covers: ["BASE-4"],
  explains:
    "An invented path should get a 404 that is not labelled model_not_found: the caller has to check the address, not the model.",
  across: { case: Object.keys(UNKNOWN_PATHS) },
  cost: { requests: 1 },
  async run(t) {
    return { response: await t.send({ ...UNKNOWN_PATHS[t.case], intent: "invalid" }) };
  },
  judge({ response }, verdict) {
    verdict.should("BASE-4", response.status, 404, { in: response, at: "status" });
    verdict.should("BASE-4", response.reason === "model_not_found", false, { in: response, at: "reason" });
  },
});

const OUTSIDE: Readonly<Record<string, RequestSpec>> = {
  "get-on-chat": { endpoint: "chat", method: "GET" },
  "post-on-models": { endpoint: "chat", path: "/models" },
  "delete-on-messages": { endpoint: "messages", method: "DELETE" },
  "head-on-models": { endpoint: "models", method: "HEAD" },
  "options-on-chat": { endpoint: "chat", method: "OPTIONS" },
  "trailing-slash": { endpoint: "chat", path: "/chat/completions/" },
  "query-string": { endpoint: "messages", query: "?beta=true" },
  "unknown-header": { endpoint: "chat", headers: [["X-Gauntlet-Unknown", "1"]] },
};

const outsideTheDocument = defineCheck({
  id: "service.outside",
  title: "Methods, paths and headers that the specification does not mention",
  covers: ["BASE-5"],
  explains: "What the specification does not mention is recorded, not judged.",
  dialect: dialectOfCase(OUTSIDE),
  across: { case: Object.keys(OUTSIDE) },
  cost: { requests: 1 },
  async run(t) {
    return { response: await t.send({ ...OUTSIDE[t.case], intent: "invalid" }) };
  },
  judge({ response }, verdict) {
    verdict.observe("BASE-5", response.summary, { in: response });
  },
});

const versionHeader = defineCheck({
  id: "service.version-header",
  title: "The dated version header versions the messages dialect",
  covers: ["MSG-10", "VER-2", "MSG-11", "VER-3"],
  explains:
    "With the target file's header the request must be served, and so must a stream if it is served without the header. What happens without it, and with a future date, is recorded: the specification does not say whether it is mandatory.",
  dialect: "messages",
  cost: { requests: 5 },
  async run(t) {
    const { version } = t.target.headers;
    return {
      dated: await t.send({ endpoint: "messages" }),
      datedStream: await t.send({ endpoint: "messages", mode: "streaming" }),
      bareStream: await t.send({ endpoint: "messages", mode: "streaming", without: [version], intent: "invalid" }),
      without: await t.send({ endpoint: "messages", without: [version], intent: "invalid" }),
      future: await t.send({ endpoint: "messages", headers: [[version, "2199-01-01"]], intent: "invalid" }),
    };
  },
  judge({ dated, datedStream, bareStream, without, future }, verdict) {
    // Streams of this dialect may be refused; then the header is not the reason.
    const served = isServed(bareStream) ? [dated, datedStream] : [dated];
    for (const reply of served) {
      verdict.must("MSG-10", reply.status, success, { in: reply, at: "status" });
      verdict.must("VER-2", reply.status, success, { in: reply, at: "status" });
    }
    verdict.observe("MSG-11", without.summary, { in: without });
    verdict.observe("VER-3", future.summary, { in: future });
  },
});

const toolsDependOnModel = defineCheck({
  id: "service.tools",
  title: "A tool request to a model with declared tool support",
  covers: ["CAP-1"],
  explains: "Tool support depends on the model. The response is recorded; a rejection is not a failure.",
  needs: ["model.tools"],
  across: { dialect: DIALECTS },
  cost: { requests: 1 },
  async run(t) {
    const tools = toolsOf(t.dialect, { get_weather: "Weather of a city" });
    return {
      response: await t.send({
        model: "tools",
        prompt: "What is the weather in Paris?",
        fields: { tools },
        intent: "invalid",
      }),
    };
  },
  judge({ response }, verdict) {
    const calls = response.reply.toolCalls.map(({ name }) => name);
    verdict.observe("CAP-1", { response: response.summary, calls }, { in: response });
  },
});

const CAPABILITIES = {
  images: (dialect: Dialect) => [{ type: "text", text: "What is this?" }, imagePart(dialect, noise(64))],
  structured: () => STRUCTURED_PROMPT,
} as const;

const moreDependsOnModel = defineCheck({
  id: "service.capabilities",
  title: "Images and structured outputs with a model that declares support",
  covers: ["CAP-1"],
  explains:
    "Images and structured outputs depend on the model. Sent only if the target file names a model for them (`models.images`, `models.structured`). The response is recorded; a rejection is not a failure.",
  across: { dialect: DIALECTS, case: Object.keys(CAPABILITIES) },
  cost: { requests: 1 },
  async run(t) {
    const role = t.case as keyof typeof CAPABILITIES;
    if (!(await t.hasModel(role))) return { response: null };
    const content = CAPABILITIES[role](t.dialect);
    const format = role === "structured" ? structuredFields(t.dialect) : {};
    const fields = { ...format, messages: [{ role: "user", content }] };
    return { response: await t.send({ model: role, fields, intent: "invalid" }) };
  },
  judge({ response }, verdict, axes) {
    if (response === null)
      return verdict.notApplicable(`the target names no model for this dialect at models.${axes.case}`);
    verdict.observe("CAP-1", { response: response.summary }, { in: response });
  },
});

export const SERVICE: readonly Check[] = [
  endpointsExist,
  generatesReplies,
  unknownPath,
  outsideTheDocument,
  versionHeader,
  toolsDependOnModel,
  moreDependsOnModel,
];
