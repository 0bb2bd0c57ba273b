/** The threads of this folder: see `parser-thread.ts`. */
export const PARSERS = {
  thread: new URL('./parser-thread', import.meta.url),
  maxCpuSeconds: 3,
}
