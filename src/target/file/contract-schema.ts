import * as z from "zod";
import { DENIALS } from "../../requirements/index.ts";
import { denialMessage } from "./denial-message.ts";
import { optional } from "./value-schemas.ts";

/** A non-empty text. */
export const text = z.string().min(1);

/** How a gateway expresses a denial differently. All entries are named in the headline of the verdict. */
const contractDenial = z.strictObject({
  status: optional(z.int().min(400).max(599), "The gateway's own status for this denial."),
  reason: optional(
    z.union([text, z.array(text).min(1)]),
    "The gateway's own word for the reason, or several: dialects may differ.",
  ),
  message: optional(
    z.union([denialMessage, z.array(denialMessage).min(1)]),
    "Text that the error body contains, or { pattern: … }, a regular expression that one of its texts matches, or a list of these. Without a reason, the message alone identifies the denial.",
  ),
});
/** How the gateway words its denials, if that differs from the specification. */
export const contract = z.strictObject({
  reasonFrom: optional(
    z.union([z.literal("header"), z.string().regex(/^\//, 'must be "header" or a JSON pointer such as /error/type')]),
    "Location of the reason: the header, or a JSON pointer into the error body.",
  ),
  actionHint: optional(z.boolean(), "false: the gateway sends no action hints."),
  denials: optional(
    z.partialRecord(z.enum(DENIALS.map(({ reason }) => reason)), contractDenial),
    "Denials that this gateway expresses differently, by the specification's reason.",
  ),
});
