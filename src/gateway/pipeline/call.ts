import type { IncomingHttpHeaders } from "node:http";
import { member } from "../../core/index.ts";
import type { ApiKey } from "../accounts/api-key.ts";
import type { Lease } from "../limits/slots.ts";
import type { Model } from "../providers/model-table.ts";
import type { Plan } from "../providers/plan.ts";
import type { Services } from "../services.ts";
import type { Ask } from "./ask.ts";
import type { Behaviour } from "./behaviour.ts";
import type { Refusal } from "./refusal.ts";

export type Endpoint = "chat" | "messages" | "models" | "other";

/** The connection that a request came on. */
export interface Connection {
  /** 1 for the first connection of the gateway. */
  readonly id: number;
  /** Requests that came on it before this one. */
  readonly served: number;
}

/** What can be done with a request, going by its path and method alone. */
export type Purpose = "serve" | "options" | "unknownPath" | "wrongMethod";

/** A request as it was received. */
export interface Arrival {
  readonly endpoint: Endpoint;
  readonly purpose: Purpose;
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[];
  readonly connection: Connection;
  /** Monotonic microseconds at which the head of the request was there. */
  readonly arrivedUs: number;
  /** Wall clock at that moment, Unix epoch milliseconds. */
  readonly arrivedMs: number;
}

/** One request on its way through the gateway. What is found out about it is filled in step by step. */
export class Call {
  readonly id: string;
  /** 1 for the first request of the gateway. */
  readonly number: number;
  readonly arrival: Arrival;
  readonly services: Services;
  /** Fixed at arrival: a defect that is switched on later does not touch requests that run already. */
  readonly behaviour: Behaviour;
  /** The body, parsed; `undefined` when it could not be. */
  parsed: unknown;
  /** Why the body could not be read. */
  bodyFault: Refusal | undefined;
  /** The body as text; empty when it is none. */
  bodyText = "";
  key: ApiKey | undefined;
  ask: Ask | undefined;
  model: Model | undefined;
  plan: Plan | undefined;
  lease: Lease | undefined;
  /** Why the request was refused, once it was. */
  refused: Refusal | undefined;
  /** Charge that is held back while the request runs, micro-dollars. */
  reservedMicroUsd = 0;

  constructor(id: string, number: number, arrival: Arrival, services: Services, behaviour: Behaviour) {
    this.id = id;
    this.number = number;
    this.arrival = arrival;
    this.services = services;
    this.behaviour = behaviour;
  }

  get endpoint(): Endpoint {
    return this.arrival.endpoint;
  }

  /** The client asks for a stream, as far as the body could be read. */
  get wantsStream(): boolean {
    return member(this.parsed, "stream") === true;
  }

  /** The dialect that errors are written in. */
  get dialect(): "chat" | "messages" {
    return this.arrival.endpoint === "messages" ? "messages" : "chat";
  }
}
