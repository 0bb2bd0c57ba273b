import type { FastifyReply, FastifyRequest } from 'fastify'

const isSecure = (publicUrl: string) => publicUrl.startsWith('https:')

/** With the prefix, browsers take the cookie from this host over HTTPS only, and from no other. */
const nameOf = (publicUrl: string) =>
  isSecure(publicUrl) ? '__Host-bellwether_session' : 'bellwether_session'

export function readSessionCookie(request: FastifyRequest, publicUrl: string) {
  const start = `${nameOf(publicUrl)}=`
  const cookie = request.headers.cookie?.split(';').find((one) => one.trim().startsWith(start))
  return cookie?.trim().slice(start.length) || undefined
}

export function setSessionCookie(
  reply: FastifyReply,
  publicUrl: string,
  { token, seconds }: { token: string; seconds: number },
) {
  const secure = isSecure(publicUrl) ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${nameOf(publicUrl)}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`,
  )
}

export const clearSessionCookie = (reply: FastifyReply, publicUrl: string) =>
  setSessionCookie(reply, publicUrl, { token: '', seconds: 0 })

/**
 * Whether a browser sends this change from another site's page. Browsers say so in one header or
 * both; where neither is there, no browser is asking, and nobody's cookie is being misused.
 */
export function isFromElsewhere(request: FastifyRequest, publicUrl: string) {
  if (['GET', 'HEAD', 'OPTIONS'].includes(request.method)) return false
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  const { origin } = request.headers
  if (origin === undefined) return false
  return origin !== new URL(publicUrl).origin && URL.parse(origin)?.host !== request.host
}
