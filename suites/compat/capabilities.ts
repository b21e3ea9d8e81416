import type { Check, Response, Session } from "../../src/checks/index.ts";
import { type Dialect, imagePart, MODES } from "../../src/dialects/index.ts";
import { aReply, type Verdict } from "../../src/judging/index.ts";
import { schemaMisfit } from "../shared/judge/schema-misfit.ts";
import { noise } from "../shared/requests/images.ts";
import { STRUCTURED_PROMPT, STRUCTURED_SCHEMA, structuredFields } from "../shared/requests/structured-output.ts";
import { AMPLE_TOKENS } from "../shared/requests/texts.ts";
import { defineCompat } from "./define-compat.ts";

type Capability = "images" | "structured";

/** Pixels of an icon, and of a phone picture after a client has scaled it down. */
const SIDES = [64, 256];

/** The same model without and with the tested feature; nothing is sent if the target has no such model. */
async function sendWith(t: Session, role: Capability, fields: readonly Readonly<Record<string, unknown>>[]) {
  const dialect = t.dialect;
  if (!(await t.hasModel(role, dialect))) return { control: null, responses: [] };
  const request = { model: role, maxTokens: AMPLE_TOKENS } as const;
  const control = await t.send({ ...request, intent: "any" });
  const responses: Response[] = [];
  for (const own of fields) responses.push(await t.send({ ...request, fields: own, intent: "any" }));
  return { control, responses };
}

function assumeDeclared(verdict: Verdict, control: Response | null, role: Capability): void {
  if (control === null) verdict.notApplicable(`the target names no model for this dialect at models.${role}`);
  if (control.requested.mode === "streaming" && control.admitted && !control.streamed)
    verdict.notApplicable(`nothing was streamed (${control.summary})`);
  verdict.requireControl(control, "a plain request for the same model");
}

function images(dialect: Dialect): Check {
  return defineCompat(dialect, {
    id: `compat.${dialect}-images`,
    title: "A model with image support accepts images",
    covers: ["COMPAT-IMAGES"],
    explains:
      "Sends a 64 by 64 pixel image and a 256 by 256 one (12 kB and 197 kB), each with a question, in the dialect's format. A rejection breaks every client that sends images to this model. What the model says about them is not judged. Without `models.images` in the target file nothing is sent.",
    across: { mode: MODES },
    cost: { requests: 3 },
    run: (t) =>
      sendWith(
        t,
        "images",
        SIDES.map((side) => ({
          messages: [
            { role: "user", content: [{ type: "text", text: "What is this?" }, imagePart(t.dialect, noise(side))] },
          ],
        })),
      ),
    judge({ control, responses }, verdict) {
      assumeDeclared(verdict, control, "images");
      for (const [index, response] of responses.entries())
        verdict.compat("COMPAT-IMAGES", response.admitted, aReply, {
          in: response,
          because: `for an image of ${SIDES[index]} by ${SIDES[index]} pixels`,
        });
    },
  });
}

/** Finish reasons of a reply whose end is missing. */
const CUT = ["length", "max_tokens"];

function structured(dialect: Dialect): Check {
  return defineCompat(dialect, {
    id: `compat.${dialect}-structured`,
    title: "A structured output is JSON that matches the schema",
    covers: ["COMPAT-STRUCTURED"],
    explains:
      "Requests JSON for a schema with required fields, a number, an enumeration, an array and a nested object, in the dialect's format. The reply text must be one JSON value that matches this schema: programs parse it unseen. Without `models.structured` in the target file nothing is sent.",
    across: { mode: MODES },
    cost: { requests: 2 },
    run: (t) =>
      sendWith(t, "structured", [
        { ...structuredFields(t.dialect), messages: [{ role: "user", content: STRUCTURED_PROMPT }] },
      ]),
    judge({ control, responses }, verdict) {
      assumeDeclared(verdict, control, "structured");
      for (const response of responses) {
        const options = { in: response } as const;
        if (!verdict.compat("COMPAT-STRUCTURED", response.admitted, aReply, options)) continue;
        const ended = response.streamed ? response.stream.finishReasons.at(-1) : response.reply.finishReason;
        if (CUT.includes(String(ended))) verdict.inconclusive("the limit on output tokens cut the reply off");
        const expected = "JSON of the schema";
        verdict.compat(
          "COMPAT-STRUCTURED",
          schemaMisfit(response.replyText ?? "", STRUCTURED_SCHEMA) ?? expected,
          expected,
          options,
        );
      }
    },
  });
}

/** Depends on the model: only judged if the operator says that a model can do it. */
export const CAPABILITY_COMPAT: readonly Check[] = [
  images("chat"),
  images("messages"),
  structured("chat"),
  structured("messages"),
];
