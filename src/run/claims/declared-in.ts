import { isObject, member } from "../../core/index.ts";
import type { OptionalPart } from "../../requirements/index.ts";

/**
 * The optional parts that a target file declares, in alphabetical order.
 *
 * @param written its content, as the record of a run keeps it.
 */
export function declaredIn(written: unknown): OptionalPart[] {
  const at = (...path: readonly string[]): unknown => path.reduce<unknown>(member, written) ?? undefined;
  const dialects = at("dialects");
  const failover = at("upstream", "failover");
  const hasModel = (dialect: "chat" | "messages", role: string) => {
    const model = at("models", role);
    return isObject(model) ? (model[dialect] ?? undefined) !== undefined : model !== undefined;
  };
  const hasItems = (value: unknown) => isObject(value) && Object.values(value).some((item) => (item ?? null) !== null);
  const declares: Readonly<Record<OptionalPart, boolean>> = {
    "dialects.both": !Array.isArray(dialects) || (dialects.includes("chat") && dialects.includes("messages")),
    ledger: at("ledger") !== undefined,
    "ledger.prices": hasItems(at("ledger", "prices")),
    "models.chat.images": hasModel("chat", "images"),
    "models.chat.structured": hasModel("chat", "structured"),
    "models.messages.images": hasModel("messages", "images"),
    "models.messages.structured": hasModel("messages", "structured"),
    tiers: hasItems(at("tiers")),
    tokenLimits: at("tokenLimits") !== undefined,
    "upstream.attempts": at("upstream", "attempts") !== undefined,
    "upstream.failover": Array.isArray(failover) && failover.length > 1,
  };
  return (Object.keys(declares) as OptionalPart[]).filter((part) => declares[part]).sort();
}
