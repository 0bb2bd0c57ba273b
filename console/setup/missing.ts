import type { Setup } from '../api/setup.ts'

/** The parts of the setup that an appointment needs, in the order in which a user adds them. */
const PARTS = [
  { name: 'locations', path: '/settings/locations', of: (setup: Setup) => setup.locations },
  { name: 'staff', path: '/settings/staff', of: (setup: Setup) => setup.professionals },
  { name: 'services', path: '/settings/services', of: (setup: Setup) => setup.services },
] as const

/** The parts without which nothing can be booked. */
export const missingParts = (setup: Setup) => PARTS.filter(({ of }) => of(setup).length === 0)
