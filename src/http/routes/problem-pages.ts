import { Type } from 'typebox'
import { PROBLEMS, type ProblemCode } from '../../contract/problem-codes.ts'
import { notFound } from '../../errors.ts'
import texts from '../../texts/api/en.json' with { type: 'json' }
import { CONSOLE_POLICY } from './console.ts'
import { operation, type Routes } from '../server/services.ts'

const tags = ['Operation']
const config = { open: true, unlimited: true } as const
const helmet = { contentSecurityPolicy: CONSOLE_POLICY }
const html = {
  200: {
    description: 'An HTML page.',
    content: { 'text/html': { schema: Type.String() } },
  },
}

/** The pages behind the `type` of a problem. */
export const problemPages: Routes = async (app) => {
  app.get(
    '/problems',
    {
      ...operation('listProblems', 'List all kinds of problems', {
        config,
        tags,
        response: html,
      }),
      helmet,
    },
    async (_request, reply) => {
      const entries = Object.entries(PROBLEMS).map(
        ([code, { status, title }]) =>
          `<li><a href="/problems/${code}">${code}</a> (${status}): ${title}</li>`,
      )
      return reply
        .type('text/html; charset=utf-8')
        .send(page('Problems', `<ul>${entries.join('')}</ul>`))
    },
  )

  app.get(
    '/problems/:code',
    {
      ...operation('getProblem', 'Read what a kind of problem means and what to do', {
        config,
        tags,
        params: Type.Object({ code: Type.String() }),
        response: html,
      }),
      helmet,
    },
    async ({ params: { code } }, reply) => {
      if (!Object.hasOwn(PROBLEMS, code)) throw notFound('kind of problem', code)
      const { status, title } = PROBLEMS[code as ProblemCode]
      const { meaning, remedy } = texts.problems[code as ProblemCode]
      const text = `<p><code>${code}</code>, status ${status}</p>
<h2>What it means</h2><p>${toHtml(meaning)}</p>
<h2>What to do</h2><p>${toHtml(remedy)}</p>
<p><a href="/problems">All problems</a></p>`
      return reply.type('text/html; charset=utf-8').send(page(title, text))
    },
  )
}

/** Our own texts: the only markup in them is code. */
const toHtml = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const page = (title: string, text: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Bellwether</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}</style>
</head>
<body><main><h1>${title}</h1>${text}</main></body>
</html>
`
