// The package for `require`. The modules are the same as for `import`.
module.exports = require("../js/all/node.js");
