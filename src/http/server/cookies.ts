import type { FastifyReply, FastifyRequest } from 'fastify'

const isSecure = (publicUrl: string) => publicUrl.startsWith('https:')

/** Browsers accept a cookie with the `__Host-` prefix only from this host and over HTTPS. */
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
 * Whether a page of another site sent this request. Browsers send `Sec-Fetch-Site`, `Origin` or both;
 * a request without them does not come from a browser, so it cannot misuse a cookie.
 */
export function isCrossSite(request: FastifyRequest, publicUrl: string) {
  if (['GET', 'HEAD', 'OPTIONS'].includes(request.method)) return false
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  const { origin } = request.headers
  if (origin === undefined) return false
  return origin !== new URL(publicUrl).origin && URL.parse(origin)?.host !== request.host
}
