/** The days of the demo: of its history, today, and what is booked ahead. */
export type Period = Record<'first' | 'today' | 'last', Temporal.PlainDate>
