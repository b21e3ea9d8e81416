import * as z from "zod";

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "must be a header name");

export const keyReference = z
  .string()
  .regex(
    /^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/,
    "must be env:NAME or file:PATH; never put the key itself in the file",
  )
  .meta({ description: "Reference to a key: env:NAME or file:PATH, never the key itself." });

/** An optional field, with its JSON Schema description. */
export function optional<T extends z.ZodType>(schema: T, description: string): z.ZodOptional<T> {
  return schema.optional().meta({ description });
}
