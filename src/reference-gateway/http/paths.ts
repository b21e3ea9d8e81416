import type { Endpoint } from "../endpoint.ts";
import type { Purpose } from "../pipeline/behaviour.ts";

interface Route {
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly methods: readonly string[];
}

/** The whole interface. */
export const ROUTES: readonly Route[] = [
  { path: "/v1/chat/completions", endpoint: "chat", methods: ["POST"] },
  { path: "/v1/messages", endpoint: "messages", methods: ["POST"] },
  { path: "/v1/models", endpoint: "models", methods: ["GET", "HEAD"] },
];

/** What a method means on a path that exists. */
export function purposeOf(route: Route, method: string): Purpose {
  if (route.methods.includes(method)) return "serve";
  return method === "OPTIONS" ? "options" : "wrongMethod";
}

const BY_PATH: ReadonlyMap<string, Route> = new Map(ROUTES.map((route) => [route.path, route]));

/** @param url path and query as sent; one trailing slash of the path is ignored. */
export function routeAt(url: string): Route | undefined {
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  return BY_PATH.get(path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path);
}
