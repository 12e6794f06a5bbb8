import { openTab } from "@pawl/driver-browser";

console.log(typeof openTab);
