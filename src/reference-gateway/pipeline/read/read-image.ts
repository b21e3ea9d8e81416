import { isObject, member } from "../../../core/index.ts";
import { InvalidRequest } from "./invalid-request.ts";

/** The part of an image in a turn that a simulated model reads. */
export interface Image {
  /** `image/png`; nothing if the image is given by URL. */
  readonly mediaType: string | undefined;
  readonly bodyBytes: number;
}

const MEDIA_TYPE = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The image of a part of the chat dialect: `{ type: "image_url", image_url: { url } }`. */
export function readChatImage(part: Record<string, unknown>, path: string): Image {
  const url = member(part["image_url"], "url");
  if (typeof url !== "string") throw new InvalidRequest(`${path}.image_url.url`, "an address is required.");
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  if (inline !== null) return inlineImage(inline[1], inline[2], `${path}.image_url.url`);
  return imageAt(url, `${path}.image_url.url`);
}

/** The image of a block of the messages dialect: `{ type: "image", source }`. */
export function readMessagesImage({ source }: Record<string, unknown>, path: string): Image {
  if (!isObject(source)) throw new InvalidRequest(`${path}.source`, "an object is required.");
  if (source["type"] === "url") return imageAt(source["url"], `${path}.source.url`);
  return inlineImage(source["media_type"], source["data"], `${path}.source`);
}

function inlineImage(mediaType: unknown, data: unknown, path: string): Image {
  if (typeof mediaType !== "string" || !MEDIA_TYPE.test(mediaType))
    throw new InvalidRequest(path, "an image of the type PNG, JPEG, GIF or WebP is expected.");
  if (typeof data !== "string" || !BASE64.test(data)) throw new InvalidRequest(path, "base64 data is expected.");
  return { mediaType, bodyBytes: Buffer.byteLength(data, "base64") };
}

function imageAt(url: unknown, path: string): Image {
  if (typeof url === "string" && /^https?:\/\//.test(url)) return { mediaType: undefined, bodyBytes: 0 };
  throw new InvalidRequest(path, "an address that begins with http:// or https:// is expected.");
}
