/** `postgres://user@one:5432,two/base` names two servers: one URL for each. */
export function serverUrls(url: string): string[] {
  const [, before, hosts, after] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  if (hosts === undefined) return [url]
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** Where the URL points, for messages: no user and no password. */
export const serverNames = (url: string) =>
  serverUrls(url)
    .map((each) => URL.parse(each)?.host || 'DATABASE_URL')
    .join(', ')
