import { createClient, type ClientOptions } from '../../src/client/client.ts'
import type { App } from '../../src/http/server/app.ts'

/** A client of the app, without a network. */
export const clientOf = (app: App, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: 'http://service.test', fetch: fetchFrom(app), ...options })

/** A `fetch` that calls the app directly. */
export const fetchFrom =
  (app: App): typeof fetch =>
  async (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const { body } = init
    const payload = body instanceof Blob ? Buffer.from(await body.arrayBuffer()) : body
    const answer = await app.inject({
      method: init.method as 'GET',
      url: pathname + search,
      headers: init.headers as Record<string, string>,
      ...(payload === undefined ? {} : { payload: payload as string }),
    })
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
    return new Response(new Uint8Array(answer.rawPayload), {
      status: answer.statusCode,
      headers: headers as [string, string][],
    })
  }
