import { createServer, Packet } from 'dns2'
import type { TestContext } from 'node:test'

/** By name and type: texts of TXT records, addresses of A records, hosts of MX records. */
export type Zone = Record<string, { TXT?: string[]; A?: string[]; MX?: string[] }>

/** A name server on loopback that answers from a zone, which the test may change. */
export async function startNameServer(t: Pick<TestContext, 'after'>, zone: Zone = {}) {
  let isDown = false
  const server = createServer({
    udp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request)
      const [question] = request.questions
      const name = question!.name.toLowerCase()
      if (isDown) response.header.rcode = SERVFAIL
      else if (!zone[name]) response.header.rcode = NXDOMAIN
      else
        for (const answer of answersOf(zone, name, question!.type!))
          response.answers.push(answer as Answer)
      send(response)
    },
  })
  const { udp } = await server.listen({ udp: { port: 0, address: '127.0.0.1' } })
  t.after(() => server.close())
  return {
    zone,
    server: `127.0.0.1:${(udp as { port: number }).port}`,
    fail: (fails: boolean) => (isDown = fails),
  }
}

/** The type requires all methods, although `Packet` completes partial answers. */
type Answer = Packet['answers'][number]

const SERVFAIL = 2
const NXDOMAIN = 3

function answersOf(zone: Zone, name: string, type: number) {
  const { TXT = [], A = [], MX = [] } = zone[name]!
  const common = { name, class: Packet.CLASS.IN, ttl: 60 }
  if (type === Packet.TYPE.TXT) {
    return TXT.map((text) => ({ ...common, type, data: text.match(/.{1,255}/g) ?? [''] }))
  }
  if (type === Packet.TYPE.A) return A.map((address) => ({ ...common, type, address }))
  if (type === Packet.TYPE.MX) {
    return MX.map((exchange) => ({ ...common, type, exchange, priority: 10 }))
  }
  return []
}
