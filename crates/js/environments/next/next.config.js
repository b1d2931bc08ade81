// The package is bundled into the server's code, as the packages of an application are.
export default {
  transpilePackages: ["toolcall-parsers"],
  turbopack: { root: new URL("..", import.meta.url).pathname },
};
