import type { Dialect } from "./dialect.ts";

/** A part or block with a base64 PNG, in the form of the dialect. */
export function imagePart(dialect: Dialect, data: string): Readonly<Record<string, unknown>> {
  return dialect === "chat"
    ? { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }
    : { type: "image", source: { type: "base64", media_type: "image/png", data } };
}
