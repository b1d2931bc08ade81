import { init } from "toolcall-parsers";

import { answer } from "./answer.js";

// Before the first request a worker has no random numbers and compiles nothing.
await init();

export default { fetch: async () => new Response(await answer()) };
