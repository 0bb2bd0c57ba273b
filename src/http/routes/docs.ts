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
  let page: string | undefined

  app.get('/docs', { config, schema, helmet }, async (_request, reply) => {
    page ??= renderPage(app.swagger())
    return reply.type('text/html; charset=utf-8').send(page)
  })
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

type Description = {
  info?: { title?: string; description?: string }
  paths?: Record<string, Record<string, { summary?: string; tags?: string[] }>>
}

/**
 * The page shows the introduction and every operation before any script runs: the 4 MB script of the
 * reference takes seconds on slow machines. It replaces the text once it is ready.
 */
function renderPage(document: object) {
  const { info = {}, paths = {} } = document as Description
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', tags = [] }]) => ({
      route: `${method.toUpperCase()} ${path}`,
      summary,
      tag: tags[0] ?? '',
    })),
  )
  const groups = [...Map.groupBy(operations, ({ tag }) => tag)].map(([tag, ofTag]) => {
    const rows = ofTag.map(
      ({ route, summary }) => `<dt><code>${escape(route)}</code></dt><dd>${escape(summary)}</dd>`,
    )
    return `<h2>${escape(tag)}</h2><dl>${rows.join('\n')}</dl>`
  })
  const paragraphs = (info.description ?? '').split('\n\n').map(renderParagraph)
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bellwether API</title>
    <link rel="icon" href="/console/bell.svg">
    <link rel="preload" href="/openapi.json" as="fetch" crossorigin>
    <style>
      #outline { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
      #outline h2::first-letter { text-transform: uppercase }
      #outline dd { margin: 0 0 .5rem }
      #outline pre { overflow-x: auto; padding: .5rem; background: #f4f4f5; color: #18181b }
    </style>
  </head>
  <body>
    <main id="outline">
      <h1>${escape(info.title ?? '')}</h1>
      ${paragraphs.join('\n')}
      <p><a href="/openapi.json">OpenAPI description</a>, <a href="/problems">errors</a></p>
      ${groups.join('\n')}
    </main>
    <div id="app"></div>
    <script src="/docs/start.js" defer></script>
  </body>
</html>
`
}

/** The introduction has headings, code blocks and paragraphs. */
function renderParagraph(text: string) {
  if (text.startsWith('## ')) return `<h2>${escape(text.slice(3))}</h2>`
  const [, code] = /^```\n(.*)\n```$/s.exec(text) ?? []
  if (code !== undefined) return `<pre>${escape(code)}</pre>`
  return `<p>${escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>`
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** Loads the reference after the first text is painted: parsing its script would delay the text. */
const START = `const script = document.createElement('script')
script.src = '/docs/scalar.js'
script.onload = () => Scalar.createApiReference('#app', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  defaultOpenAllTags: false,
  onLoaded: () => document.getElementById('outline')?.remove(),
  customCss: ':root { --scalar-font: system-ui, sans-serif; --scalar-font-code: ui-monospace, monospace }',
})
requestAnimationFrame(() => setTimeout(() => document.head.append(script)))
`
