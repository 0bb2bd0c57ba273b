import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../database/database.ts'
import { findRendered, renderHtml } from '../email/html-pool.ts'
import type { Unusable } from '../parser-pool.ts'
import type { RenderedHtml } from '../email/read-html.ts'
import {
  lockTemplatesWithVariants,
  type NamedTemplate,
  type StoredTemplate,
} from '../store/email-templates.ts'

/** A template with its HTML rendered for mails, or the reason why that failed. */
export type RenderedTemplate = StoredTemplate & { rendered: RenderedHtml | Unusable }

/** The templates of actions, by the id in the action: the template first, then its variants. */
export async function listTemplates(
  db: Db,
  actions: { businessId: number; emailTemplateId: number }[],
) {
  const rows = actions.length === 0 ? [] : await lockTemplatesWithVariants(db, actions)
  const rendering = new Rendering()
  await rendering.render(rows)
  return rendering.split(rows).templates
}

/** One template without its variants. */
export async function findTemplate(
  db: Db,
  key: { businessId: number; emailTemplateId: number },
): Promise<RenderedTemplate | undefined> {
  const rows = await lockTemplatesWithVariants(db, [key])
  const row = rows.find(({ emailTemplateId }) => emailTemplateId === key.emailTemplateId)
  return row && { ...row, rendered: await renderHtml(row.businessId, row.emailBody) }
}

/**
 * The rendered HTML of the templates of one batch. While a transaction holds locks it only uses
 * templates that are already rendered; the others are rendered after it.
 */
export class Rendering {
  readonly #rendered = new Map<string, RenderedHtml | Unusable>()

  /** Returns false if it takes longer than `maxWaitMs`; rendering then continues. */
  async render(rows: StoredTemplate[], maxWaitMs = Infinity): Promise<boolean> {
    const rendered = Promise.all(
      rows.map(async ({ businessId, emailBody }) => {
        this.#rendered.set(emailBody, await renderHtml(businessId, emailBody))
      }),
    ).then(() => true)
    if (maxWaitMs === Infinity) return rendered
    const timer = new AbortController()
    const timeLimit = sleep(maxWaitMs, false, { signal: timer.signal }).catch(() => false)
    return Promise.race([rendered, timeLimit]).finally(() => timer.abort())
  }

  /** The rendered templates by the id in the action, and the rows that are not rendered yet. */
  split(rows: NamedTemplate[]) {
    const unrendered = rows.filter((row) => !this.#find(row))
    const incomplete = new Set(unrendered.map(({ namedId }) => namedId))
    const templates = new Map<number, RenderedTemplate[]>()
    for (const row of rows) {
      if (incomplete.has(row.namedId)) continue
      const template = Object.assign(row, { rendered: this.#find(row)! })
      const others = templates.get(row.namedId) ?? []
      templates.set(
        row.namedId,
        row.emailTemplateId === row.namedId ? [template, ...others] : [...others, template],
      )
    }
    return { templates, unrendered }
  }

  #find({ emailBody }: StoredTemplate) {
    return this.#rendered.get(emailBody) ?? findRendered(emailBody)
  }
}
