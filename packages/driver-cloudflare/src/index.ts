/** `@pawl/driver-cloudflare`: one scope in one Durable Object. The class to extend is `@pawl/driver-cloudflare/scope`. */
export { OpenScope, type Peers, type ScopeOptions, openScope } from "./open.ts";
export { type Letter, type Peer } from "./carrier.ts";
export { type ObjectJournalOptions } from "./journal.ts";
export { type ObjectState, type ObjectStorage, type Sql, type SqlRows, type SqlValue } from "./object.ts";
