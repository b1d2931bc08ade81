// The core for `require`. The modules are the same as for `import`.
module.exports = require("../js/core/node.js");
