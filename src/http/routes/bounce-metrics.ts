import { Counter } from 'prom-client'
import type { Received } from '../../automation/bounces.ts'

const received = new Counter({
  name: 'bellwether_bounce_messages_total',
  help: 'Messages that arrived at BOUNCE_LISTEN on this node, by outcome.',
  labelNames: ['result'],
})

const RESULTS = ['bounce', 'complaint', 'ignored', 'too early'] as const satisfies Received[]

for (const result of RESULTS) received.inc({ result }, 0)

export const countBounceMessage = (result: Received) => received.inc({ result })
