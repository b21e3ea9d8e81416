import type { Dialect } from "./dialect.ts";

/** A part or block with a PNG, base64, as the dialect has it. */
export function imagePart(dialect: Dialect, data: string): Readonly<Record<string, unknown>> {
  return dialect === "chat"
    ? { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }
    : { type: "image", source: { type: "base64", media_type: "image/png", data } };
}
