import { defineConfig } from "vite";

// Vite discovers the entry points of workers only when they are loaded.
export default defineConfig({ optimizeDeps: { include: ["@pawl/driver-browser/worker"] } });
