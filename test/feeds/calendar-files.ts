import fs from 'node:fs'
import path from 'node:path'
import { readCalendar, type CalendarFile } from '../../src/feeds/calendar/read.ts'

/** Files as calendars and booking tools write them. People, places and texts are made up. */
export const CALENDAR_FILES = path.join(import.meta.dirname, '../fixtures/calendars')

/** All calendar files of a folder, with their names. The decoder leaves the byte order mark to the reader. */
export const listCalendarFiles = (folder: string) =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ics$/i.test(name))
    .toSorted()
    .map((name) => ({
      name,
      text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(
        fs.readFileSync(path.join(folder, name)),
      ),
    }))

export const readEvents = (file: CalendarFile) => readCalendar(file).flatMap(({ events }) => events)
