import { type Check, defineInvariant, type Response, requestedModel } from "../../src/checks/index.ts";
import { groupBy, member } from "../../src/core/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import { isTrue, that, type Verdict } from "../../src/judging/index.ts";
import { idsOf } from "../shared/requests/model-ids.ts";

/** Model names are compared between the modes only if each mode has this many replies. */
const MIN_REPLIES = 3;
/** If this many models reply with the name of another listed model, they are not treated as aliases. */
const MIN_MISNAMED_MODELS = 3;

/** The model name is looked for in this many events of a stream: pings, or a chunk about the prompt, may precede the event that has it. */
const FIRST_EVENTS = 4;

/** A reply and the model that it names. */
interface NamedReply {
  readonly response: Response;
  readonly requested: string;
  readonly named: string;
}

function replyModel(dialect: Dialect): Check {
  return defineInvariant({
    id: `compat.${dialect}-reply-model`,
    title: "A reply names the requested model",
    covers: ["COMPAT-REPLY-MODEL"],
    about: `compat.${dialect}`,
    dialect,
    explains:
      "Compares the model names in all replies of this dialect with the requested models. A dated name, the provider's own name and the target of an alias are accepted. These are not: a name that only the streaming or only the non-streaming replies have, in at least three replies of each mode; the name of a listed model that itself replies with a different name; and the names of other listed models in the replies of most requested models. Clients use this name for logs, prices and routing.",
    judge(responses, verdict) {
      const replies = responses.filter(({ requested }) => requested.endpoint === dialect).flatMap(toNamedReply);
      if (replies.length === 0) return verdict.notApplicable("no reply names a model");
      const listed = new Set(
        responses.filter(({ requested, admitted }) => requested.endpoint === "models" && admitted).flatMap(idsOf),
      );
      const byModel = groupBy(replies, ({ requested }) => requested);
      const aliases: NamedReply[] = [];
      for (const [requested, own] of byModel) {
        const mismatch = findModeMismatch(own);
        if (mismatch !== undefined)
          verdict.compat("COMPAT-REPLY-MODEL", mismatch.named, isModel(requested), {
            in: mismatch.response,
            because: `no ${mismatch.response.streamed ? "non-streaming" : "streaming"} reply for ${requested} has this name`,
          });
        const other = own.find(
          ({ named }) => listed.has(requested) && listed.has(named) && !standsFor(named, requested),
        );
        if (other !== undefined) aliases.push(other);
      }
      judgeAliases(aliases, byModel, verdict);
      if (verdict.findings.length === 0)
        verdict.compat("COMPAT-REPLY-MODEL", true, isTrue("the requested model, or a name that stands for it"), {
          in: replies[0]?.response,
        });
    },
  });
}

/** An alias replies with the name of its target, which replies with its own name. Most models are not aliases. */
function judgeAliases(
  aliases: readonly NamedReply[],
  byModel: ReadonlyMap<string, readonly NamedReply[]>,
  verdict: Verdict,
): void {
  const areMost = aliases.length >= MIN_MISNAMED_MODELS && aliases.length * 2 > byModel.size;
  for (const { response, requested, named } of aliases) {
    const target = byModel.get(named) ?? [];
    const isNotTarget = target.length > 0 && target.every((reply) => !standsFor(reply.named, named));
    if (areMost || isNotTarget)
      verdict.compat("COMPAT-REPLY-MODEL", named, isModel(requested), {
        in: response,
        because: isNotTarget
          ? `${named} itself replies as ${target[0]?.named}`
          : `${aliases.length} of ${byModel.size} models reply with the name of another listed model`,
      });
  }
}

/** A reply in one mode that never names the requested model, if all replies in the other mode do. */
function findModeMismatch(own: readonly NamedReply[]): NamedReply | undefined {
  const streams = own.filter(({ response }) => response.streamed);
  const documents = own.filter(({ response }) => !response.streamed);
  if (streams.length < MIN_REPLIES || documents.length < MIN_REPLIES) return undefined;
  const isRight = ({ named, requested }: NamedReply) => standsFor(named, requested);
  for (const [mode, other] of [
    [documents, streams],
    [streams, documents],
  ] as const) {
    const names = new Set(other.map(({ named }) => named));
    if (other.every(isRight) && mode.every((reply) => !isRight(reply) && !names.has(reply.named))) return mode[0];
  }
  return undefined;
}

/** Whether a name refers to the requested model: a date, a version or a provider's prefix may be added. */
function standsFor(named: string, requested: string): boolean {
  const [a, b] = [named, requested].map((name) => (name.split("/").at(-1) ?? name).toLowerCase()) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}

const isModel = (requested: string) =>
  that<string>(`the model ${requested}, or a name that stands for it`, (named) => standsFor(named, requested));

function toNamedReply(response: Response): NamedReply[] {
  const requested = requestedModel(response);
  if (!response.admitted || requested === undefined) return [];
  const bodies = response.streamed
    ? response.stream.events.slice(0, FIRST_EVENTS).map(({ json }) => json)
    : [response.json];
  const named = bodies
    .map((body) => member(body, "model") ?? member(member(body, "message"), "model"))
    .find((name) => name !== undefined && name !== "");
  return typeof named === "string" ? [{ response, requested, named }] : [];
}

export const REPLY_MODEL: readonly Check[] = [replyModel("chat"), replyModel("messages")];
