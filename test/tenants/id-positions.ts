import type { App } from '../../src/http/server/app.ts'
import type { Bodies, Ids } from './two-businesses.ts'

type Shape = {
  type?: string
  properties?: Record<string, Shape>
  items?: Shape
  anyOf?: Shape[]
  enum?: string[]
  examples?: unknown[]
}

type Operation = {
  parameters?: { name: string; in: string; schema: Shape }[]
  requestBody?: { content: Record<string, { schema: Shape; example?: unknown }> }
}

export type Request = {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  body: Record<string, unknown> | undefined
}

/** A parameter or body property that holds an id, and the request with a given id there. */
export type Position = {
  place: string
  /** The name of the parameter or property. */
  name: string
  requestWith(id: number | string): Request
}

export type Route = { name: string; plain: Request | undefined; positions: Position[] }

const IS_ID = /(^id|Id|UUID|UUId)(s|List)?$/

/**
 * Every route of the API description with every position of an id: in the path, in the query and at
 * any depth of the body. New routes are included automatically.
 */
export async function readRoutes(app: App, own: Ids, bodies: Bodies): Promise<Route[]> {
  const { paths } = (await app.inject('/openapi.json')).json() as {
    paths: Record<string, Record<string, Operation>>
  }
  // The stream does not end and takes no id; see test/http/changes.test.ts.
  const ending = Object.entries(paths).filter(([path]) => path !== '/changes')
  return ending.flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => ['get', 'post', 'delete'].includes(method))
      .flatMap(([method, operation]) => routesOf(method, path, operation, { own, bodies })),
  )
}

type Known = { own: Ids; bodies: Bodies }

function routesOf(method: string, path: string, operation: Operation, known: Known): Route[] {
  const parameters = operation.parameters ?? []
  const kinds = parameters.find(({ name }) => name === 'objectType' && path.includes(`{${name}}`))
  if (!kinds) return [routeOf(method, path, operation, known)]
  const types = kinds.schema.enum ?? OBJECT_TYPES
  return types.map((type) => routeOf(method, path.replace('{objectType}', type), operation, known))
}

const OBJECT_TYPES = ['CALENDAR', 'CLASS_SCHEDULE', 'INVITATION', 'RECALL', 'DISCLAIMER']

function routeOf(verb: string, path: string, operation: Operation, { own, bodies }: Known): Route {
  const method = verb.toUpperCase() as Request['method']
  const parameters = operation.parameters ?? []
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const content = operation.requestBody?.content['application/json']
  const ownId = `${path.split('/')[1]!}Id`
  const body =
    content &&
    ((bodies[path] as Record<string, unknown> | undefined) ??
      bodyOf(content.schema, content.example, own, ownId))

  const urlWith = (change: Record<string, number | string>) => {
    const filled = inPath.reduce(
      (url, name) =>
        url.replace(`{${name}}`, encodeURIComponent(change[name] ?? own[name] ?? 'OPEN')),
      path,
    )
    const query = new URLSearchParams()
    for (const { name, schema } of inQuery) {
      const value = change[name] ?? requiredValue(name, schema)
      if (value !== undefined) query.set(name, String(value))
    }
    return query.size > 0 ? `${filled}?${query}` : filled
  }

  const positions: Position[] = [...inPath, ...inQuery.map(({ name }) => name)]
    .filter((name) => IS_ID.test(name) || inPath.includes(name))
    .map((name) => ({
      place: inPath.includes(name) ? `{${name}}` : `?${name}`,
      name,
      requestWith: (id) => ({ method, url: urlWith({ [name]: id }), body }),
    }))
  for (const steps of content ? stepsToIds(content.schema) : []) {
    positions.push({
      place: `/${steps.join('/')}`,
      name: steps.findLast((step) => step !== '0')!,
      requestWith: (id) => ({ method, url: urlWith({}), body: put(body!, steps, id) }),
    })
  }
  const isOwn = inPath.every((name) => name in own)
  return {
    name: `${method} ${path}`,
    plain: isOwn ? { method, url: urlWith({}), body } : undefined,
    positions,
  }
}

/** A value for a required query parameter. */
function requiredValue(name: string, { enum: choices }: Shape) {
  if (/^(start|end)Date$/.test(name)) return '2026-03-02'
  return name === 'format' && choices?.includes('json') ? 'json' : undefined
}

/** The default body of a route: the example of the API description, with ids of the own business. */
function bodyOf(schema: Shape, example: unknown, own: Ids, ownId: string) {
  let body = structuredClone((example ?? schema.examples?.[0] ?? {}) as Record<string, unknown>)
  for (const steps of stepsToIds(schema)) {
    const name = steps.findLast((step) => step !== '0')!
    const id = own[name.replace(/List$/, '')]
    if (id !== undefined && has(body, steps)) body = put(body, steps, id)
  }
  // Without its id and externalId, each request creates a new object.
  delete body.externalId
  delete body[ownId === 'eventDefinitionId' ? 'eventDefnId' : ownId]
  return body
}

function stepsToIds(schema: Shape, steps: string[] = []): string[][] {
  if (steps.length > 6) return []
  if (schema.anyOf) return schema.anyOf.flatMap((choice) => stepsToIds(choice, steps))
  if (schema.type === 'array' && schema.items) return stepsToIds(schema.items, [...steps, '0'])
  if (schema.properties) {
    return Object.entries(schema.properties).flatMap(([name, inner]) =>
      stepsToIds(inner, [...steps, name]),
    )
  }
  const name = steps.findLast((step) => step !== '0')
  return name && IS_ID.test(name) && schema.type !== 'null' ? [steps] : []
}

function has(body: unknown, steps: string[]): boolean {
  const [step, ...rest] = steps
  if (step === undefined) return true
  if (typeof body !== 'object' || body === null || !(step in body)) return false
  return has((body as Record<string, unknown>)[step], rest)
}

function put<T>(body: T, steps: string[], id: number | string): T {
  const [step, ...rest] = steps
  if (step === undefined) return id as T
  const isList = step === '0'
  const copy = (
    isList ? (Array.isArray(body) ? [...body] : []) : { ...(body as object | null) }
  ) as Record<string, unknown>
  copy[step] = put(copy[step], rest, id)
  return copy as T
}
