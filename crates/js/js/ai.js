// The middleware for the Vercel AI SDK, over the module of the core.
import { Guard, guardRequest } from "toolcall-parsers/core";

import { middleware } from "./middleware.js";

export { guardRequest, init } from "toolcall-parsers/core";

export const guardMiddleware = middleware({ Guard, guardRequest });
