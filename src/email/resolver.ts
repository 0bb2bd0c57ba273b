import { Resolver } from 'node:dns/promises'

/** DNS look-ups through these servers, or through those of the machine. */
export function makeResolver(servers: string[]): Resolver {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  return resolver
}
