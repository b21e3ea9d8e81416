import type { Axes, DialectOfCheck, RequestSpec } from "../../../src/checks/index.ts";

/** The dialect of an instance whose case names a request: that of its endpoint. */
export function dialectOfCase(requests: Readonly<Record<string, RequestSpec>>): (axes: Axes) => DialectOfCheck {
  return ({ case: name = "" }) => {
    const endpoint = requests[name]?.endpoint ?? "models";
    return endpoint === "models" ? "any" : endpoint;
  };
}
