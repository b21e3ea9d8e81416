import { REQUIREMENTS, specificationPlaces } from "../../src/requirements/index.ts";

/** For each place of the specification, the requirements that cite it. */
export function requirementsByPlace(): string {
  const citing = new Map<string, string[]>();
  for (const requirement of REQUIREMENTS)
    for (const place of specificationPlaces(requirement))
      citing.set(place, [...(citing.get(place) ?? []), requirement.id]);
  const places = [...citing.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return [
    "| place | requirements |",
    "|---|---|",
    ...places.map((place) => `| [${place}](#${place}) | ${citing.get(place)?.join(", ")} |`),
  ].join("\n");
}
