import { randomUUID } from 'node:crypto'
import helmet from '@fastify/helmet'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { Credentials } from '../../auth/credentials.ts'
import type { Config } from '../../config.ts'
import { openSourceAccess } from '../../feeds/source-access.ts'
import { answers } from '../routes/answers.ts'
import { apiKeys } from '../routes/api-keys.ts'
import { audit } from '../routes/audit.ts'
import { authenticate } from './authenticate.ts'
import { businesses } from '../routes/businesses.ts'
import { MAX_BODY_BYTES, readJsonBodies } from './body.ts'
import { changes, hintAfterChanges } from '../routes/changes.ts'
import { manageConnections } from './connections.ts'
import { allowOrigins } from './cors.ts'
import { consoleFiles } from '../routes/console.ts'
import { tagAnswers } from './etag.ts'
import { docs } from '../routes/docs.ts'
import { emailTemplates } from '../routes/email-templates.ts'
import { bounces } from '../routes/bounces.ts'
import { emails } from '../routes/emails.ts'
import { eventActions } from '../routes/event-actions.ts'
import { eventDefinitions } from '../routes/event-definitions.ts'
import { eventTriggers } from '../routes/event-triggers.ts'
import { eventTypes } from '../routes/event-types.ts'
import { explain } from '../routes/explain.ts'
import { dataExport } from '../routes/export.ts'
import { feedEntries } from '../routes/feed-entries.ts'
import { feedHooks } from '../routes/feed-hooks.ts'
import { feedRuns } from '../routes/feed-runs.ts'
import { feeds } from '../routes/feeds.ts'
import { fileLibrary } from '../routes/file-library.ts'
import { forecasts } from '../routes/forecasts.ts'
import { health } from '../routes/health.ts'
import { imports } from '../routes/import.ts'
import { objects } from '../routes/objects.ts'
import { overview } from '../routes/overview.ts'
import { rememberRefusals } from './idempotency.ts'
import { measureRequests, metrics } from '../routes/metrics.ts'
import { describeRoutes, openapi } from './openapi.ts'
import { answerBrokenHttp, answerProblems, routeOf, sendProblem } from './problems.ts'
import { passwordLinks } from '../routes/password-links.ts'
import { privacy } from '../routes/privacy.ts'
import { problemPages } from '../routes/problem-pages.ts'
import { linkedFile, reportLinks } from '../routes/report-links.ts'
import { reportOptions } from '../routes/report-options.ts'
import { reportRows } from '../routes/report-rows.ts'
import { reportSchedules } from '../routes/report-schedules.ts'
import { reportTargets } from '../routes/report-targets.ts'
import { reportViews } from '../routes/report-views.ts'
import { reports } from '../routes/reports.ts'
import { restore } from '../routes/restore.ts'
import { serviceHealth } from '../routes/service-health.ts'
import { search } from '../routes/search.ts'
import { sessions } from '../routes/sessions.ts'
import { statuses } from '../routes/statuses.ts'
import { tagValues } from '../routes/tags.ts'
import { approvals } from '../routes/approvals.ts'
import { suppressions } from '../routes/suppressions.ts'
import { reportStops } from '../routes/report-stops.ts'
import { unsubscribe } from '../routes/unsubscribe.ts'
import { addToCalendar } from '../routes/add-to-calendar.ts'
import { users } from '../routes/users.ts'
import { mailRetry } from '../routes/mail-retry.ts'
import { senderDomains } from '../routes/sender-domains.ts'
import { seed } from '../routes/seed.ts'
import { refuseUnknownIds } from './query-ids.ts'
import { openQueues, type Routes, type Services } from './services.ts'
import { validateRequests } from './validate.ts'
import { serializeAnswers } from './serialize.ts'

