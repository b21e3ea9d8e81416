import { type Check, defineInvariant, type Response } from "../../src/checks/index.ts";
import { groupBy, member } from "../../src/core/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import { isTrue, type Verdict } from "../../src/judging/index.ts";
import { idsOf, requestedModel } from "../shared/model-ids.ts";

/** Replies of each mode before their names are compared. */
const LEAST = 3;
/** Models that reply with the name of another listed one before that is no alias any more. */
const NO_ALIASES = 3;

/** Events of a stream among which the first one with a name is: others may be pings. */
const FIRST_EVENTS = 4;

/** A reply and the model that it names. */
interface Named {
  readonly answer: Response;
  readonly requested: string;
  readonly named: string;
}

function replyModel(dialect: Dialect): Check {
  return defineInvariant({
    id: `compat.${dialect}-reply-model`,
    title: "A reply names the model that was requested",
    covers: ["COMPAT-REPLY-MODEL"],
    about: `compat.${dialect}`,
    dialect,
    explains:
      "Looks at the model names in all replies of this dialect. A dated name, the provider's own name and the target of an alias stand for the model that was requested. What does not: another name non-streaming than streaming, in all of several replies; the name of a listed model that itself replies with another one; and the names of other listed models for most of the models requested. Clients log, price and choose by this name.",
    judge(answers, verdict) {
      const replies = answers.filter(({ asked }) => asked.endpoint === dialect).flatMap(toNamed);
      if (replies.length === 0) return verdict.notApplicable("no reply names a model");
      const listed = new Set(
        answers.filter(({ asked, admitted }) => asked.endpoint === "models" && admitted).flatMap(idsOf),
      );
      const byModel = groupBy(replies, ({ requested }) => requested);
      const aliases: Named[] = [];
      for (const [requested, own] of byModel) {
        const apart = namedApart(own);
        if (apart !== undefined)
          verdict.compat("COMPAT-REPLY-MODEL", apart.named, isModel(requested), {
            in: apart.answer,
            because: `never this name in the ${apart.answer.streamed ? "non-streaming" : "streaming"} replies for ${requested}`,
          });
        const other = own.find(({ named }) => listed.has(requested) && listed.has(named) && !stands(named, requested));
        if (other !== undefined) aliases.push(other);
      }
      judgeAliases(aliases, byModel, verdict);
      if (verdict.findings.length === 0)
        verdict.compat("COMPAT-REPLY-MODEL", true, isTrue("the requested model, or one that stands for it"), {
          in: replies[0]?.answer,
        });
    },
  });
}

/** An alias names its target, which replies with its own name; and most models are none. */
function judgeAliases(
  aliases: readonly Named[],
  byModel: ReadonlyMap<string, readonly Named[]>,
  verdict: Verdict,
): void {
  const areMost = aliases.length >= NO_ALIASES && aliases.length * 2 > byModel.size;
  for (const { answer, requested, named } of aliases) {
    const target = byModel.get(named) ?? [];
    const isNoTarget = target.length > 0 && target.every((reply) => !stands(reply.named, named));
    if (areMost || isNoTarget)
      verdict.compat("COMPAT-REPLY-MODEL", named, isModel(requested), {
        in: answer,
        because: isNoTarget
          ? `${named} itself replies as ${target[0]?.named}`
          : `${aliases.length} of ${byModel.size} models reply with the name of another listed model`,
      });
  }
}

/** A reply of a mode whose replies never have a name of the other mode, which has the requested one. */
function namedApart(own: readonly Named[]): Named | undefined {
  const streams = own.filter(({ answer }) => answer.streamed);
  const documents = own.filter(({ answer }) => !answer.streamed);
  if (streams.length < LEAST || documents.length < LEAST) return undefined;
  const isRight = ({ named, requested }: Named) => stands(named, requested);
  for (const [mode, other] of [
    [documents, streams],
    [streams, documents],
  ] as const) {
    const names = new Set(other.map(({ named }) => named));
    if (other.every(isRight) && mode.every((reply) => !isRight(reply) && !names.has(reply.named))) return mode[0];
  }
  return undefined;
}

/** Whether a name says the requested model: with a date, a version or a provider's prefix, too. */
function stands(named: string, requested: string): boolean {
  const [a, b] = [named, requested].map((name) => (name.split("/").at(-1) ?? name).toLowerCase()) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}

const isModel = (requested: string) => ({
  description: `the model ${requested}, or a name that stands for it`,
  test: (named: string) => stands(named, requested),
});

function toNamed(answer: Response): Named[] {
  const requested = requestedModel(answer);
  if (!answer.admitted || requested === undefined) return [];
  const bodies = answer.streamed ? answer.stream.events.slice(0, FIRST_EVENTS).map(({ json }) => json) : [answer.json];
  const named = bodies
    .map((body) => member(body, "model") ?? member(member(body, "message"), "model"))
    .find((name) => name !== undefined);
  return typeof named === "string" && named !== "" ? [{ answer, requested, named }] : [];
}

export const REPLY_MODEL: readonly Check[] = [replyModel("chat"), replyModel("messages")];
