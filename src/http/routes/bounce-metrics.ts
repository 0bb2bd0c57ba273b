import { Counter } from 'prom-client'

const received = new Counter({
  name: 'bellwether_bounce_messages_total',
  help: 'Messages that arrived at BOUNCE_LISTEN on this node, by outcome.',
  labelNames: ['result'],
})

export const countBounceMessage = (result: string) => received.inc({ result })
