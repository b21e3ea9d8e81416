import { noncesIn } from "../../core/index.ts";
import type { Exchange } from "../../http/recorder/index.ts";

/** A key that is the same for requests that differ only in their unique texts and connections. */
export function variantOf({ request, key }: Pick<Exchange, "request" | "key">): string {
  const { method, url, headers, body = "" } = request;
  const text = noncesIn(body).reduce((all, nonce) => all.replaceAll(nonce, "…"), body);
  const named = headers.filter(([name]) => !/^(?:authorization|content-length)$/i.test(name));
  return JSON.stringify([method, url, key, named, text]);
}
