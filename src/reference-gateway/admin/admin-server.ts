import { createHash, timingSafeEqual } from "node:crypto";
import { type FastifyInstance, fastify } from "fastify";
import { messageOf, UsageError } from "../../core/index.ts";
import type { BehaviourSwitch } from "../behaviour-switch.ts";
import { ledgerRoutes } from "../ledger/ledger-routes.ts";
import { MUTATIONS } from "../mutations/mutation-table.ts";
import type { Services } from "../services.ts";
import { VARIANTS } from "../variants/variant-table.ts";
import { accountRoutes } from "./account-routes.ts";
import { AdminError, Fields } from "./fields.ts";

interface AdminSettings {
  readonly services: Services;
  readonly behaviours: BehaviourSwitch;
  readonly token: string;
}

interface OfAccount {
  Querystring: { account?: string };
}

/** The operator's side of a gateway: JSON over HTTP on loopback, every request with the admin token as bearer. */
export function adminServer({ services, behaviours, token }: AdminSettings): FastifyInstance {
  const { clock, history, traffic, saver, shared } = services;
  const app = fastify({ logger: false, forceCloseConnections: true });
  const expected = digest(`Bearer ${token}`);

  app.addHook("onRequest", async (request) => {
    if (timingSafeEqual(digest(request.headers.authorization ?? ""), expected)) return;
    throw new AdminError(401, "the admin token is expected as bearer");
  });
  if (saver !== undefined) {
    app.addHook("onResponse", async ({ method }) => {
      if (method !== "GET") saver.markChanged();
    });
  }
  if (shared !== undefined) {
    // Read the other replicas' changes before handling a request, and publish our own before responding.
    app.addHook("preHandler", async () => shared.run(() => undefined));
    app.addHook("onSend", async ({ method }) => {
      if (method !== "GET") shared.publish();
    });
  }
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof AdminError ? error.statusCode : error instanceof UsageError ? 400 : statusOf(error);
    return reply.code(status).send({ error: messageOf(error) });
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "unknown path" }));

  accountRoutes(app, services);

  ledgerRoutes(app, services, () => behaviours.current);
  app.get<OfAccount>("/history", (request) => history.rows(request.query.account));
  app.get<OfAccount>("/traffic", (request) => ({
    counts: traffic.counts(request.query.account),
    arrivals: traffic.arrivals(request.query.account),
  }));
  app.delete("/traffic", (_request, reply) => {
    traffic.clear();
    return reply.code(204).send();
  });

  const clockView = () => ({
    nowMs: clock.nowMs(),
    wallShiftMs: clock.wallShiftMs,
    monotonicUs: clock.monotonicUs(),
    skippedMs: clock.monotonicShiftMs,
  });
  app.get("/clock", clockView);
  app.post("/clock", (request) => {
    const fields = new Fields(request.body, ["shiftWallMs", "skipMs"]);
    const [shiftWallMs, skipMs] = [fields.whole("shiftWallMs") ?? 0, fields.whole("skipMs") ?? 0];
    clock.shiftWall(shiftWallMs);
    clock.skipMonotonic(skipMs);
    shared?.add({ kind: "clock", shiftWallMs, skipMs });
    return clockView();
  });

  switchRoutes(app, behaviours);
  return app;
}

function switchRoutes(app: FastifyInstance, behaviours: AdminSettings["behaviours"]): void {
  app.get("/mutations", () =>
    MUTATIONS.map(({ apply: _apply, ...mutation }) => ({
      ...mutation,
      enabled: behaviours.mutations.includes(mutation.name),
    })),
  );
  app.put("/mutations", (request) => {
    behaviours.set({ mutations: new Fields(request.body, ["enabled"]).texts("enabled") ?? [] });
    return { enabled: behaviours.mutations };
  });
  app.get("/variants", () =>
    VARIANTS.map(({ apply: _apply, ...variant }) => ({
      ...variant,
      enabled: behaviours.variants.includes(variant.name),
    })),
  );
  app.put("/variants", (request) => {
    behaviours.set({ variants: new Fields(request.body, ["enabled"]).texts("enabled") ?? [] });
    return { enabled: behaviours.variants };
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function statusOf(error: unknown): number {
  const { statusCode } = error as { statusCode?: unknown };
  return typeof statusCode === "number" ? statusCode : 500;
}
