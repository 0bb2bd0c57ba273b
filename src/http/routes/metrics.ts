import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Histogram, register, Registry } from 'prom-client'
import { Type } from 'typebox'
import { engineMetrics } from './engine-metrics.ts'
import { feedMetrics } from './feed-metrics.ts'
import { nodeMetrics } from './node-metrics.ts'
import { routeOf } from '../server/problems.ts'
import { operation, type Routes } from '../server/services.ts'

const answered = new Histogram({
  name: 'bellwether_http_request_seconds',
  help: 'Duration of requests by method, route and status.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
})

export function measureRequests(app: FastifyInstance) {
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request
    const labels = { method, route: routeOf(request), status: reply.statusCode }
    answered.observe(labels, reply.elapsedTime / 1000)
  })
}

let collecting = false

export const metrics: Routes = async (app, services) => {
  if (!collecting) collectDefaultMetrics()
  collecting = true
  const all = Registry.merge([
    register,
    nodeMetrics(services),
    engineMetrics(services),
    feedMetrics(services),
  ])

  app.get(
    '/metrics',
    operation('getMetrics', 'Read the metrics for Prometheus', {
      config: { metrics: true, quiet: true },
      tags: ['Operation'],
      description: 'Needs the operator’s key or METRICS_TOKEN.',
      response: {
        200: {
          description: 'The Prometheus text format.',
          content: { 'text/plain': { schema: Type.String({ examples: ['# HELP …'] }) } },
        },
      },
    }),
    async (_request, reply) => reply.type(register.contentType).send(await all.metrics()),
  )
}
