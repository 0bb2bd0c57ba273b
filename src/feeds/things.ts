/** What else than a client an appointment names: the field and kind here, and as a source names it. */
export const THINGS = [
  { field: 'professionalId', kind: 'professional', named: 'staff' },
  { field: 'reasonId', kind: 'reason', named: 'service' },
  { field: 'locationId', kind: 'location', named: 'location' },
] as const

export type Thing = (typeof THINGS)[number]
