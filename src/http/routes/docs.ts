import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { fastify } from 'fastify'
import { CONSOLE_POLICY } from './console.ts'
import type { Routes } from '../server/services.ts'

/** The API reference as a web page. It loads nothing from other hosts, so it works offline. */
export const docs: Routes = async (app) => {
  const config = { open: true, unlimited: true } as const
  const schema = { hide: true }
  const helmet = { contentSecurityPolicy: CONSOLE_POLICY }

  app.get('/docs', { config, schema, helmet }, async (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(PAGE),
  )
  app.get('/docs/start.js', { config, schema }, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(START),
  )

  let bundle: Promise<Buffer> | undefined
  app.get('/docs/scalar.js', { config, schema }, async (_request, reply) => {
    bundle ??= readBundle()
    return reply
      .type('text/javascript; charset=utf-8')
      .header('content-encoding', 'gzip')
      .header('cache-control', 'public, max-age=86400')
      .send(await bundle)
  })
}

/** The plugin bundles a 4 MB script. It is loaded at the first request, through an app of its own. */
async function readBundle() {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const inner = fastify()
  await inner.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { rawPayload } = await inner.inject('/docs/js/scalar.js')
  await inner.close()
  return promisify(gzip)(rawPayload)
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bellwether API</title>
    <link rel="icon" href="/console/bell.svg">
  </head>
  <body>
    <div id="app"></div>
    <script src="/docs/scalar.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

const START = `Scalar.createApiReference('#app', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  defaultOpenAllTags: false,
  customCss: ':root { --scalar-font: system-ui, sans-serif; --scalar-font-code: ui-monospace, monospace }',
})
`
