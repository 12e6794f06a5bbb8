/** Names of sub-agents: each is a process, under the scope of the turn that started it. */

const scopeName = (scope: string): string => scope.slice(scope.indexOf(":") + 1);

/** A session may be named with slashes: in the names of its sub-agents they are escaped, so that each has its own. */
const placeOf = (scope: string): string =>
  scope.startsWith("process:") ? scopeName(scope) : encodeURIComponent(scopeName(scope));

/** Names the sub-agent of a call: a body that runs again finds the one that it has started. */
export const subAgentId = (scope: string, request: string, call: string): string =>
  `${placeOf(scope)}/${encodeURIComponent(request)}/${encodeURIComponent(call)}`;

/** Begins the names of the scopes of all sub-agents below a scope, at any depth. */
export const subAgentsOf = (scope: string): string => `process:${placeOf(scope)}/`;
