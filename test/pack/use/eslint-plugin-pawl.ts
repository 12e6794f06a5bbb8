import pawl from "eslint-plugin-pawl";

console.log(Object.keys(pawl.rules).length, pawl.configs.recommended.name);
