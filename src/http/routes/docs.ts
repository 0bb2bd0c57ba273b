import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
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

  for (const [file, type] of Object.entries(FILES)) {
    let compressed: Promise<Buffer> | undefined
    app.get(`/docs/${file}`, { config, schema }, async (_request, reply) => {
      compressed ??= readCompressed(file)
      return reply
        .type(`${type}; charset=utf-8`)
        .header('content-encoding', 'gzip')
        .header('cache-control', 'public, max-age=86400')
        .send(await compressed)
    })
  }
}

/** The files of Swagger UI that the page loads. */
const FILES = { 'swagger-ui-bundle.js': 'text/javascript', 'swagger-ui.css': 'text/css' }

async function readCompressed(file: string) {
  const place = import.meta.resolve(`@fastify/swagger-ui/static/${file}`)
  return promisify(gzip)(await readFile(fileURLToPath(place)))
}

type Description = {
  info?: { title?: string; description?: string }
  paths?: Record<string, Record<string, { summary?: string; tags?: string[] }>>
}

/**
 * The page shows the introduction and every operation before any script runs: the script of the
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
const START = `const style = document.createElement('link')
style.rel = 'stylesheet'
style.href = '/docs/swagger-ui.css'
const script = document.createElement('script')
script.src = '/docs/swagger-ui-bundle.js'
script.onload = () => SwaggerUIBundle({
  domNode: document.getElementById('app'),
  url: '/openapi.json',
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  validatorUrl: null,
  requestSnippetsEnabled: true,
  onComplete: () => document.getElementById('outline')?.remove(),
})
requestAnimationFrame(() => setTimeout(() => document.head.append(style, script)))
`
