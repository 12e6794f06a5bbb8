/** `@pawl/driver-browser/client`: the client of hosts, as pages import it. */
export * from "@pawl/wire";
