import type { Draft } from './draft.ts'
import { primaryLanguage } from './languages.ts'

/** For which services and which location a version of a mail is. */
export type VersionReach = Pick<Draft, 'reasonIdList' | 'level' | 'location'>

export const FOR_ALL: VersionReach = { reasonIdList: [], level: null, location: null }

/** The location that a version is for; null: all of them. */
export const locationOf = ({ level, location }: Pick<Draft, 'level' | 'location'>) =>
  level === 'LOCATION' ? location : null

/** Whether a version is only for some services, or for one location. */
export const isForSome = (version: VersionReach) =>
  version.reasonIdList.length > 0 || locationOf(version) !== null

const keyOf = (reach: VersionReach) =>
  JSON.stringify([reach.reasonIdList.toSorted((a, b) => a - b), locationOf(reach)])

/** The languages of the versions with this reach; a version without a language is in `own`. */
export function languagesFor(
  reach: VersionReach,
  versions: (VersionReach & Pick<Draft, 'language'>)[],
  own: string,
): ReadonlySet<string> {
  const same = versions.filter((version) => keyOf(version) === keyOf(reach))
  return new Set(same.map(({ language }) => (language ? primaryLanguage(language) : own)))
}
