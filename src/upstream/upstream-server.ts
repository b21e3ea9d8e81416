import { createServer, type Server, type Socket } from "node:net";
import { member } from "../core/index.ts";
import { type Dialect, errorBody, type ResponseParams } from "./encode.ts";
import { type Link, play, sinceStartMs } from "./play.ts";
import { json, type PreparedResponse, prepare } from "./prepare.ts";
import { credentialsIn, RequestLog } from "./request-log.ts";
import { BadRequest, type RawRequest, RequestReader } from "./request-reader.ts";
import {
  type Behaviour,
  type Disturbance,
  type MarkedScript,
  type Scenario,
  scenarioSchema,
  Turns,
} from "./scenario.ts";

const AT_ONCE: Behaviour = behaviourAtOnce();

/** Providers on bare sockets: HTTP/1.1 over TCP, one request per connection at a time. */
export class UpstreamServer {
  readonly log = new RequestLog();
  readonly server: Server;
  readonly #sockets = new Set<Socket>();
  #scenario: Scenario;
  #turns: Turns;
  #connections = 0;
  #disturbance: { readonly changed: Partial<Behaviour>; readonly untilMs: number } | undefined;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#turns = new Turns(scenario);
    this.server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  get scenario(): Scenario {
    return this.#scenario;
  }

  /** Further requests follow another scenario, whose turns start from the beginning. */
  play(scenario: Scenario): void {
    this.#scenario = scenario;
    this.#turns = new Turns(scenario);
  }

  /** Every provider responds to further requests with these changes. @param disturbance `undefined` ends it. */
  disturb(disturbance: Disturbance | undefined): void {
    if (disturbance === undefined) {
      this.#disturbance = undefined;
      return;
    }
    const { forS = Number.POSITIVE_INFINITY, ...changed } = disturbance;
    this.#disturbance = { changed: definedOf(changed), untilMs: sinceStartMs() + forS * 1_000 };
  }

  #disturbed(behaviour: Behaviour): Behaviour {
    if (this.#disturbance === undefined || sinceStartMs() >= this.#disturbance.untilMs) return behaviour;
    return { ...behaviour, ...this.#disturbance.changed };
  }

  /** Closes every connection, even busy ones. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #serve(socket: Socket): void {
    const connection = ++this.#connections;
    const closed = new AbortController();
    const link: Link = { socket, closed: closed.signal };
    const waiting: RawRequest[] = [];
    let earlier = 0;
    let isBusy = false;
    this.#sockets.add(socket);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      closed.abort();
    });
    // A gateway that aborts a request resets the connection: the log records it.
    socket.on("error", () => undefined);
    const reader = new RequestReader(() => socket.write("HTTP/1.1 100 Continue\r\n\r\n"));
    const work = async () => {
      isBusy = true;
      for (let raw = waiting.shift(); raw !== undefined; raw = waiting.shift()) {
        const keepsOpen = await this.#respond(link, raw, { connection, earlier: earlier++ });
        if (!keepsOpen) break;
        if (!raw.keepAlive) socket.end();
      }
      isBusy = false;
    };
    const take = (bytes: Buffer) => {
      try {
        for (const raw of reader.push(bytes)) waiting.push(raw);
      } catch (error) {
        if (!(error instanceof BadRequest)) throw error;
        // The rest of its data is read and discarded, so that the client can read the response.
        socket.off("data", take).resume();
        refuse(socket, error);
      }
      if (!isBusy && waiting.length > 0) void work();
    };
    socket.on("data", take);
  }

  #respond(link: Link, raw: RawRequest, on: { connection: number; earlier: number }): Promise<boolean> {
    const receivedMs = sinceStartMs();
    const [, provider = "", endpoint = ""] = PATH.exec(raw.path) ?? [];
    const logged = this.log.add(raw, { provider, ...on, receivedMs });
    const { response, behaviour } = this.#responseTo(raw, { provider, endpoint, marker: logged.marker });
    return play(link, response, behaviour, logged);
  }

  /** Sets the responses to further requests with a marker. */
  setScript(marker: string, script: MarkedScript): void {
    this.#turns.setScript(marker, script);
  }

  #responseTo(raw: RawRequest, { provider, endpoint, marker }: Place): PlannedResponse {
    if (!Object.hasOwn(this.#scenario.providers, provider)) return refusal(404, "chat", `no such path: ${raw.path}`);
    if (endpoint === "models") return { response: json(200, this.#modelList(provider)), behaviour: AT_ONCE };
    const dialect: Dialect = endpoint === "messages" ? "messages" : "chat";
    if (raw.method !== "POST") return refusal(405, dialect, `${raw.method} is not allowed here`);
    const requested = responseParamsIn(raw.body, dialect);
    if (requested === undefined) return refusal(400, dialect, "the body is no JSON object that names a model");
    const behaviour = this.#turns.next(provider, requested.model, marker);
    if (behaviour === undefined) return refusal(404, dialect, `no such model: ${requested.model}`);
    const shown = withCredential(this.#disturbed(behaviour), raw);
    return { response: prepare(shown, requested), behaviour: shown };
  }

  #modelList(provider: string) {
    return { object: "list", data: this.#turns.modelsOf(provider).map((id) => ({ id, object: "model" })) };
  }
}

/** Responds to bytes that are not a request, and closes. */
function refuse(socket: Socket, { status, message }: BadRequest): void {
  const { head, parts } = json(status, errorBody({ status, message }, "chat"));
  socket.write(`${head}connection: close\r\n\r\n`);
  for (const { bytes } of parts) socket.write(bytes);
  socket.end();
}

function definedOf(changed: Omit<Disturbance, "forS">): Partial<Behaviour> {
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
}

interface Place {
  readonly provider: string;
  readonly endpoint: string;
  readonly marker: string | undefined;
}

/** Providers quote a credential when they reject it. */
function withCredential(behaviour: Behaviour, raw: RawRequest): Behaviour {
  const { error } = behaviour;
  if (error === undefined || !error.message.includes("{credential}")) return behaviour;
  const [credential = ""] = credentialsIn(raw);
  return { ...behaviour, error: { ...error, message: error.message.replaceAll("{credential}", credential) } };
}

interface PlannedResponse {
  readonly response: PreparedResponse;
  readonly behaviour: Behaviour;
}

/** `/primary/v1/chat/completions`: the provider, and the requested resource. */
const PATH = /^\/([a-z0-9-]+)(?:\/[\w.-]+)*?\/(chat\/completions|messages|models)(?:\?|$)/;

function refusal(status: number, dialect: Dialect, message: string): PlannedResponse {
  return { response: json(status, errorBody({ status, message }, dialect)), behaviour: AT_ONCE };
}

function responseParamsIn(body: Buffer, dialect: Dialect): ResponseParams | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
  const model = member(parsed, "model");
  if (typeof model !== "string") return undefined;
  const includeUsage = member(member(parsed, "stream_options"), "include_usage") === true;
  return { dialect, model, stream: member(parsed, "stream") === true, includeUsage };
}

function behaviourAtOnce(): Behaviour {
  const served = new Turns(scenarioSchema.parse({})).next("upstream", "any");
  if (served === undefined) throw new Error("the scenario without settings serves every model");
  return served;
}
