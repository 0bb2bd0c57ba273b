import type { MailContext } from '../contract/mail-context.ts'
import type { Db } from '../database/database.ts'
import type { MessageFile } from '../email/message.ts'
import { findBusiness } from '../store/businesses.ts'
import { findFile, readContent } from '../store/files.ts'

/** The Content-ID of the logo in the layout; see `src/email/layout.ts`. */
const CONTENT_ID = 'logo'
const SOURCE = `src="cid:${CONTENT_ID}"`

/** The files of a message: those of its template, and the logo if its HTML shows it. */
export const withLogo = (
  files: MessageFile[] | null | undefined,
  html: string,
  logo: MailContext['business']['logo'] | undefined,
): MessageFile[] => [
  ...(files ?? []),
  ...(logo && html.includes(SOURCE) ? [{ ...logo, contentId: CONTENT_ID }] : []),
]

/** The HTML of a mail for a browser, with the logo as a data URL. */
export async function showLogo(db: Db, businessId: number, html: string): Promise<string> {
  if (!html.includes(SOURCE)) return html
  const logo = await readLogo(db, businessId)
  return logo === null ? html : html.replaceAll(SOURCE, `src="${logo}"`)
}

export async function readLogo(db: Db, businessId: number): Promise<string | null> {
  const file = await findLogo(db, businessId)
  const bytes = file && (await readContent(db, businessId, file.fileUUId))
  return bytes ? `data:${file.type};base64,${bytes.toString('base64')}` : null
}

export async function findLogo(
  db: Db,
  businessId: number,
): Promise<MailContext['business']['logo']> {
  const logo = (await findBusiness(db, businessId))?.logo
  const file = logo ? await findFile(db, businessId, logo) : undefined
  return file ? { fileUUId: file.fileUUId, name: file.name, type: file.type } : null
}
