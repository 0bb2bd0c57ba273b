import { Gauge, type Registry } from 'prom-client'

type NewGauge = { name: string; help: string; labelNames?: string[] }

/** A gauge that is read when Prometheus scrapes. It is absent while `collect` sets no value. */
export const addGauge = (
  registry: Registry,
  { name, help, labelNames = [] }: NewGauge,
  collect: (gauge: Gauge) => Promise<void> | void,
) =>
  registry.registerMetric(
    new Gauge({
      name: `bellwether_${name}`,
      help,
      labelNames,
      registers: [],
      async collect() {
        this.reset()
        // Without labels, a reset gauge is 0.
        if (labelNames.length === 0) this.remove()
        await collect(this)
      },
    }),
  )
