/** How many messages are sent on each day and at each hour, and how many at a bad time. */
export type SendTimesResult = {
  byDay: { day: string; count: number }[]
  /** 24 counts, from midnight on. */
  byHour: number[]
  atNight: number
  withinAnHour: number
}

export type SendTime = {
  time: Temporal.Instant
  /** The time zone of days and hours: the location's, else the business's. */
  timeZone: string
  /** The time zone that decides whether it is night. */
  readerTimeZone: string
  /** Messages to the same reader can be too close together; null: the reader is not known. */
  reader: string | number | null
}

const HOUR_MS = 3_600_000
const NIGHT_STARTS = 21
const NIGHT_ENDS = 8

export class SendTimes {
  readonly #days = new Map<string, number>()
  readonly #hours = Array<number>(24).fill(0)
  readonly #timesOfReader = new Map<string | number, number[]>()
  #atNight = 0

  add({ time, timeZone, readerTimeZone, reader }: SendTime) {
    const local = time.toZonedDateTimeISO(timeZone)
    const day = local.toPlainDate().toString()
    this.#days.set(day, (this.#days.get(day) ?? 0) + 1)
    this.#hours[local.hour]! += 1
    const { hour } = readerTimeZone === timeZone ? local : time.toZonedDateTimeISO(readerTimeZone)
    if (isNight(hour)) this.#atNight += 1
    if (reader === null) return
    const times = this.#timesOfReader.get(reader)
    if (times) times.push(time.epochMilliseconds)
    else this.#timesOfReader.set(reader, [time.epochMilliseconds])
  }

  /** Warnings about the time of a message; complete when all were added. */
  warningsOf({ time, readerTimeZone, reader }: SendTime): string[] {
    const at = time.epochMilliseconds
    const others = reader === null ? [] : (this.#timesOfReader.get(reader) ?? [])
    // Another message at the same time counts like an earlier one.
    const isClose =
      others.some((other) => other < at && at - other < HOUR_MS) ||
      others.filter((other) => other === at).length > 1
    return [
      ...(isNight(time.toZonedDateTimeISO(readerTimeZone).hour) ? ['it is night'] : []),
      ...(isClose ? ['less than an hour after another one'] : []),
    ]
  }

  result(): SendTimesResult {
    const days = [...this.#days].map(([day, count]) => ({ day, count }))
    return {
      byDay: days.toSorted((a, b) => (a.day < b.day ? -1 : 1)),
      byHour: this.#hours,
      atNight: this.#atNight,
      withinAnHour: [...this.#timesOfReader.values()].reduce(
        (sum, times) => sum + countClose(times),
        0,
      ),
    }
  }
}

const isNight = (hour: number) => hour < NIGHT_ENDS || hour >= NIGHT_STARTS

/** How many messages follow another one in less than an hour. */
function countClose(times: number[]) {
  const inOrder = times.toSorted((a, b) => a - b)
  return inOrder.filter((time, i) => i > 0 && time - inOrder[i - 1]! < HOUR_MS).length
}
