import { createHash, timingSafeEqual } from "node:crypto";
import { type FastifyInstance, fastify } from "fastify";
import * as z from "zod";
import { sinceStartMs } from "./play.ts";
import { isMarker } from "./request-log.ts";
import { disturbanceSchema, scenarioSchema, scriptSchema } from "./scenario.ts";
import type { UpstreamServer } from "./upstream-server.ts";

interface RequestsQuery {
  Querystring: { after?: string; marker?: string };
}

/** Received requests and upcoming responses: JSON over HTTP on loopback, every request with the control token as bearer. */
export function controlServer(upstream: UpstreamServer, token: string): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true });
  const expected = digest(`Bearer ${token}`);
  app.addHook("onRequest", async (request, reply) => {
    if (timingSafeEqual(digest(request.headers.authorization ?? ""), expected)) return;
    await reply.code(401).send({ error: "the control token is expected as bearer" });
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "unknown path" }));

  app.get<RequestsQuery>("/requests", (request, reply) => {
    const after = Number(request.query.after ?? 0);
    if (!Number.isInteger(after) || after < 0)
      return reply.code(400).send({ error: "after: expected the id of a request, a whole number" });
    const { marker } = request.query;
    return { count: upstream.log.count, nowMs: sinceStartMs(), requests: upstream.log.after(after, marker) };
  });
  app.delete("/requests", (_request, reply) => {
    upstream.log.clear();
    return reply.code(204).send();
  });

  app.put<{ Params: { marker: string } }>("/responses/:marker", (request, reply) => {
    const { marker } = request.params;
    const read = scriptSchema.safeParse(request.body);
    if (!isMarker(marker)) return reply.code(400).send({ error: `${marker}: expected a marker, gauntlet-marker-…` });
    if (!read.success) return reply.code(400).send({ error: z.prettifyError(read.error) });
    upstream.setScript(marker, read.data);
    return read.data;
  });
  app.get<{ Params: { marker: string } }>("/credentials/:marker", ({ params }) => ({
    credentials: upstream.log.credentialsOf(params.marker),
  }));

  app.put("/disturbance", (request, reply) => {
    const read = disturbanceSchema.safeParse(request.body);
    if (!read.success) return reply.code(400).send({ error: z.prettifyError(read.error) });
    upstream.disturb(read.data);
    return read.data;
  });
  app.delete("/disturbance", (_request, reply) => {
    upstream.disturb(undefined);
    return reply.code(204).send();
  });

  app.get("/usage", () => {
    const { user, system } = process.cpuUsage();
    return { cpuS: (user + system) / 1e6 };
  });
  app.get("/scenario", () => upstream.scenario);
  app.put("/scenario", (request, reply) => {
    const read = scenarioSchema.safeParse(request.body);
    if (!read.success) return reply.code(400).send({ error: z.prettifyError(read.error) });
    upstream.play(read.data);
    return read.data;
  });
  return app;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
