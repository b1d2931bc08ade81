// The middleware for `require`. The modules are the same as for `import`.
module.exports = require("../js/ai.js");
