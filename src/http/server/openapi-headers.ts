type Operation = {
  operationId?: string
  security?: unknown[]
  parameters?: { in: string; name: string }[]
  responses?: Record<string, { headers?: Record<string, unknown> }>
}

const header = (description: string, example: string) => ({
  description,
  schema: { type: 'string', examples: [example] },
})

/** The headers of answers, for the components of the API description. */
export const ANSWER_HEADERS = {
  ETag: header('The version of the object, for `If-Match` and `If-None-Match`.', '"3f1c9a"'),
  Location: header('The path of the new object.', '/client/17'),
  Link: header(
    'If there are more: the path of the next page.',
    '</emails/client/17?limit=500&cursor=WyJxMnMi>; rel="next"',
  ),
  RateLimit: header('How many requests remain, and for how many seconds.', '"default";r=999;t=1'),
  'RateLimit-Policy': header('The rate limit of the credential.', '"default";q=1000;w=10'),
  'Retry-After': header('With 429 and 503: try again after so many seconds.', '2'),
  'X-Request-Id': header(
    'With an error: the id under which the log has this request.',
    '0b2f5c1e-8d7a-4c3b-9e6f-1a2b3c4d5e6f',
  ),
  'WWW-Authenticate': header('With 401: the scheme to use.', 'Bearer'),
  'Set-Cookie': header(
    'The session cookie.',
    'bellwether_session=…; Path=/; HttpOnly; SameSite=Lax',
  ),
  'Preference-Applied': header('The preference that was followed.', 'respond-async'),
  'Content-Disposition': header(
    'The name of the file.',
    'attachment; filename="appointment-list.pdf"',
  ),
}

type HeaderName = keyof typeof ANSWER_HEADERS

/** Adds to each answer the headers that it can have. */
export function addAnswerHeaders(operation: Operation) {
  for (const [status, answer] of Object.entries(operation.responses ?? {})) {
    const names = headersOf(operation, status)
    if (names.length === 0) continue
    const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
    answer.headers = Object.fromEntries(references)
  }
}

function headersOf(operation: Operation, status: string): HeaderName[] {
  const { operationId = '', security = [], parameters = [] } = operation
  const takes = (name: string) => parameters.some((one) => one.in === 'header' && one.name === name)
  const limited: HeaderName[] = security.length > 0 ? ['RateLimit', 'RateLimit-Policy'] : []
  if (status === '5XX') return ['Retry-After', 'X-Request-Id']
  if (status === '4XX') return ['Retry-After', 'X-Request-Id', 'WWW-Authenticate', ...limited]
  const isFile =
    /^(printReport|getReportRunFile|getFileContent)$/.test(operationId) && status === '200'
  return [
    ...(takes('If-Match') || takes('If-None-Match') ? (['ETag'] as const) : []),
    ...(status === '201' || status === '202' ? (['Location'] as const) : []),
    ...(status === '202' && operationId === 'printReport' ? (['Preference-Applied'] as const) : []),
    ...(operationId.startsWith('listEmailsOf') ? (['Link'] as const) : []),
    ...(/^sign(In|Out)$/.test(operationId) ? (['Set-Cookie'] as const) : []),
    ...(isFile ? (['Content-Disposition'] as const) : []),
    ...limited,
  ]
}
