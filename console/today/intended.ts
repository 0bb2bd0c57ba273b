import type { Automation } from '../api/automations.ts'

const KEY = 'bellwether.intended'

type Versions = Record<number, number>

const read = (): Versions => JSON.parse(localStorage.getItem(KEY) ?? '{}') as Versions

/** Whether the user said that this version of the automation rightly matches nothing. */
export const isIntended = ({ eventDefnId, version }: Automation) => read()[eventDefnId] === version

/** Holds until the automation is changed. */
export const setIntended = ({ eventDefnId, version }: Automation) =>
  localStorage.setItem(KEY, JSON.stringify({ ...read(), [eventDefnId]: version }))
