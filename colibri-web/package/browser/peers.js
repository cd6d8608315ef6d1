// Those that the comparison page runs beside colibri: bundled by Vite, since React's scheduler is no module.

export * as react from "scheduler";
export * as mainThread from "main-thread-scheduling";
