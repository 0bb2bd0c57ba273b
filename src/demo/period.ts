/** The first day of the history, today, and the last day that is booked. */
export type Period = Record<'first' | 'today' | 'last', Temporal.PlainDate>
