import { useQuery, type QueryKey, type UseQueryOptions } from '@tanstack/react-query'
import { keysQuery } from './keys.ts'
import { peopleQuery } from './people.ts'
import { locationKind, serviceKind, staffKind, statusKind } from './setup-objects.ts'
import { setupQuery } from './setup.ts'

/** The lengths of the lists of the settings that are loaded already. Requests nothing. */
export function useLoadedCounts(): Partial<Record<string, number>> {
  const setup = useLoaded(setupQuery)
  const counts = {
    locations: countActive(useLoaded(locationKind.listQuery) ?? setup?.locations),
    staff: countActive(useLoaded(staffKind.listQuery) ?? setup?.professionals),
    services: countActive(useLoaded(serviceKind.listQuery) ?? setup?.services),
    statuses: countActive(useLoaded(statusKind.listQuery) ?? setup?.statuses),
    people: useLoaded(peopleQuery)?.length,
    keys: useLoaded(keysQuery)?.length,
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined))
}

const useLoaded = <Data, Key extends QueryKey>(query: UseQueryOptions<Data, Error, Data, Key>) =>
  useQuery({ ...query, enabled: false }).data

const countActive = (items: { active: boolean }[] | undefined) =>
  items?.filter(({ active }) => active).length
