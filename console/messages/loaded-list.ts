import type { Message } from '../api/messages.ts'
import type { TimeFormat } from '../components/time.ts'

/** A line of the list: the place of a message, or the day of the messages below it. */
export type ListLine = { place: number } | { day: number }

type Page = { items: Message[] }

/** The messages that are loaded, and the lines that show them. */
export type LoadedList = {
  messages: Message[]
  lines: ListLine[]
  /** The line of each message. */
  lineOf: number[]
}

/**
 * Keeps the list of the loaded pages. A new page is added to the existing arrays: copying 100,000
 * messages for each page would block the browser.
 */
export function createListKeeper() {
  let list: LoadedList = { messages: [], lines: [], lineOf: [] }
  let known: Page[] = []
  let format: TimeFormat | undefined
  let lastDay: string | undefined
  const add = (message: Message) => {
    const day = format!.isoDay(message.scheduledTime)
    if (day !== lastDay) list.lines.push({ day: message.scheduledTime })
    lastDay = day
    list.lineOf.push(list.lines.length)
    list.lines.push({ place: list.messages.length })
    list.messages.push(message)
  }
  return (pages: Page[], newFormat: TimeFormat): LoadedList => {
    const isLonger = format === newFormat && known.every((page, i) => page === pages[i])
    if (!isLonger) {
      list = { messages: [], lines: [], lineOf: [] }
      known = []
      lastDay = undefined
    }
    format = newFormat
    for (const page of pages.slice(known.length)) page.items.forEach(add)
    known = pages
    return { ...list }
  }
}
