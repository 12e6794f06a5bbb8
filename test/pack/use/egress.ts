import { isRefusedAddress } from "@pawl/egress";
import { guardedFetch } from "@pawl/egress/node";

const refusal = await guardedFetch()("http://127.0.0.1:9/").catch((error: unknown) => String(error));
console.log(isRefusedAddress("169.254.169.254"), String(refusal).length > 0);
