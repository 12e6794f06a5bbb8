/** Orders for a host under attack. */
import type { Order } from "../../packages/driver-node/test/kill/order.ts";

export interface VictimOrder extends Pick<Order, "folder" | "instance" | "leaseMs"> {
  /** How far its clock is ahead of the machine's. */
  readonly aheadMs?: number;
  /** The most that its journal file may take. */
  readonly maxBytes?: number;
}
