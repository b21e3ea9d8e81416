export { type Advice, adviceLine, listAdvice, modelAdvice, suggestedModel } from "./advice.ts";
export { assertLoadConfiguration } from "./after-load.ts";
export { dialectAdvice } from "./dialect-advice.ts";
export { describeResponse, headerHint } from "./gateway-message.ts";
export { fillModels, loadTargetOf } from "./load-target-models.ts";
export { listedModels, listModels, modelsToTry, prepare, requestModelList, unreachable } from "./preflight.ts";
export { assertKeysAccepted } from "./wrong-key.ts";
