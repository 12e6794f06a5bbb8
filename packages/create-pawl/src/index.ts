/** Makes new projects on pawl. */
export { CannotCreate, type Template, createProject, templates } from "./project.ts";
