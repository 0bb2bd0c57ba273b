import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ScheduleObject } from '../store/report-schedules.ts'

/** The link in a mail with a report by which its reader stops this mail, and nothing else. */

/** A recipient of a schedule: a person, or an address without a login. */
export type Recipient = { userId: number } | { address: string }

type Sealed = Pick<ScheduleObject, 'businessId' | 'reportScheduleId' | 'createdDate'>

export function stopLink(publicUrl: string, secret: string, schedule: Sealed, to: Recipient) {
  const name = nameOf(schedule, to, secret)
  return `${publicUrl.replace(/\/$/, '')}/report/stop/${name}.${sealOf(schedule, name, secret)}`
}

/** Reads the last part of a link; undefined if it is malformed. `findStopper` checks the seal. */
export function readStopToken(token: string) {
  const [, businessId, reportScheduleId, name, seal] =
    /^(\d{1,15})\.(\d{1,15})\.([ua][\w-]{1,22})\.([\w-]{22})$/.exec(token) ?? []
  if (!businessId || !reportScheduleId || !name || !seal) return undefined
  return { businessId: Number(businessId), reportScheduleId: Number(reportScheduleId) }
}

/** The recipient of the schedule to whom the link was mailed; undefined if the link is not genuine. */
export function findStopper(
  token: string,
  schedule: ScheduleObject,
  secret: string,
): Recipient | undefined {
  const at = token.lastIndexOf('.')
  const [name, seal] = [token.slice(0, at), token.slice(at + 1)]
  const expected = sealOf(schedule, name, secret)
  if (seal.length !== expected.length) return undefined
  if (!timingSafeEqual(Buffer.from(seal), Buffer.from(expected))) return undefined
  const recipients = [
    ...schedule.userIdList.map((userId) => ({ userId })),
    ...schedule.addressList.map((address) => ({ address })),
  ]
  return recipients.find((one) => nameOf(schedule, one, secret) === name)
}

/** An address is not in the link, because links are logged and shared. */
function nameOf({ businessId, reportScheduleId }: Sealed, to: Recipient, secret: string) {
  const recipient =
    'userId' in to ? `u${to.userId}` : `a${digestOf(`address ${to.address}`, secret)}`
  return `${businessId}.${reportScheduleId}.${recipient.slice(0, 23)}`
}

/** Covers the time of creation, because ids are assigned again after a backup is restored. */
const sealOf = ({ createdDate }: Sealed, name: string, secret: string) =>
  digestOf(`stopReport ${name} ${createdDate.epochMilliseconds}`, secret)

const digestOf = (text: string, secret: string) =>
  createHmac('sha256', secret).update(text).digest('base64url').slice(0, 22)
