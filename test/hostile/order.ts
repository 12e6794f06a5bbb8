/** Orders for a host under attack. */
import type { Order } from "../../packages/driver-node/test/kill/order.ts";

export interface VictimOrder extends Pick<Order, "folder" | "instance" | "leaseMs"> {
  /** The most that its journal file may take. */
  readonly maxBytes?: number;
}
