import { isObject } from "../../../core/index.ts";

type Edit = (value: unknown) => unknown;

/**
 * Makes a function that sets one nested member of a JSON value, on a copy.
 *
 * @param path names and array positions, separated by dots; a path that does not exist leaves the value unchanged.
 * @param change the new value, or a function of the old one.
 */
export function put(path: string, change: unknown): Edit {
  const names = path.split(".");
  return (value) => edit(value, names, (old) => (typeof change === "function" ? (change as Edit)(old) : change));
}

/** Makes a function that removes one member, on a copy. */
export function drop(path: string): Edit {
  const names = path.split(".");
  const last = names.at(-1) ?? "";
  return (value) =>
    edit(value, names.slice(0, -1), (parent) => {
      if (Array.isArray(parent)) return parent.filter((_item, index) => String(index) !== last);
      if (!isObject(parent)) return parent;
      const { [last]: _dropped, ...rest } = parent;
      return rest;
    });
}

/** Renames a member. */
export function rename(path: string, name: string): Edit {
  const names = path.split(".");
  const last = names.at(-1) ?? "";
  return (value) =>
    edit(value, names.slice(0, -1), (parent) => {
      if (!isObject(parent) || !(last in parent)) return parent;
      const { [last]: moved, ...rest } = parent;
      return { ...rest, [name]: moved };
    });
}

function edit(value: unknown, names: readonly string[], change: Edit): unknown {
  const [name, ...rest] = names;
  if (name === undefined) return change(value);
  if (Array.isArray(value)) {
    return value.map((item, index) => (name === "*" || String(index) === name ? edit(item, rest, change) : item));
  }
  if (!isObject(value) || (!(name in value) && rest.length > 0)) return value;
  return { ...value, [name]: edit(value[name], rest, change) };
}
