export { type LocalServer, startLocalServer } from "./local-server.ts";
export { type Watch, type Watched, watchLoad } from "./watch-load.ts";
export { checkWatched, type WatchOptions, watchedBy } from "./watch-options.ts";
