import { openTab } from "@pawl/driver-browser";
import { Client } from "@pawl/driver-browser/client";
import { Client as sameClient } from "@pawl/wire";

console.log(typeof openTab, typeof Client, Client === sameClient);
