import { templates } from "create-pawl";

console.log(Object.keys(templates).join(" "));
