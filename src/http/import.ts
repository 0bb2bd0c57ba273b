import { Type } from 'typebox'
import type { Caller } from '../auth/caller.ts'
import type { SecurityFunction } from '../auth/permissions.ts'
import { objectKind } from '../contract/objects.ts'
import { importLines, WINDOW } from '../scheduling/import.ts'
import { readNdjson } from '../scheduling/ndjson.ts'
import { readPieces } from './body.ts'
import { clientGone } from './client-gone.ts'
import { answerStreamOnce, ok } from './idempotency.ts'
import type { Routes } from './services.ts'

const MOST_LISTED = 1_000
/** Lines come in order window by window; within one, kind by kind. */
const MOST_KEPT = MOST_LISTED + WINDOW

const Query = Type.Object({
  events: Type.Optional(
    Type.Enum(['none'], {
      description:
        'Imports history: no `…_CREATED` and `…_CHANGED` fires; reminders that are still ahead are scheduled, past ones leave no row.',
    }),
  ),
})

const Answer = Type.Object(
  {
    accepted: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many lines of each kind were taken, changed or not.',
    }),
    refused: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }), {
      description: `The first ${MOST_LISTED}, in the order of their lines.`,
    }),
    refusedCount: Type.Integer(),
  },
  {
    examples: [
      {
        accepted: { client: 400, calendar: 12_400 },
        refused: [
          { line: 17, reason: '/clientExternalId: there is no client with the externalId 9' },
        ],
        refusedCount: 1,
      },
    ],
  },
)

const DESCRIPTION = `NDJSON of any length: one object on each line, as its POST takes it, with its
\`kind\` beside it. Good lines are kept whatever becomes of the others; the same file again changes
nothing where lines carry an \`externalId\`. What a line refers to stands before it, and may be named
by its own \`externalId\`: \`clientExternalId\` in the place of \`clientId\`.`

export const imports: Routes = async (app, { bodySeconds, clock, queues }) => {
  // Every content type is read as NDJSON, piece by piece.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) =>
    done(null, readPieces(payload, bodySeconds)),
  )

  app.post(
    '/import',
    {
      config: { scope: 'scheduling:write', streams: true, idempotent: true },
      schema: {
        tags: ['import'],
        summary: 'Import objects of any kind',
        description: DESCRIPTION,
        consumes: ['application/x-ndjson'],
        querystring: Query,
        response: { 200: Answer },
      },
    },
    async (request, reply) => {
      const { caller, query } = request
      const importBody = async (body: AsyncIterable<Buffer>) => {
        const refused: { line: number; reason: string }[] = []
        const imported = await importLines(caller.db, readNdjson(body), {
          businessId: caller.businessId,
          user: caller.user,
          now: () => clock.now(),
          sight: caller.scope,
          history: query.events === 'none',
          refusalOf: (kind) => refusalOf(caller, kind),
          onRefused: (line, reason) => {
            if (refused.length < MOST_KEPT) refused.push({ line, reason })
          },
        })
        const first = refused.toSorted((a, b) => a.line - b.line).slice(0, MOST_LISTED)
        return ok({ ...imported, refused: first })
      }
      return queues.imports.run(caller.businessId, clientGone(reply), () =>
        answerStreamOnce(caller.db, request, reply, clock, importBody),
      )
    },
  )
}

/** An import may hold what its sender may not write: those lines are refused, not the rest. */
function refusalOf({ functions }: Caller, kind: string) {
  const needed = functionFor(kind)
  return functions.has(needed) ? undefined : `You lack the function ${needed}.`
}

function functionFor(kind: string): SecurityFunction {
  if (kind === 'business') return 'MANAGE_BUSINESS'
  if (kind === 'eventDefinition') return 'EDIT_DEFINITIONS'
  if (kind === 'suppression') return 'SEND_EMAILS'
  if (kind.startsWith('email')) return 'EDIT_TEMPLATES'
  return kind === 'client' || objectKind(kind)?.objectType ? 'EDIT_SCHEDULE' : 'EDIT_SETUP'
}
