import { findSession } from '../api/session.ts'

/** The role of the person may not open the page. */
export class NoRightError extends Error {}

/** `beforeLoad` of a route whose page needs a function. */
export const needs = (name: string) => async () => {
  const session = await findSession()
  if (session && !session.functions.some((one) => one === name)) throw new NoRightError()
}
