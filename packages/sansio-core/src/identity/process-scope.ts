/** The scopes that processes live in. */

/** The scope that a process lives in, and the process of such a scope. */
export const processScope = (processId: string): string => `process:${processId}`;

/** Returns the id of the process that a scope is of. */
export const processOfScope = (scope: string): string => scope.slice(scope.indexOf(":") + 1);
