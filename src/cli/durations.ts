export const secondsSince = (moment: Temporal.Instant | null, now: Temporal.Instant) =>
  moment ? (now.epochMilliseconds - moment.epochMilliseconds) / 1000 : 0

export function formatDuration(seconds: number) {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}
