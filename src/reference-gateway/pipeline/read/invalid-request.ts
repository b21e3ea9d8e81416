import { isObject } from "../../../core/index.ts";

/** An invalid field of a body. Only thrown by the readers of bodies, which turn it into a refusal. */
export class InvalidRequest extends Error {
  readonly param: string;

  constructor(param: string, expectation: string) {
    super(`${param}: ${expectation}`);
    this.param = param;
  }
}

type Body = Record<string, unknown>;

export function text(body: Body, name: string, path = name): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw new InvalidRequest(path, "a non-empty string is required.");
}

/** Absent and null are the same: clients send null for "not set". */
export function optionalFlag(body: Body, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value === "boolean") return value;
  throw new InvalidRequest(name, "true or false is expected.");
}

export function positiveInteger(body: Body, name: string): number {
  const value = body[name];
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number;
  throw new InvalidRequest(name, "a whole number of 1 or more is required.");
}

export function optionalPositiveInteger(body: Body, name: string): number | undefined {
  return body[name] === undefined || body[name] === null ? undefined : positiveInteger(body, name);
}

export function objects(body: Body, name: string, path = name): Body[] {
  const value = body[name];
  if (!Array.isArray(value)) throw new InvalidRequest(path, "an array is required.");
  return value.map((item, index) => {
    if (!isObject(item)) throw new InvalidRequest(`${path}[${index}]`, "an object is required.");
    return item;
  });
}

export function optionalObjects(body: Body, name: string): Body[] {
  return body[name] === undefined || body[name] === null ? [] : objects(body, name);
}
