import { existsSync } from 'node:fs'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import { RequestError } from '../../errors.ts'
import type { Routes } from '../server/services.ts'

export const CONSOLE_FOLDER = join(import.meta.dirname, '../../../console')
const BUILT = join(CONSOLE_FOLDER, 'dist')

/** For our HTML pages: own scripts only, nothing from other hosts. Inline styles are allowed. */
export const CONSOLE_POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:', 'blob:'],
    fontSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    frameSrc: ["'self'"],
    objectSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
  },
}

export const consoleFiles: Routes = async (app, { consoleBuilt }) => {
  const config = { open: true, unlimited: true } as const
  const schema = { hide: true }
  const helmet = { contentSecurityPolicy: CONSOLE_POLICY }

  app.get('/', { config, schema }, async (_request, reply) => reply.redirect('/console/', 302))
  app.get('/console', { config, schema }, async (_request, reply) =>
    reply.redirect('/console/', 302),
  )

  // The first start builds the console while it listens.
  const files = { root: BUILT, serve: false, preCompressed: true, suppressWarning: true }
  await app.register(staticFiles, files)
  app.get('/console/*', { config, schema, helmet }, async (request, reply) => {
    await consoleBuilt
    const path = (request.params as { '*': string })['*']
    // The name of an asset contains a hash of its content.
    if (path.startsWith('assets/')) {
      return reply.sendFile(path, { maxAge: '365d', immutable: true })
    }
    if (/\.\w+$/.test(path)) return reply.sendFile(path)
    if (!existsSync(join(BUILT, 'index.html'))) {
      throw new RequestError(503, 'The console is not built. Run npm run build.')
    }
    // The console routes all other paths itself.
    return reply.header('cache-control', 'no-cache').sendFile('index.html', { cacheControl: false })
  })
}
