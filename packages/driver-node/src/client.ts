/** `@pawl/driver-node/client`: the client of hosts, as Node programs import it. */
export * from "@pawl/wire";
