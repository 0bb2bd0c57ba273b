import type { Overview } from '../../src/contract/overview.ts'
import type { Session } from '../api/session.ts'

/** The steps from an empty business to the first reminder, and which are done. */
export function stepsOf({ setup, mail, triggersWaiting, lastDays }: Overview) {
  return {
    business: true,
    data: setup.appointments > 0,
    automation: setup.automations > 0,
    mail: !mail.captured,
    plan: triggersWaiting > 0 || lastDays.some(({ counts }) => Object.keys(counts).length > 0),
  }
}

/** A mail server can be configured later: without one, mails are captured. */
const isOver = (overview: Overview) => {
  const { data, automation, plan } = stepsOf(overview)
  return data && automation && plan
}

/** For users who may edit the setup, until the steps are done or skipped. */
export function isFirstVisit(overview: Overview, { functions, business }: Session) {
  const maySetUp = functions.includes('EDIT_SETUP') && functions.includes('EDIT_DEFINITIONS')
  return maySetUp && !isOver(overview) && localStorage.getItem(nameOf(business)) === null
}

export const skipFirstVisit = ({ business }: Session) =>
  localStorage.setItem(nameOf(business), 'skipped')

const nameOf = ({ businessId }: Session['business']) => `bellwether.first-visit.${businessId}`
