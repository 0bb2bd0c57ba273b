import { isFull } from '../proofs/random.ts'

/** CPU time of this thread: other processes do not count. */
function cpuMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Four times the size takes four times as long in linear time, and sixteen times in quadratic time. */
const MAX_RATIO = 10
/** A busy machine can make one measurement too long. */
const MAX_ROUNDS = 3
/** Quadratic time would be far beyond it. Shorter times are too inexact for a ratio. */
const MIN_SUSPICIOUS_MS = 40

/** Times of the whole work and of a quarter, in CPU milliseconds, and whether they are linear. */
export async function measureGrowth(work: (size: number) => unknown) {
  const best = { small: Infinity, large: Infinity }
  const isLinear = () => best.large < MAX_RATIO * best.small
  for (let round = 0; round < MAX_ROUNDS && !isLinear(); round += 1) {
    best.large = Math.min(best.large, await measureCpuMs(() => work(1)))
    if (best.large < MIN_SUSPICIOUS_MS) return { ...best, isLinear: true }
    // As much work as the whole, because CPU time is counted in steps.
    const quarters = await measureCpuMs(async () => {
      for (let quarter = 0; quarter < 4; quarter += 1) await work(1 / 4)
    })
    best.small = Math.min(best.small, quarters / 4)
  }
  return { ...best, isLinear: isLinear() }
}

/** The CPU time of the work on this thread. */
export async function measureCpuMs(work: () => unknown) {
  const before = cpuMs()
  await work()
  return cpuMs() - before
}

const SEPARATORS = ['\r\n', ...'\n \t,;:"\'<>()[]{}=@\\/-.%&|?+']

/** Every character of ASCII, a few others, and every pair of separators. */
export const HOSTILE_UNITS = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...'\u00a0\u2028\ufeff\ufffdé😀',
  ...SEPARATORS.flatMap((one) => SEPARATORS.map((other) => one + other)),
]

/** `npm test` sends a third to each reader, and another third to the next; `npm run proof:durations` all. */
export const unitsFor = (reader: number) =>
  isFull ? HOSTILE_UNITS : HOSTILE_UNITS.filter((_, unit) => unit % 3 === reader % 3)

/** Returns the runs for which `read` takes more than linear time, with their times. */
export async function findSlowRuns(
  read: (text: string) => unknown,
  lengthFor: (unit: string) => number,
  units: string[],
) {
  const slow: string[] = []
  for (const unit of units) {
    const { small, large, isLinear } = await measureGrowth((size) =>
      read(runOf(unit, lengthFor(unit) * size)),
    )
    const took = `${small.toFixed(1)} ms, four times the length ${large.toFixed(1)} ms`
    if (!isLinear) slow.push(`${JSON.stringify(unit)}: ${took}`)
  }
  return slow
}

/** A letter before and after the run: many patterns are slow only if they do not match in the end. */
const runOf = (unit: string, length: number) => `x${unit.repeat(Math.ceil(length / unit.length))}x`