/** Every route of the service: one file for each kind of object. */
const ROUTES: Routes[] = [
  eventDefinitions,
  eventTypes,
  forecasts,
  eventActions,
  eventTriggers,
  reports,
  reportLinks,
  linkedFile,
  reportSchedules,
  reportTargets,
  reportViews,
  reportRows,
  reportOptions,
  explain,
  overview,
  search,
  changes,
  emailTemplates,
  fileLibrary,
  emails,
  bounces,
  senderDomains,
  mailRetry,
  suppressions,
  approvals,
  unsubscribe,
  reportStops,
  addToCalendar,
  answers,
  objects, // the scheduling objects
  privacy,
  statuses,
  tagValues,
  imports,
  dataExport,
  feeds,
  feedEntries,
  feedHooks,
  feedRuns,

  businesses,
  seed,
  apiKeys,
  users,
  passwordLinks,
  sessions,
  audit,

  restore,
  serviceHealth,
  health,
  metrics,
  openapi,
  docs,
  problemPages,
  consoleFiles,
]

/** A node that only runs the engine still answers health checks and metrics. */
const WORKER_ROUTES: Routes[] = [health, metrics]

export async function buildApp(given: Omit<Services, 'credentials' | 'queues' | 'sourceAccess'>) {
  const { config, log } = given
  const services = {
    ...given,
    credentials: new Credentials({ ...given, ...config }),
    queues: openQueues(),
    sourceAccess: openSourceAccess(config),
  }
  const app = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies(config.trustProxy),
    bodyLimit: MAX_BODY_BYTES,
    // For connections without traffic: see connections.ts. Reading a body has its own limit.
    connectionTimeout: 120_000,
    keepAliveTimeout: 65_000,
    http: {
      // Detects a client that disappeared while its request waits in a queue.
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false, // Node would answer without a body; answerProblems says what is missing
    },
    routerOptions: { maxParamLength: 500 },
    rewriteUrl: ({ url = '/' }) => withoutTrailingSlash(url),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) =>
      void sendProblem(error, request, reply),
  }).withTypeProvider<TypeBoxTypeProvider>()

  await app.register(helmet, {
    ...SECURITY,
    // Over plain HTTP the header would make browsers refuse this host from then on.
    strictTransportSecurity: config.publicUrl.startsWith('https:') && {
      maxAge: HSTS_SECONDS,
      includeSubDomains: config.hstsSubdomains,
    },
  })
  allowOrigins(app, config.corsOrigins)
  forbidCaching(app)
  answerProblems(app)
  manageConnections(app)
  validateRequests(app)
  readJsonBodies(app, services)
  serializeAnswers(app, { checked: services.checkAnswers ?? false })
  tagAnswers(app)
  rememberRefusals(app, services)
  logRequests(app)
  measureRequests(app)
  authenticate(app, services)
  refuseUnknownIds(app)
  hintAfterChanges(app)
  await describeRoutes(app)
  const routesHere = config.role === 'worker' ? WORKER_ROUTES : ROUTES
  for (const routes of routesHere) await app.register(routes, services)
  return app
}

export type App = Awaited<ReturnType<typeof buildApp>>

/** `/client/` is `/client`. The console routes its own pages. */
function withoutTrailingSlash(url: string) {
  const end = url.indexOf('?')
  const length = end === -1 ? url.length : end
  const hasSlash = length > 1 && url[length - 1] === '/' && url[length - 2] !== '/'
  if (!hasSlash || url.startsWith('/console/')) return url
  return url.slice(0, length - 1) + url.slice(length)
}

const trustedProxies = (trusted: Config['trustProxy']) =>
  typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : trusted

const HSTS_SECONDS = 365 * 24 * 3_600

/** For JSON answers. Routes that serve HTML set their own policy. */
const SECURITY = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginEmbedderPolicy: false,
  referrerPolicy: { policy: 'no-referrer' },
} as const

/** Answers may hold personal data. Public files set their own `Cache-Control`. */
function forbidCaching(app: FastifyInstance) {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config?.unlimited) reply.header('cache-control', 'no-store')
  })
}

/** Logs the route pattern, never the URL: that may hold a name. */
function logRequests(app: FastifyInstance) {
  app.addHook('onResponse', async (request, reply) => {
    const { config } = request.routeOptions
    request.log[config?.quiet ? 'debug' : 'info'](
      {
        method: request.method,
        route: routeOf(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        businessId: request.caller?.businessId,
        // For tools such as fail2ban: the address that TRUST_PROXY lets through.
        clientIp: request.ip,
      },
      'request completed',
    )
  })
}
