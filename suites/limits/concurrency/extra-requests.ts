import type { LimitedAccount, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import { otherDialect } from "../../shared/other-dialect.ts";

/** Requests sent at the concurrency limit. */
export type Extra = { readonly kind: string; readonly responses: readonly Response[] };

/** One request of every kind that must share the same count. */
export async function extraKindsOf(t: Session, { key, second }: LimitedAccount): Promise<Record<string, RequestSpec>> {
  const endpoint = otherDialect(t);
  return {
    "plain requests": { key },
    streams: { key, mode: "streaming" },
    ...(endpoint !== undefined && {
      messages: { key, endpoint },
      "messages streams": { key, endpoint, mode: "streaming" as const },
    }),
    "short replies": { key, endpoint: endpoint ?? t.dialect, maxTokens: 8 },
    ...(second === undefined ? {} : { "other key": { key: second } }),
    ...((await t.hasModel("tools")) ? { "other model": { key, model: "tools" as const } } : {}),
    "unknown model": { key, model: "unknown" },
    "model list": { key, endpoint: "models" },
  };
}
