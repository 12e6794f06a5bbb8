/** `@pawl/driver-node/client`: the client for hosts, for Node programs. */
export * from "@pawl/wire";
