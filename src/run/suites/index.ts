export { dropUndeclaredSuites, undeclaredSuites } from "./drop-undeclared-suites.ts";
export { checksWith, isQuick } from "./own-suites.ts";
